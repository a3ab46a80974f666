# SPDX-License-Identifier: Apache-2.0
# Elements of fewer than 8 bits, each rounded to the nearest and toward zero, under scales of both kinds.
set(declarations "")
set(entries "")
set(objects "")
set(more "")
halftone_add_test_artifact(short_elements ${CMAKE_CURRENT_SOURCE_DIR}/short_elements.halftone --targets cpu --variants ${tested_variant} --without-diagnosis)
configure_file(artifacts.hpp.in short_elements/artifacts.hpp @ONLY)
halftone_add_test(laws_short_elements OPTIMIZED SOURCES main.cpp short_elements.cpp ${objects} LINK halftone::runtime halftone::manifest halftone_conversion_oracles)
target_include_directories(laws_short_elements PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/short_elements)
add_test(NAME laws_short_elements_of_all_inputs COMMAND laws_short_elements --no-skip "-tc=*2^32*")
set_tests_properties(laws_short_elements_of_all_inputs PROPERTIES LABELS exhaustive SKIP_RETURN_CODE 77 TIMEOUT 7200 ENVIRONMENT HALFTONE_CACHE=off)
