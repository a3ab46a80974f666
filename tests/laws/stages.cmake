# SPDX-License-Identifier: Apache-2.0
# A model under the rules of four stages, and one that is under those of its third throughout.
set(declarations "")
set(entries "")
set(objects "")
set(more "")
halftone_add_test_artifact(stages ${CMAKE_CURRENT_SOURCE_DIR}/stages.halftone --targets cpu)
halftone_add_test_artifact(stages_predict ${CMAKE_CURRENT_SOURCE_DIR}/stages.halftone --targets cpu --variants ${tested_variant}
  --without-diagnosis REPLACE "during \"predict\"" "during \"warmup\"|\"full\"|\"predict\"|\"correct\"")
halftone_add_test_artifact(adaptation ${CMAKE_CURRENT_SOURCE_DIR}/adaptation.halftone --targets cpu --variants ${tested_variant})
configure_file(artifacts.hpp.in stages/artifacts.hpp @ONLY)
halftone_add_test(laws_stages OPTIMIZED SOURCES main.cpp adaptation.cpp adapted_runs.cpp gradient_noise.cpp stages.cpp ${objects} LINK halftone::runtime halftone::manifest
  halftone::reference)
target_include_directories(laws_stages PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/stages ${CMAKE_CURRENT_SOURCE_DIR}/..
  ${PROJECT_SOURCE_DIR}/dsl/reference ${PROJECT_SOURCE_DIR}/tests/support)
