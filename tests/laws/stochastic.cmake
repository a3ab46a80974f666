# SPDX-License-Identifier: Apache-2.0
# Stochastic rounding: its model of tests/support/models, fused, unfused, recomputing all activations and none; models of many
# layers under a rule that draws wherever something is rounded; and small ones of this folder.
set(declarations "")
set(entries "")
set(objects "")
set(options --targets cpu --variants ${tested_variant} --without-diagnosis)
halftone_add_test_artifact(stochastic_on_cpu ${test_models}/stochastic.halftone --targets cpu ROW stochastic)
set(more "\ninline constexpr LinkedArtifact kAlikeArtifacts[] = {\n")
halftone_add_test_artifact(stochastic_unfused ${test_models}/stochastic.halftone ${options} --unfused TABLE more ROW unfused)
foreach(when always never)
  halftone_add_test_artifact(stochastic_${when} ${test_models}/stochastic.halftone ${options} TABLE more ROW ${when}
    REPLACE "rule where role weight" "rule everywhere : recompute ${when}\nrule where role weight")
endforeach()
string(APPEND more "};\n\ninline constexpr LinkedArtifact kSmallArtifacts[] = {\n")
halftone_add_test_artifact(neighbours ${CMAKE_CURRENT_SOURCE_DIR}/neighbours.halftone --targets cpu TABLE more)
halftone_add_test_artifact(vanishing ${CMAKE_CURRENT_SOURCE_DIR}/vanishing.halftone --targets cpu TABLE more)
halftone_add_test_artifact(vanishing_stochastic ${CMAKE_CURRENT_SOURCE_DIR}/vanishing.halftone --targets cpu TABLE more
  REPLACE "store f16" "store f16 rounding stochastic")
string(APPEND more "};\n\ninline constexpr LinkedArtifact kDrawnArtifacts[] = {\n")
foreach(name attention attention_grouped batch_norm causal_conv1d_bf16 decoder dropout embedding every_layer grouped
        input_gradients long_convolution matmul narrow_inputs packed padded positions_bf16 rank3 resampled rotary_layer segments
        smoothed softmax state_average tied two_losses views windows)
  halftone_add_test_artifact(${name}_drawn ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_drawn REPLACE "optimizer"
    "rule everywhere : store f16 compute f8e5m2 rounding stochastic\nrule where role weight : store bf16 rounding stochastic\noptimizer")
endforeach()
string(APPEND more "};\n")
configure_file(artifacts.hpp.in stochastic/artifacts.hpp @ONLY)
halftone_add_test(laws_stochastic OPTIMIZED SOURCES main.cpp stochastic.cpp neighbours.cpp ${objects} LINK halftone::runtime halftone::manifest
  halftone::reference)
target_include_directories(laws_stochastic PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/stochastic ${CMAKE_CURRENT_SOURCE_DIR}/..
  ${PROJECT_SOURCE_DIR}/dsl/reference)
