# SPDX-License-Identifier: Apache-2.0
# halftone::zstd: the static library where there is one, so that a program that trains needs no library of ours at run time.
find_library(HALFTONE_ZSTD NAMES libzstd.a zstd REQUIRED)
if(NOT TARGET halftone::zstd)
  add_library(halftone::zstd UNKNOWN IMPORTED GLOBAL)
  set_target_properties(halftone::zstd PROPERTIES IMPORTED_LOCATION ${HALFTONE_ZSTD})
endif()
