# Version, git revision and compiler as a generated header that one source file includes.
#
# Included from CMakeLists.txt this file defines talus_bake_revision(). Run as a script at every
# build (cmake -P) it writes the header, and touches it only when the revision has changed.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(TALUS_REVISION_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(talus_bake_revision target source)
    string(TOLOWER ${CMAKE_C_COMPILER_ID} compiler)
    string(REPLACE "gnu" "gcc" compiler ${compiler})
    set(folder ${PROJECT_BINARY_DIR}/generated)
    add_custom_target(talus_revision
      COMMAND ${CMAKE_COMMAND}
        -DSOURCE=${PROJECT_SOURCE_DIR}
        -DOUTPUT=${folder}/talus_version.h
        -DVERSION=${PROJECT_VERSION}
        "-DCOMPILER=${compiler} ${CMAKE_C_COMPILER_VERSION}"
        -P ${TALUS_REVISION_SCRIPT}
      BYPRODUCTS ${folder}/talus_version.h
      COMMENT "Looking up the git revision"
      VERBATIM)
    add_dependencies(${target} talus_revision)
    set_source_files_properties(${source} PROPERTIES INCLUDE_DIRECTORIES ${folder})
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.25)

# A tarball unpacked inside somebody's checkout must not take that checkout's revision: the top of
# the work tree has to be the source folder itself. No optional locks: a build that looks at the
# state never gets in the way of a commit.
set(REVISION unknown)
find_program(GIT git)
if(GIT)
  execute_process(
    COMMAND ${GIT} -C ${SOURCE} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  file(REAL_PATH ${SOURCE} here)
  if(NOT failed AND top STREQUAL here)
    execute_process(
      COMMAND ${GIT} --no-optional-locks -C ${SOURCE}
        describe --always --dirty --abbrev=40 --exclude=*
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
      RESULT_VARIABLE failed)
    if(NOT failed)
      set(REVISION ${described})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"/* Written by cmake/Revision.cmake at every build. */
#define TALUS_BUILT_VERSION \"${VERSION}\"
#define TALUS_REVISION \"${REVISION}\"
#define TALUS_COMPILER \"${COMPILER}\"
")
