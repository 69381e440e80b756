# texsolve-mpi: contexts on the ranks of an MPI job, in a library of its own, so that nobody else needs MPI; and the module that
# the command loads where mpirun has started it.
set(TEXSOLVE_WITH_MPI OFF)
set(TEXSOLVE_WITH_SCOTCH OFF)
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
  # PT-Scotch moves rows between ranks. It calls MPI itself, so it has to be of the same one.
  find_path(PTSCOTCH_INCLUDE_DIR ptscotch.h PATH_SUFFIXES scotch)
  find_library(PTSCOTCH_LIBRARY ptscotch)
  find_library(SCOTCH_LIBRARY scotch)
  find_library(PTSCOTCH_ERRORS_LIBRARY ptscotcherr)
  mark_as_advanced(PTSCOTCH_INCLUDE_DIR PTSCOTCH_LIBRARY SCOTCH_LIBRARY PTSCOTCH_ERRORS_LIBRARY)
  if(TEXSOLVE_SCOTCH AND PTSCOTCH_INCLUDE_DIR AND PTSCOTCH_LIBRARY AND SCOTCH_LIBRARY AND PTSCOTCH_ERRORS_LIBRARY)
    set(TEXSOLVE_WITH_SCOTCH ON)
  elseif(TEXSOLVE_SCOTCH AND NOT TEXSOLVE_SCOTCH STREQUAL AUTO)
    message(FATAL_ERROR "TEXSOLVE_SCOTCH is ON and there is no PT-Scotch (Debian: libptscotch-dev)")
  endif()
  message(STATUS "PT-Scotch: ${TEXSOLVE_WITH_SCOTCH}")

  function(texsolve_mpi_compile target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
    target_compile_options(${target} PRIVATE ${library_options})
    target_link_libraries(${target} PRIVATE MPI::MPI_C $<BUILD_INTERFACE:texsolve_options>)
    if(TEXSOLVE_WITH_SCOTCH)
      target_compile_definitions(${target} PRIVATE TEXSOLVE_HAVE_PTSCOTCH)
      target_include_directories(${target} SYSTEM PRIVATE ${PTSCOTCH_INCLUDE_DIR})
      target_link_libraries(${target} PRIVATE
        $<BUILD_INTERFACE:${PTSCOTCH_LIBRARY}> $<BUILD_INTERFACE:${SCOTCH_LIBRARY}> $<BUILD_INTERFACE:${PTSCOTCH_ERRORS_LIBRARY}>)
    endif()
  endfunction()

  # Starts a test on several ranks; the number of ranks follows. MPI leaks memory from modules that it unloads, which
  # LeakSanitizer cannot name.
  set(mpi_test_command ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none ${MPIEXEC_NUMPROC_FLAG})
  set(mpi_test_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
    ASAN_OPTIONS=intercept_tls_get_addr=0:detect_leaks=0)

  add_library(texsolve_mpi SHARED src/mpi/mpi_transport.c src/mpi/mpi_divide.c src/mpi/mpi_context.c)
  texsolve_mpi_compile(texsolve_mpi)
  target_link_libraries(texsolve_mpi PUBLIC texsolve_shared)
  set_target_properties(texsolve_mpi PROPERTIES OUTPUT_NAME texsolve-mpi EXPORT_NAME mpi
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  texsolve_export(texsolve_mpi texsolve.map)
  add_library(texsolve::mpi ALIAS texsolve_mpi)

  if(NOT TEXSOLVE_PROGRAMS AND NOT TEXSOLVE_TESTS)
    return()
  endif()
  add_library(texsolve_mpi_module MODULE src/mpi/mpi_transport.c src/mpi/mpi_divide.c src/mpi/mpi_module.c)
  texsolve_mpi_compile(texsolve_mpi_module)
  set_target_properties(texsolve_mpi_module PROPERTIES PREFIX "" OUTPUT_NAME texsolve-ranks
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()
