# SPDX-License-Identifier: Apache-2.0
# A long convolution of as many places as there may be, beside numpy's values.
set(declarations "")
set(entries "")
set(objects "")
set(more "")
halftone_add_test_artifact(longest ${CMAKE_CURRENT_SOURCE_DIR}/longest.halftone --targets cpu --variants ${tested_variant}
  --without-diagnosis)
configure_file(artifacts.hpp.in longest/artifacts.hpp @ONLY)
halftone_add_test(laws_longest OPTIMIZED SOURCES main.cpp longest.cpp ${objects} LINK halftone::runtime halftone::manifest
  halftone::reference)
target_include_directories(laws_longest PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/longest ${CMAKE_CURRENT_SOURCE_DIR}/..
  ${PROJECT_SOURCE_DIR}/dsl/reference)
