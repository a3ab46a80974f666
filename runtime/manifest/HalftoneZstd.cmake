# SPDX-License-Identifier: Apache-2.0
# halftone::zstd: the static library where there is one, so that a program that trains needs no library of ours at run time.
# Debian's is compiled for executables: a shared library takes it in once its names are hidden there.
find_library(HALFTONE_ZSTD NAMES libzstd.a zstd REQUIRED)
if(NOT TARGET halftone::zstd)
  add_library(halftone::zstd UNKNOWN IMPORTED GLOBAL)
  set_target_properties(halftone::zstd PROPERTIES IMPORTED_LOCATION ${HALFTONE_ZSTD})
  if(HALFTONE_ZSTD MATCHES "/libzstd\\.a$")
    # As a library, since link options do not come through private dependencies under policies before CMake 3.17.
    set_target_properties(halftone::zstd PROPERTIES INTERFACE_LINK_LIBRARIES "-Wl,--exclude-libs,libzstd.a")
  endif()
endif()
