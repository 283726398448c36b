# Kernels for graphics cards (docs/gpu.md): every src/engine/<room>/.../card_<name>.cu becomes PTX
# inside the library, in double precision.
#
# Any clang with the target nvptx64 makes it, without software of NVIDIA. Without one the library is
# built all the same, and says so when a card is asked for (card/card.h). No contraction into fused
# operations, as on the CPU (cmake/Flags.cmake); tests/card/test_card_ptx.py looks for them.
option(TALUS_CARD "Build kernels for NVIDIA cards into the library, if there is a clang for them" ON)
file(GLOB_RECURSE TALUS_CARD_SOURCES CONFIGURE_DEPENDS src/engine/card_*.cu)

set(TALUS_CARD_MODULES "") # the names of all modules
set(TALUS_CARD_PTX "")     # their files
set(TALUS_CARD_COMPILER "")
if(TALUS_CARD)
  find_program(TALUS_CARD_CLANG
    NAMES clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang)
  if(TALUS_CARD_CLANG)
    execute_process(COMMAND ${TALUS_CARD_CLANG} --print-targets
      OUTPUT_VARIABLE targets ERROR_QUIET)
    if(targets MATCHES "nvptx64")
      set(TALUS_CARD_COMPILER ${TALUS_CARD_CLANG})
    endif()
  endif()
  if(TALUS_CARD_COMPILER)
    message(STATUS "Kernels for graphics cards: ${TALUS_CARD_COMPILER}")
  else()
    message(STATUS "Kernels for graphics cards: none, since there is no clang that makes them "
      "(scripts/install-deps.sh gpu installs one)")
  endif()
endif()

# sm_70 is the first that promises progress to a block while another waits for it.
set(TALUS_CARD_FLAGS
  -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70
  -std=c++20 -O3 -ffp-contract=off -fno-math-errno
  -Wall -Wextra -Wno-unused-function -Wno-unused-parameter -Wno-c++11-narrowing
  -Wno-deprecated-anon-enum-enum-conversion -Wno-unknown-cuda-version)
if(TALUS_WERROR)
  list(APPEND TALUS_CARD_FLAGS -Werror)
endif()

# Unrolled, the many short loops of all laws are more than NVIDIA's compiler can take: ptxas of CUDA
# 13, and the driver with it, ends with a segmentation fault (docs/decisions.md, "Graphics cards").
set(TALUS_CARD_FLAGS_card_laws_2d -fno-unroll-loops)
set(TALUS_CARD_FLAGS_card_laws_3d -fno-unroll-loops)

function(talus_add_card_module source name)
  set(ptx ${PROJECT_BINARY_DIR}/card/${name}.ptx)
  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${TALUS_CARD_COMPILER} ${TALUS_CARD_FLAGS} ${TALUS_CARD_FLAGS_${name}} -D_GNU_SOURCE
      -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src/engine
      -MD -MF ${ptx}.d -MT ${ptx} -S ${source} -o ${ptx}
    DEPENDS ${source}
    DEPFILE ${ptx}.d
    COMMENT "Building kernels ${name}"
    VERBATIM)
  set(TALUS_CARD_MODULES ${TALUS_CARD_MODULES} ${name} PARENT_SCOPE)
  set(TALUS_CARD_PTX ${TALUS_CARD_PTX} ${ptx} PARENT_SCOPE)
endfunction()

if(TALUS_CARD_COMPILER)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/card)
  foreach(source ${TALUS_CARD_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    if(name IN_LIST TALUS_CARD_MODULES)
      message(FATAL_ERROR "two sources of kernels are called ${name}.cu")
    endif()
    talus_add_card_module(${source} ${name})
  endforeach()
  # The list that src/engine/card/modules.c includes.
  set(rows "")
  foreach(name ptx IN ZIP_LISTS TALUS_CARD_MODULES TALUS_CARD_PTX)
    string(APPEND rows "MODULE(${name}, \"${ptx}\")\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/card/modules.inc CONTENT "${rows}")
  set_source_files_properties(src/engine/card/modules.c PROPERTIES
    COMPILE_DEFINITIONS TALUS_CARD_MODULES="${PROJECT_BINARY_DIR}/card/modules.inc"
    OBJECT_DEPENDS "${TALUS_CARD_PTX}")
endif()
