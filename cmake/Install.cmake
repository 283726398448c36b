# Program, library, public headers, ready-made scenes, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)

if(TARGET talus_program)
  install(TARGETS talus_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS talus EXPORT talus LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${TALUS_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus)
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/talus/scenes)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The prefix is found from the file's own place, so that `cmake --install --prefix` may differ
# from the prefix of the configuration.
file(RELATIVE_PATH prefix_from_pc
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(cmake/talus.pc.in talus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/talus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
install(EXPORT talus NAMESPACE talus:: FILE talus-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/talus-config.cmake.in talus-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(talus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/talus-config.cmake
  ${PROJECT_BINARY_DIR}/talus-config-version.cmake
  DESTINATION ${package_dir})
