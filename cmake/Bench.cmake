# Benchmarks, built by the target `bench`: every bench/*.c is a program; bench/bullet/ and
# bench/settle/ are two more where Debian's libbullet-dev is there.
file(GLOB TALUS_BENCHES CONFIGURE_DEPENDS bench/*.c)
add_custom_target(bench)

function(talus_add_bench name)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE talus_all_objects)
  add_dependencies(bench bench_${name})
endfunction()

foreach(source ${TALUS_BENCHES})
  get_filename_component(name ${source} NAME_WE)
  talus_add_bench(${name} ${source})
endforeach()

# Bullet needs a C++ compiler, which nothing else does.
pkg_check_modules(BULLET QUIET IMPORTED_TARGET bullet)
include(CheckLanguage)
check_language(CXX)
if(BULLET_FOUND AND CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  file(GLOB TALUS_BULLET_SOURCES CONFIGURE_DEPENDS bench/bullet/*.cpp)
  talus_add_bench(bullet ${TALUS_BULLET_SOURCES})
  target_link_libraries(bench_bullet PRIVATE PkgConfig::BULLET)
  talus_add_bench(settle bench/settle/main.cpp bench/bullet/bullet_pile.cpp
    bench/bullet/talus_pile.cpp)
  target_link_libraries(bench_settle PRIVATE PkgConfig::BULLET)
  target_compile_definitions(bench_settle PRIVATE
    TALUS_BENCH_DIR="${PROJECT_SOURCE_DIR}/bench")
else()
  add_custom_target(bench_bullet_missing
    COMMAND ${CMAKE_COMMAND} -E echo
      "Without Bullet: no comparison with it (scripts/install-deps.sh bench installs it)"
    VERBATIM)
  add_dependencies(bench bench_bullet_missing)
endif()
