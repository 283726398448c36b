# Program with man page and completions, libraries, public headers, ready-made scenes, pkg-config
# files and CMake package.
include(CMakePackageConfigHelpers)

if(TARGET talus_program)
  install(TARGETS talus_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The program writes its man page and its completions itself.
  set(manual ${PROJECT_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${manual})
  add_custom_command(OUTPUT ${manual}/talus.1 ${manual}/talus ${manual}/_talus ${manual}/talus.fish
    COMMAND talus_program help --man > ${manual}/talus.1
    COMMAND talus_program completion bash > ${manual}/talus
    COMMAND talus_program completion zsh > ${manual}/_talus
    COMMAND talus_program completion fish > ${manual}/talus.fish
    COMMAND talus_program schema --force --output ${manual}/scene.json
    BYPRODUCTS ${manual}/scene.json
    DEPENDS talus_program VERBATIM)
  add_custom_target(manual ALL DEPENDS ${manual}/talus.1)
  install(FILES ${manual}/talus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${manual}/talus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/_talus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${manual}/talus.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${manual}/scene.json DESTINATION ${CMAKE_INSTALL_DATADIR}/talus)
endif()
install(TARGETS talus talus_workshop EXPORT talus LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${TALUS_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus)
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/talus/scenes)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The prefix is found from the file's own place, so that `cmake --install --prefix` may differ
# from the prefix of the configuration.
file(RELATIVE_PATH prefix_from_pc
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
foreach(package talus talus-workshop)
  string(REPLACE "-" "_" library ${package})
  configure_file(cmake/talus.pc.in ${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
install(EXPORT talus NAMESPACE talus:: FILE talus-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/talus-config.cmake.in talus-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(talus-config-version.cmake COMPATIBILITY ${TALUS_COMPATIBILITY})
install(FILES
  ${PROJECT_BINARY_DIR}/talus-config.cmake
  ${PROJECT_BINARY_DIR}/talus-config-version.cmake
  DESTINATION ${package_dir})
