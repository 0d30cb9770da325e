# What goes into the Python package: the shared libraries under their sonames (wheels have no
# symbolic links) and the headers that the PyTorch op is compiled against.
install(FILES $<TARGET_FILE:gibbsite_shared> RENAME libgibbsite.so.0
        DESTINATION lib COMPONENT python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gibbsite DESTINATION include COMPONENT python
        FILES_MATCHING PATTERN "*.h")
if(TARGET gibbsite_cuda)
  install(FILES $<TARGET_FILE:gibbsite_cuda> RENAME libgibbsite_cuda.so.0
          DESTINATION lib COMPONENT python)
endif()
