# texsolve-mpi: contexts on the ranks of an MPI job, in a library of its own, so that nobody else needs MPI; and the module that
# the command loads where mpirun has started it.
set(TEXSOLVE_WITH_MPI OFF)
if(TEXSOLVE_MPI AND NOT WIN32)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(TEXSOLVE_WITH_MPI ON)
  elseif(NOT TEXSOLVE_MPI STREQUAL AUTO)
    message(FATAL_ERROR "TEXSOLVE_MPI is ON and there is no MPI (Debian: libopenmpi-dev)")
  endif()
endif()
message(STATUS "MPI: ${TEXSOLVE_WITH_MPI}")
if(TEXSOLVE_WITH_MPI)
  function(texsolve_mpi_compile target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
    target_compile_options(${target} PRIVATE ${library_options})
    target_link_libraries(${target} PRIVATE MPI::MPI_C $<BUILD_INTERFACE:texsolve_options>)
  endfunction()

  add_library(texsolve_mpi SHARED src/mpi/mpi_transport.c src/mpi/mpi_context.c)
  texsolve_mpi_compile(texsolve_mpi)
  target_link_libraries(texsolve_mpi PUBLIC texsolve_shared)
  set_target_properties(texsolve_mpi PROPERTIES OUTPUT_NAME texsolve-mpi EXPORT_NAME mpi
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  texsolve_export(texsolve_mpi texsolve.map)
  add_library(texsolve::mpi ALIAS texsolve_mpi)

  add_library(texsolve_mpi_module MODULE src/mpi/mpi_transport.c src/mpi/mpi_module.c)
  texsolve_mpi_compile(texsolve_mpi_module)
  set_target_properties(texsolve_mpi_module PROPERTIES PREFIX "" OUTPUT_NAME texsolve-ranks
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()
