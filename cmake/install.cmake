# What `make install` installs: header, both libraries, program, pkg-config file.
include(GNUInstallDirs)

install(FILES ${PROJECT_SOURCE_DIR}/include/gibbsite/gibbsite.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gibbsite)
install(TARGETS gibbsite_static gibbsite_shared
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET gibbsite)
  install(TARGETS gibbsite RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The prefix is found from the file's own place, so that a staged or moved copy works as well.
file(RELATIVE_PATH GBS_PREFIX_FROM_PC
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GBS_PREFIX_FROM_PC "${GBS_PREFIX_FROM_PC}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/gibbsite.pc.in ${PROJECT_BINARY_DIR}/gibbsite.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gibbsite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
