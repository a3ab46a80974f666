# SPDX-License-Identifier: Apache-2.0
# Scaled operands: their models of tests/support/models fused, unfused, recomputing all activations and none, those whose scales are factors
# of sums among them; models of many layers under rules that scale every operand, as a tensor, by blocks of a row, by such of several rows, and
# under two levels.
set(declarations "")
set(entries "")
set(objects "")
set(options --targets cpu --variants ${tested_variant} --without-diagnosis)
foreach(name scaled scaled_blocks scaled_grids factors vectors)
  halftone_add_test_artifact(${name}_on_cpu ${test_models}/${name}.halftone --targets cpu ROW ${name})
endforeach()
halftone_add_test_artifact(delayed_on_cpu ${test_models}/delayed.halftone --targets cpu ROW delayed)
halftone_add_test_artifact(fewer_delayed ${test_models}/delayed.halftone ${options} REPLACE "delayed 3" "tensor")
set(more "\ninline constexpr LinkedArtifact kAlikeArtifacts[] = {\n")
halftone_add_test_artifact(delayed_unfused ${test_models}/delayed.halftone ${options} --unfused TABLE more ROW delayed)
foreach(when always never)
  halftone_add_test_artifact(delayed_${when} ${test_models}/delayed.halftone ${options} TABLE more ROW delayed
    REPLACE "rule where class loss" "rule everywhere : recompute ${when}\nrule where class loss")
endforeach()
halftone_add_test_artifact(factors_unfused ${test_models}/factors.halftone ${options} --unfused TABLE more ROW factors)
foreach(when always never)
  halftone_add_test_artifact(factors_${when} ${test_models}/factors.halftone ${options} TABLE more ROW factors
    REPLACE "rule everywhere : loss_scale" "rule everywhere : recompute ${when}\nrule everywhere : loss_scale")
endforeach()
foreach(name scaled scaled_blocks scaled_grids)
  halftone_add_test_artifact(${name}_unfused ${test_models}/${name}.halftone ${options} --unfused TABLE more ROW ${name})
  foreach(when always never)
    halftone_add_test_artifact(${name}_${when} ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}
      REPLACE "rule where class normalization" "rule everywhere : recompute ${when}\nrule where class normalization")
  endforeach()
endforeach()
string(APPEND more "};\n\ninline constexpr LinkedArtifact kScaledArtifacts[] = {\n")
foreach(name attention attention_grouped batch_norm causal_conv1d_bf16 decoder dropout embedding every_layer grouped
        input_gradients long_convolution matmul narrow_inputs packed padded positions_bf16 rank3 resampled rotary_layer segments
        smoothed softmax state_average tied two_losses views windows)
  set(scaled "rule everywhere : store bf16 compute f8e4m3 scaled tensor f8e8m0 saturate\nrule where role gradient : compute f8e5m2 scaled tensor f8e8m0 saturate")
  halftone_add_test_artifact(${name}_in_tensors ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_in_tensors REPLACE "optimizer"
    "${scaled}\noptimizer")
endforeach()
foreach(name batch_norm causal_conv1d_bf16 decoder embedding every_layer grouped_f16 narrow_inputs resampled smoothed tied windows)
  set(element f8e5m2)
  if(name STREQUAL embedding OR name STREQUAL narrow_inputs)
    set(element f6e3m2)
  elseif(name STREQUAL decoder OR name STREQUAL every_layer)
    set(element f6e2m3)
  endif()
  set(scaled "rule everywhere : store f16 compute ${element} scaled block 5 f8e8m0 saturate rounding stochastic")
  halftone_add_test_artifact(${name}_in_blocks ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_in_blocks REPLACE "optimizer"
    "${scaled}\noptimizer")
endforeach()
foreach(name batch_norm attention decoder every_layer segments_bf16 windows)
  set(scaled "rule everywhere : store bf16 compute f8e4m3 scaled block 3 by 5 f8e8m0 saturate")
  halftone_add_test_artifact(${name}_in_grids ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_in_grids REPLACE "optimizer"
    "${scaled}\noptimizer")
endforeach()
foreach(name attention every_layer narrow_inputs)
  set(scaled "rule everywhere : store bf16 compute f4e2m1 scaled block 4 by 3 f8e4m3 saturate rounding stochastic")
  halftone_add_test_artifact(${name}_in_levels ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_in_levels REPLACE "optimizer"
    "${scaled}\noptimizer")
endforeach()
string(APPEND more "};\n\ninline constexpr LinkedArtifact kDelayedArtifacts[] = {\n")
foreach(name batch_norm decoder every_layer state_average tied)
  set(scaled "rule everywhere : store bf16 compute f8e4m3 scaled delayed 2 f8e8m0 saturate\nrule where role gradient : compute f8e5m2 scaled delayed 1 margin 1 f8e8m0 saturate")
  halftone_add_test_artifact(${name}_delayed ${test_models}/${name}.halftone ${options} TABLE more ROW ${name}_delayed REPLACE "optimizer"
    "${scaled}\noptimizer")
endforeach()
# The digits of examples/digits, with small gradients, under several formats of operands.
string(APPEND more "};\n\ninline constexpr LinkedArtifact kDigitsArtifacts[] = {\n")
set(bf16 "rule everywhere : store bf16 compute bf16")
foreach(name bf16 f8 tensors delayed blocks columns levels factors vectors)
  set(operands "compute bf16")
  if(name STREQUAL f8)
    set(operands "compute f8e4m3 saturate\nrule where op linear role gradient : compute f8e5m2 saturate")
  elseif(name STREQUAL tensors)
    set(operands "compute f8e4m3 scaled tensor f8e8m0 saturate\nrule where op linear role gradient : compute f8e5m2 scaled tensor f8e8m0 saturate")
  elseif(name STREQUAL delayed)
    set(operands "compute f8e4m3 scaled delayed 16 f8e8m0 saturate\nrule where op linear role gradient : compute f8e5m2 scaled delayed 16 f8e8m0 saturate")
  elseif(name STREQUAL blocks)
    set(operands "compute f8e4m3 scaled block 32 f8e8m0 saturate")
  elseif(name STREQUAL columns)
    set(operands "compute f8e4m3 scaled block 32 f8e8m0 saturate\nrule where op linear pass weight_gradient : compute f8e4m3 scaled block 32 by 1 f8e8m0 saturate")
  elseif(name STREQUAL factors)
    set(operands "compute f8e4m3 scaled tensor f32 saturate\nrule where op linear role gradient : compute f8e5m2 scaled tensor f32 saturate")
  elseif(name STREQUAL vectors)
    string(CONCAT operands "compute f8e4m3 scaled row f32 saturate\nrule where op linear role weight pass input_gradient : compute f8e4m3 scaled column f32 saturate\n"
      "rule where op linear pass weight_gradient : compute f8e4m3 scaled column f32 saturate")
  elseif(name STREQUAL levels)
    string(CONCAT operands "compute f4e2m1 scaled block 16 f8e4m3 under f32 saturate\nrule where op linear role weight : compute f4e2m1 scaled block 16 by 16 f8e4m3 under f32 saturate\n"
      "rule where op linear role gradient : compute f4e2m1 scaled block 16 f8e4m3 under f32 saturate rounding stochastic\n"
      "rule where op linear pass weight_gradient : compute f4e2m1 scaled block 16 by 1 f8e4m3 under f32 saturate")
  endif()
  halftone_add_test_artifact(digits_${name}_trained ${CMAKE_CURRENT_SOURCE_DIR}/faint_digits.halftone ${options} TABLE more ROW ${name} REPLACE "${bf16}"
    "${bf16}\nrule where op linear : ${operands}")
endforeach()
string(APPEND more "};\n")
configure_file(artifacts.hpp.in scaled/artifacts.hpp @ONLY)
halftone_add_test(laws_scaled OPTIMIZED SOURCES main.cpp delayed.cpp roundings.cpp scaled.cpp scaled_digits.cpp ${PROJECT_SOURCE_DIR}/examples/digits/images.cpp ${objects} LINK halftone::runtime halftone::manifest halftone::reference)
target_include_directories(laws_scaled PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/scaled ${CMAKE_CURRENT_SOURCE_DIR}/.. ${PROJECT_SOURCE_DIR}/examples/digits)
target_compile_definitions(laws_scaled PRIVATE DIGITS_CSV="${PROJECT_SOURCE_DIR}/examples/digits/data/digits.csv")
