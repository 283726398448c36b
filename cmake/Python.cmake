# The Python package `talus` in <build>/python: one extension module made from the public headers by
# python/generate.py (cffi's API mode) beside the modules of python/talus.
#
# The interpreter is Debian's, by its full path: another Python may come first on PATH (pyenv,
# conda), and find_package(Python) would take that one. What the module is called and which headers
# it is compiled with is asked of the interpreter itself.
set(TALUS_PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Interpreter of the Python package")

set(TALUS_PYTHON_PROBE [[
import sys, sysconfig, os
import cffi, numpy, pycparser
if sys.version_info >= (3, 12): import setuptools  # cffi needs it where Python has no distutils
include = sysconfig.get_path('include')
assert os.path.exists(os.path.join(include, 'Python.h')), 'no Python.h in ' + include
print(sysconfig.get_config_var('EXT_SUFFIX'), include, '%d.%d' % sys.version_info[:2], sep=';')
]])
execute_process(
  COMMAND ${TALUS_PYTHON_EXECUTABLE} -I -c "${TALUS_PYTHON_PROBE}"
  OUTPUT_VARIABLE talus_python_said OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_VARIABLE talus_python_problem RESULT_VARIABLE talus_python_failed)
set(TALUS_PYTHON AUTO CACHE STRING "Build the Python package: AUTO (if possible), ON or OFF")
set_property(CACHE TALUS_PYTHON PROPERTY STRINGS AUTO ON OFF)

if(TALUS_PYTHON STREQUAL "AUTO" AND (talus_python_failed OR TALUS_SANITIZE STREQUAL "thread"))
  # ThreadSanitizer would have to be in the interpreter, too; AddressSanitizer can be preloaded.
  if(NOT TALUS_SANITIZE)
    string(REGEX REPLACE ".*\n([^\n]+)\n?$" "\\1" talus_python_problem "${talus_python_problem}")
    message(STATUS "No Python package: ${TALUS_PYTHON_EXECUTABLE} lacks something "
      "(scripts/install-deps.sh python): ${talus_python_problem}")
  endif()
  return()
elseif(NOT TALUS_PYTHON)
  return()
elseif(talus_python_failed)
  message(FATAL_ERROR "TALUS_PYTHON is ON, but ${TALUS_PYTHON_EXECUTABLE} says:\n"
    "${talus_python_problem}Run scripts/install-deps.sh python.")
endif()
list(GET talus_python_said 0 talus_python_suffix)
list(GET talus_python_said 1 talus_python_include)
list(GET talus_python_said 2 talus_python_version)
message(STATUS "Python package: for ${TALUS_PYTHON_EXECUTABLE}, version ${talus_python_version}")

set(talus_python_package ${PROJECT_BINARY_DIR}/python/talus)
set(talus_python_made ${PROJECT_BINARY_DIR}/generated/python)
file(GLOB TALUS_PYTHON_MODULES CONFIGURE_DEPENDS python/talus/*.py)

add_custom_command(
  OUTPUT ${talus_python_made}/_talus.c ${talus_python_made}/_header.py
  COMMAND ${TALUS_PYTHON_EXECUTABLE} -I ${PROJECT_SOURCE_DIR}/python/generate.py
    ${PROJECT_SOURCE_DIR}/include ${talus_python_made}
  DEPENDS python/generate.py ${TALUS_HEADERS}
  COMMENT "Reading the public headers for Python"
  VERBATIM)
add_custom_command(
  OUTPUT ${talus_python_package}/copied
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${talus_python_package}/__pycache__
  COMMAND ${CMAKE_COMMAND} -E make_directory ${talus_python_package}
  COMMAND ${CMAKE_COMMAND} -E copy ${TALUS_PYTHON_MODULES} ${talus_python_made}/_header.py
    ${talus_python_package}
  COMMAND ${CMAKE_COMMAND} -E touch ${talus_python_package}/copied
  DEPENDS ${TALUS_PYTHON_MODULES} ${talus_python_made}/_header.py
  COMMENT "Copying the modules of the Python package"
  VERBATIM)

# Where a package that is not installed finds the ready-made scenes.
file(WRITE ${talus_python_package}/scenes.txt "${PROJECT_SOURCE_DIR}/scenes\n")

# Where the package goes, below the prefix (-DTALUS_PYTHON_INSTALL_DIR=...). Debian's interpreter
# looks into lib/python3/dist-packages below /usr, and into a folder with its version below
# /usr/local.
if(NOT DEFINED TALUS_PYTHON_INSTALL_DIR)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr/local")
    set(TALUS_PYTHON_INSTALL_DIR lib/python${talus_python_version}/dist-packages)
  else()
    set(TALUS_PYTHON_INSTALL_DIR lib/python3/dist-packages)
  endif()
endif()
file(RELATIVE_PATH library_from_package
  ${CMAKE_INSTALL_PREFIX}/${TALUS_PYTHON_INSTALL_DIR}/talus ${CMAKE_INSTALL_FULL_LIBDIR})

# Not talus_flags: what cffi writes is not held to the warnings of this tree.
add_library(talus_python MODULE ${talus_python_made}/_talus.c ${talus_python_package}/copied)
target_include_directories(talus_python SYSTEM PRIVATE ${talus_python_include})
target_link_libraries(talus_python PRIVATE talus_workshop talus_hardening)
set_target_properties(talus_python PROPERTIES
  PREFIX "" OUTPUT_NAME _talus SUFFIX "${talus_python_suffix}"
  LIBRARY_OUTPUT_DIRECTORY ${talus_python_package}
  ${TALUS_FIND_LIBRARIES_AS_INSTALLED}
  INSTALL_RPATH "$ORIGIN/${library_from_package};$ORIGIN/../..") # the second in the build tree
target_compile_options(talus_python PRIVATE -O1) # calls only; nothing in it is worth more

# Type stubs, written by the package itself once it can be imported (not with sanitizers, which would
# have to be in the interpreter).
set(talus_python_stubs __init__.pyi measure.pyi py.typed)
list(TRANSFORM talus_python_stubs PREPEND ${talus_python_package}/)
if(NOT TALUS_SANITIZE)
  add_custom_command(
    OUTPUT ${talus_python_stubs}
    COMMAND ${TALUS_PYTHON_EXECUTABLE} -I ${PROJECT_SOURCE_DIR}/python/stubs.py
      ${PROJECT_BINARY_DIR}/python
    DEPENDS talus_python python/stubs.py
    COMMENT "Writing the type stubs of the Python package"
    VERBATIM)
  add_custom_target(talus_python_stubs ALL DEPENDS ${talus_python_stubs})
  install(FILES ${talus_python_stubs} DESTINATION ${TALUS_PYTHON_INSTALL_DIR}/talus)
endif()

install(TARGETS talus_python LIBRARY DESTINATION ${TALUS_PYTHON_INSTALL_DIR}/talus)
install(FILES ${TALUS_PYTHON_MODULES} ${talus_python_made}/_header.py
  DESTINATION ${TALUS_PYTHON_INSTALL_DIR}/talus)
