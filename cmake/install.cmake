# What `make install` installs: header, both libraries, program, pkg-config file and CMake package,
# manual pages, completion, documentation.
include(CMakePackageConfigHelpers)

install(FILES ${PROJECT_SOURCE_DIR}/include/gibbsite/gibbsite.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gibbsite)
install(TARGETS gibbsite_static gibbsite_shared EXPORT gibbsite
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET gibbsite)
  install(TARGETS gibbsite RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET pages)
  get_property(pages GLOBAL PROPERTY GBS_PAGES)
  get_property(completion GLOBAL PROPERTY GBS_COMPLETION)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME gibbsite)
endif()
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples/c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.out")
install(DIRECTORY examples/python examples/kernel_task DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.py" PATTERN "*.out" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY examples/data DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
# What those pages link to: to be read there, not to be compiled against.
install(FILES bench/NOTES.md bench/NOTES-gpu.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(FILES bench/results/cpu_table.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench/results)
install(FILES include/gibbsite/gibbsite.h include/gibbsite/gibbsite_cuda.h
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/include/gibbsite)

# The prefix is found from the files' own places, so that a staged or moved copy works as well.
file(RELATIVE_PATH GBS_PREFIX_FROM_PC
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GBS_PREFIX_FROM_PC "${GBS_PREFIX_FROM_PC}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gibbsite.pc.in ${PROJECT_BINARY_DIR}/gibbsite.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gibbsite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# find_package(gibbsite) gives gibbsite::shared and gibbsite::static.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gibbsite)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gibbsite-config.cmake.in
  ${PROJECT_BINARY_DIR}/gibbsite-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gibbsite-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gibbsite-config.cmake
  ${PROJECT_BINARY_DIR}/gibbsite-config-version.cmake DESTINATION ${package})
install(EXPORT gibbsite FILE gibbsite-targets.cmake NAMESPACE gibbsite:: DESTINATION ${package})
