# Debian wants manual pages and change logs compressed; without names and times in them, so that the
# same files make the same package.
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/usr/share/man/man1/*.1)
set(log ${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/gibbsite/changelog)
# beside CHANGELOG.md, to which the pages link
configure_file(${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/gibbsite/CHANGELOG.md ${log} COPYONLY)
execute_process(COMMAND gzip -9n ${pages} ${log} COMMAND_ERROR_IS_FATAL ANY)
