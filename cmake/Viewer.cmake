# The page of `talus view` (viewer/): its packages by `npm ci`, and the bundle as one file,
# ${PROJECT_BINARY_DIR}/viewer.html, which goes into the program.
#
# The packages live in viewer/node_modules, shared by all build trees. npm writes
# .package-lock.json there when it is done: the stamp that says they are those of package-lock.json.
option(TALUS_VIEWER "Build the page of `talus view` into the program (needs Node.js and npm)" ON)
if(NOT TALUS_VIEWER)
  return()
endif()

find_program(TALUS_NODE NAMES node nodejs)
find_program(TALUS_NPM npm)
if(NOT TALUS_NODE OR NOT TALUS_NPM)
  message(FATAL_ERROR
    "Node.js (18 or newer) or npm is missing, with which the page of `talus view` is built.\n"
    "Run scripts/install-deps.sh, or configure with -DTALUS_VIEWER=OFF: a program without that page.")
endif()

set(viewer ${PROJECT_SOURCE_DIR}/viewer)
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${viewer}/src/*)

add_custom_command(
  OUTPUT ${viewer}/node_modules/.package-lock.json
  COMMAND ${TALUS_NPM} ci --no-audit --no-fund --prefer-offline --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${viewer}/node_modules/.package-lock.json
  DEPENDS ${viewer}/package.json ${viewer}/package-lock.json
  WORKING_DIRECTORY ${viewer}
  COMMENT "Fetching the viewer's packages"
  VERBATIM)

add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/viewer.html
  COMMAND ${TALUS_NODE} node_modules/typescript/bin/tsc --noEmit
  COMMAND ${TALUS_NODE} build.mjs --outfile ${PROJECT_BINARY_DIR}/viewer.html
  DEPENDS ${viewer}/node_modules/.package-lock.json ${viewer}/build.mjs ${viewer}/tsconfig.json
    ${viewer_sources}
  WORKING_DIRECTORY ${viewer}
  COMMENT "Bundling the viewer's page"
  VERBATIM)

add_custom_target(talus_viewer DEPENDS ${PROJECT_BINARY_DIR}/viewer.html)
