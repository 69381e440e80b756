# The pages of the public headers, docs/api/index.html in the build directory: the target api_docs, and a test
# (tests/docs) that fails on a warning of Doxygen.
find_package(Doxygen QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(DOXYGEN_FOUND AND Python3_FOUND)
  configure_file(docs/Doxyfile.in Doxyfile @ONLY)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs/api)
  add_custom_target(api_docs COMMAND Doxygen::doxygen Doxyfile WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM
    COMMENT "docs/api/index.html")
endif()
