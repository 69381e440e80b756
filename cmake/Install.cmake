# Installation: headers, both libraries, a pkg-config file and a CMake package. cli/ installs the program and its
# manual page.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/texsolve include/texsolve-nl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- CMake package: each library has its own export file, because only the static one needs other packages.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/texsolve)
foreach(kind shared static)
  install(TARGETS texsolve_${kind} texsolve_nl_${kind} EXPORT texsolve_${kind}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT texsolve_${kind} NAMESPACE texsolve:: FILE texsolve-${kind}.cmake DESTINATION ${package_dir})
endforeach()
if(TEXSOLVE_WITH_MPI)
  install(TARGETS texsolve_mpi EXPORT texsolve_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT texsolve_mpi NAMESPACE texsolve:: FILE texsolve-mpi.cmake DESTINATION ${package_dir})
  if(TARGET texsolve_mpi_module)
    install(TARGETS texsolve_mpi_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/texsolve)
  endif()
endif()
if(TEXSOLVE_WITH_DIRECT)
  install(TARGETS texsolve_direct LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/texsolve)
endif()
set(texsolve_with_posix_threads OFF)
if(TEXSOLVE_THREADS AND NOT WIN32)
  set(texsolve_with_posix_threads ON)
endif()
configure_package_config_file(cmake/texsolveConfig.cmake.in texsolveConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break a program.
write_basic_package_version_file(texsolveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/texsolveConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/texsolveConfigVersion.cmake DESTINATION ${package_dir})

# ---- pkg-config: the prefix is found from the file's own place, so that the tree can be moved. The libraries
# below ours are named in Libs.private, not in Requires.private: for the latter pkg-config would want their
# development files from everyone, and who links the shared library does not need them.
set(private_libraries "-lm")
if(TEXSOLVE_GL)
  string(APPEND private_libraries " ${gl_link_flags}")
endif()
if(TEXSOLVE_WITH_CUDA)
  get_filename_component(cuda_library_dir ${CUDA_cudart_static_LIBRARY} DIRECTORY)
  string(APPEND private_libraries " -L${cuda_library_dir} -lcudart_static -lrt -lpthread -ldl")
endif()
if(TEXSOLVE_WITH_METIS)
  string(APPEND private_libraries " -lmetis")
endif()
if(TEXSOLVE_WITH_DIRECT AND CMAKE_DL_LIBS)
  string(APPEND private_libraries " -l${CMAKE_DL_LIBS}")
endif()
if(texsolve_with_posix_threads)
  string(APPEND private_libraries " -pthread")
endif()
foreach(dir INCLUDEDIR LIBDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(pc_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(pc_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
# The static libraries have files of their own: with `pkg-config --static texsolve` a linker still takes the shared library
# if both are there.
foreach(library texsolve texsolve_nl)
  get_target_property(name ${library}_static OUTPUT_NAME)
  set(${library}_archive ${CMAKE_STATIC_LIBRARY_PREFIX}${name}${CMAKE_STATIC_LIBRARY_SUFFIX})
endforeach()
foreach(package texsolve texsolve-nl texsolve-static texsolve-nl-static)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
if(TEXSOLVE_WITH_MPI)
  configure_file(cmake/texsolve-mpi.pc.in texsolve-mpi.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/texsolve-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
