# The test suite, in folders that mirror the rooms: tests/*/test_*.c (cmocka), test_*.py (Debian's
# Python), test_*.sh (bash), and the published experiments of papers/ in their short versions
# (paper_*).
#
# `make test` leaves out the tests with the label `long`; `make test-all` runs all of them. With
# BUILD_TESTING=OFF and TALUS_PROGRAM_TESTS=ON only those are there that call the program, so that
# the program that gets installed, without asserts, is tested itself.
#
# Every test sees TALUS (the program), TALUS_SOURCE, TALUS_BUILD, CC, TALUS_CFLAGS (flags a
# program needs to be linked with this build's library) and TALUS_FAKE_CUDA (folder of a driver for
# cards that are not there; first in LD_LIBRARY_PATH for tests/*/test_card*), and has 600 s.
# Tests that use several threads; the ThreadSanitizer run of .ci/run takes only these.
set(TALUS_THREADED_TESTS
  test_threads test_threads_long test_parallel test_contacts test_detect test_detect_solids
  test_physics_worlds test_soft_integrators)

# Tests that `make test` leaves out (seconds of one core on the machine of docs/benchmarks.md):
# what they run, others run too, for a shorter time or on fewer cases.
set(TALUS_LONG_TESTS
  test_first_hour         # 90: every command of README and first run, in a fresh clone
  test_soft_promise       # 60: every scene with the method soft, for a while
  test_scene_physics      # 35: whole scenes against formulas
  test_resume_scenes      # 32: every scene broken off and resumed
  test_threads_long       # 20: a thousand steps
  test_record_kill        # 25: a hundred kills
  test_convex_rest        # 22
  test_soft_walls         # 21
  test_physics_solid_tower # 19
  test_law_block          # 17
  test_convex_3d          # 16
  test_resume_soft        # 13
  test_physics_solid_impact # 10
  test_physics_solid_walls) # 10

# Tests of which one program tells as much as the other: `make test-release` leaves them out, and the
# published experiments.
set(TALUS_ONCE_TESTS
  test_viewer_tools       # 56: the page
  test_viewer             # 38: likewise
  test_resume             # 43: files
  test_card_ptx)          # 12: kernels, which have no asserts

# Tests that take long begin first, so that none of them is left over at the end.
set(TALUS_FIRST_TESTS
  ${TALUS_LONG_TESTS} test_threads test_scenes test_hashes test_resume test_viewer test_run_program
  test_view_server test_schema test_detect)

# TALUS_PYTHON_EXECUTABLE (cmake/Python.cmake) is Debian's interpreter by its full path: a pyenv or
# conda first on PATH lacks Debian's vtk and h5py.

list(JOIN TALUS_SANITIZE_FLAGS " " sanitize_flags)
set(TALUS_TEST_ENVIRONMENT
  TALUS=${PROJECT_BINARY_DIR}/talus
  TALUS_SOURCE=${PROJECT_SOURCE_DIR}
  TALUS_BUILD=${PROJECT_BINARY_DIR}
  CC=${CMAKE_C_COMPILER}
  PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support # modules that tests share
  "TALUS_CFLAGS=${sanitize_flags}"
  OMP_WAIT_POLICY=passive # tests share the cores; a thread that spins would steal from another
  ${TALUS_SANITIZE_ENVIRONMENT})

function(talus_add_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT 600
    ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")
  if(name IN_LIST TALUS_FIRST_TESTS)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
  if(name IN_LIST TALUS_THREADED_TESTS)
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
  endif()
  if(name IN_LIST TALUS_LONG_TESTS)
    set_property(TEST ${name} APPEND PROPERTY LABELS long)
  endif()
  if(name IN_LIST TALUS_ONCE_TESTS)
    set_property(TEST ${name} APPEND PROPERTY LABELS once)
  endif()
  if(name MATCHES "^test_card" AND TALUS_FAKE_CUDA) # these never see a real driver
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${TALUS_FAKE_CUDA})
  endif()
endfunction()

# Fail at configuration when the interpreter lacks a module that the test imports.
function(talus_check_python_modules source)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} imports REGEX "^[ \t]*(import|from)[ \t]+(numpy|h5py|vtk|jsonschema|yaml)")
  foreach(module numpy h5py vtk jsonschema yaml)
    if(NOT imports MATCHES "(import|from)[ \t]+${module}" OR TALUS_PYTHON_HAS_${module})
      continue()
    endif()
    execute_process(
      COMMAND ${TALUS_PYTHON_EXECUTABLE} -c "import ${module}"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(FATAL_ERROR
        "${TALUS_PYTHON_EXECUTABLE} cannot import ${module}, which ${source} needs.\n"
        "Run scripts/install-deps.sh test, or configure with -DBUILD_TESTING=OFF.")
    endif()
    set(TALUS_PYTHON_HAS_${module} ON CACHE INTERNAL "")
  endforeach()
endfunction()

if(BUILD_TESTING)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

  # The library with its internals, for the tests: linked once instead of into every one of them.
  add_library(talus_open SHARED
    $<TARGET_OBJECTS:talus_engine_objects> $<TARGET_OBJECTS:talus_workshop_objects>)
  target_link_libraries(talus_open PUBLIC talus_workshop_needs)
  target_include_directories(talus_open PUBLIC include src/engine src/workshop)
  target_compile_definitions(talus_open PUBLIC _GNU_SOURCE)
  set_target_properties(talus_open PROPERTIES LINKER_LANGUAGE C)

  # A driver for graphics cards that are not there (tests/support/fake_cuda.c): libcuda.so.1, and the
  # kernels compiled for this machine, each source as a library of its own. What a thread has not
  # set is not zero by chance.
  # Options of a source come after those of its target: kernels need not call all of a header.
  set_source_files_properties(${TALUS_CARD_SOURCES} PROPERTIES LANGUAGE C
    COMPILE_OPTIONS -Wno-unused-function)
  set(fake_modules "")
  foreach(source ${TALUS_CARD_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_library(emulated_${name} SHARED ${source})
    target_compile_options(emulated_${name} PRIVATE -x c -fvisibility=hidden
      -ftrivial-auto-var-init=pattern $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_compile_definitions(emulated_${name} PRIVATE _GNU_SOURCE CARD_EMULATED)
    target_include_directories(emulated_${name} PRIVATE include src/engine)
    # Laws that the kernels call, which a card has among its own functions, are the library's here.
    target_link_libraries(emulated_${name} PRIVATE talus_flags talus_open m)
    if(NOT TALUS_SANITIZE)
      target_link_options(emulated_${name} PRIVATE -Wl,--no-undefined)
    endif()
    list(APPEND fake_modules ${name}=$<TARGET_FILE:emulated_${name}>)
    list(APPEND fake_module_targets emulated_${name})
  endforeach()
  list(JOIN fake_modules "|" fake_modules)
  set(TALUS_FAKE_CUDA ${PROJECT_BINARY_DIR}/fake_cuda)
  add_library(fake_cuda SHARED tests/support/fake_cuda.c)
  set_target_properties(fake_cuda PROPERTIES
    OUTPUT_NAME cuda SUFFIX .so.1 LIBRARY_OUTPUT_DIRECTORY ${TALUS_FAKE_CUDA})
  target_include_directories(fake_cuda PRIVATE include src/engine)
  target_compile_definitions(fake_cuda PRIVATE _GNU_SOURCE "FAKE_CUDA_MODULES=\"${fake_modules}\"")
  target_link_libraries(fake_cuda PRIVATE talus_flags)
  foreach(module ${fake_module_targets})
    add_dependencies(fake_cuda ${module})
  endforeach()
  list(APPEND TALUS_TEST_ENVIRONMENT TALUS_FAKE_CUDA=${TALUS_FAKE_CUDA})

  # They let calls of the system and allocations fail (tests/run/test_faults.py, test_no_memory.py).
  # Nothing of ours is in them, nor of a sanitizer.
  add_executable(faults tests/support/faults.c)
  add_library(no_memory MODULE tests/support/no_memory.c)
  foreach(meddler faults no_memory)
    target_compile_definitions(${meddler} PRIVATE _GNU_SOURCE)
    target_compile_options(${meddler} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
  endforeach()
  list(APPEND TALUS_TEST_ENVIRONMENT TALUS_FAULTS=$<TARGET_FILE:faults>)
  if(NOT TALUS_SANITIZE) # which has its own malloc()
    list(APPEND TALUS_TEST_ENVIRONMENT TALUS_NO_MEMORY=$<TARGET_FILE:no_memory>)
  endif()

  file(GLOB TALUS_C_TESTS CONFIGURE_DEPENDS tests/*/test_*.c)
  foreach(source ${TALUS_C_TESTS})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE tests/support)
    target_link_libraries(${name} PRIVATE talus_open PkgConfig::CMOCKA)
    if(name MATCHES "^test_(claim|physics_solid_throws)$") # problems and references of the bench
      target_include_directories(${name} PRIVATE bench)
    endif()
    if(name MATCHES "^test_paper_")
      target_link_libraries(${name} PRIVATE talus_papers)
    endif()
    if(name STREQUAL "test_threads") # the longest: in two parts, which run side by side
      talus_add_test(test_threads test_threads short)
      talus_add_test(test_threads_long test_threads long)
    else()
      talus_add_test(${name} ${name})
    endif()
  endforeach()
endif()

# Each published experiment in its short version.
file(GLOB TALUS_EXPERIMENTS CONFIGURE_DEPENDS papers/*.c)
foreach(source ${TALUS_EXPERIMENTS})
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "_" "-" experiment ${name})
  talus_add_test(paper_${name} ${TALUS_PYTHON_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/papers/paper_short.py
    ${experiment})
  set_property(TEST paper_${name} APPEND PROPERTY LABELS papers)
endforeach()

file(GLOB TALUS_PYTHON_TESTS CONFIGURE_DEPENDS tests/*/test_*.py)
foreach(source ${TALUS_PYTHON_TESTS})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^test_python" AND NOT TARGET talus_python)
    continue()
  endif()
  talus_check_python_modules(${source})
  talus_add_test(${name} ${TALUS_PYTHON_EXECUTABLE} ${source})
  if(name MATCHES "^test_python" AND TALUS_SANITIZE_PRELOAD)
    # The interpreter is not built with the sanitizer: its runtime has to come first. It frees
    # little at its end, so leaks are left to the other tests.
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      LD_PRELOAD=${TALUS_SANITIZE_PRELOAD} LSAN_OPTIONS= PYTHONMALLOC=malloc
      ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0)
  endif()
endforeach()

file(GLOB TALUS_SHELL_TESTS CONFIGURE_DEPENDS tests/*/test_*.sh)
foreach(source ${TALUS_SHELL_TESTS})
  get_filename_component(name ${source} NAME_WE)
  talus_add_test(${name} bash ${source})
endforeach()

foreach(name ${TALUS_THREADED_TESTS} ${TALUS_LONG_TESTS} ${TALUS_ONCE_TESTS} ${TALUS_FIRST_TESTS})
  if(BUILD_TESTING AND NOT TEST ${name})
    message(FATAL_ERROR "a list of cmake/Tests.cmake names ${name}, but there is no such test")
  endif()
endforeach()
