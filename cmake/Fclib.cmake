# Whether the command reads FCLIB's problems of contact, which are HDF5 files: TEXSOLVE_WITH_FCLIB, HDF5_C_INCLUDE_DIR and
# HDF5_C_LIBRARY. The serial library is taken, under Debian's name for it first.
set(TEXSOLVE_WITH_FCLIB OFF)
if(TEXSOLVE_FCLIB)
  find_path(HDF5_C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(HDF5_C_LIBRARY NAMES hdf5_serial hdf5)
  mark_as_advanced(HDF5_C_INCLUDE_DIR HDF5_C_LIBRARY)
  if(HDF5_C_INCLUDE_DIR AND HDF5_C_LIBRARY)
    set(TEXSOLVE_WITH_FCLIB ON)
  elseif(NOT TEXSOLVE_FCLIB STREQUAL AUTO)
    message(FATAL_ERROR "TEXSOLVE_FCLIB is ON and HDF5 was not found (Debian: libhdf5-dev)")
  endif()
endif()
message(STATUS "FCLIB files, by HDF5: ${TEXSOLVE_WITH_FCLIB}")
