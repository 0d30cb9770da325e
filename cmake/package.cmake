# `make deb`: a Debian package of all that is installed; its dependencies are what dpkg-shlibdeps
# finds the program and the libraries to need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gibbsite)
set(CPACK_PACKAGE_VENDOR "the Gibbsite authors")
set(CPACK_PACKAGE_CONTACT "the Gibbsite authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Gibbs sampling of Gaussian models, the same bits everywhere")
set(CPACK_PACKAGE_DESCRIPTION
"Draws from multivariate normal distributions given by their precision or
covariance matrix, by Gibbs sweeps or exactly, with diagnostics.
This package has the program, the C library with its header, and their
documentation.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS coinor-libclp1) # found when it is asked for
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/compress.cmake)
include(CPack)
