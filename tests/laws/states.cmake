# SPDX-License-Identifier: Apache-2.0
# States of 16 bits (P68) and masters with a remainder (P69): one model under each alone, both, and both unfused; optimizers whose
# states begin at a number, saturate or are cut; and states in blocks (P86), beside masters in two, and beside norms of parts.
set(declarations "")
set(entries "")
set(objects "")
set(options --targets cpu --variants ${tested_variant} --without-diagnosis)
set(model ${CMAKE_CURRENT_SOURCE_DIR}/held_states.halftone)
set(split "role master : master bf16 remainder")
set(drawn "role optimizer_state : store bf16 rounding stochastic")
halftone_add_test_artifact(held_states_both ${model} --targets cpu REPLACE
  "role master : master f32\nrule where role optimizer_state : store f32" "${split}\nrule where ${drawn}")
halftone_add_test_artifact(held_states_f16 ${model} ${options} REPLACE "optimizer_state : store f32" "optimizer_state : store f16")
# In parts (P91): of two parameters that are updated alike, one that ends in the other; with a clip for groups, which blocks know.
halftone_add_test_artifact(held_states_parts ${model} ${options} --update-part 64 REPLACE
  "role master : master f32\nrule where role optimizer_state : store f32"
  "${split}\nrule where role optimizer_state : store f16 saturate place host")
halftone_add_test_artifact(clip_groups_parts ${test_models}/lamb_groups.halftone ${options} --update-part 1024 REPLACE
  "optimizer lamb learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-06 weight_decay 0.2 max_trust 2 decayed_only"
  "rule where role optimizer_state : place host\noptimizer adamw learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-06 weight_decay 0.2")
halftone_add_test_artifact(held_states_blocks ${model} --targets cpu REPLACE
  "role master : master f32\nrule where role optimizer_state : store f32"
  "${split}\nrule where role optimizer_state : store f8e4m3 scaled block 32 f32 saturate")
halftone_add_test_artifact(lamb_blocks ${test_models}/lamb_groups.halftone ${options} REPLACE "optimizer lamb"
  "rule where role optimizer_state : store f8e5m2 scaled block 256 f32 saturate rounding stochastic\noptimizer lamb")
foreach(name_and_rule "f16_drawn:store f16 saturate rounding stochastic" "bf16_cut:store bf16 rounding toward_zero")
  string(REGEX MATCH "^([a-z0-9_]+):(.+)$" matches "${name_and_rule}")
  set(name ${CMAKE_MATCH_1})
  set(optimizer "rmsprop learning_rate 0.01 alpha 0.9 epsilon 1e-08 momentum 0.8 centered weight_decay 0.02")
  if(name STREQUAL bf16_cut)
    set(optimizer "adagrad learning_rate 0.1 epsilon 1e-10 weight_decay 0.02 initial_accumulator_value 0.1")
  endif()
  halftone_add_test_artifact(${name} ${CMAKE_CURRENT_SOURCE_DIR}/optimizers.halftone ${options} REPLACE
    "optimizer sgd learning_rate 0.1 momentum 0 weight_decay 0" "rule where role optimizer_state : ${CMAKE_MATCH_2}\noptimizer ${optimizer}")
endforeach()
set(more "\ninline constexpr LinkedArtifact kOtherArtifacts[] = {\n")
halftone_add_test_artifact(held_states_whole ${model} ${options} TABLE more ROW whole)
halftone_add_test_artifact(held_states_split ${model} ${options} TABLE more ROW split REPLACE "role master : master f32" "${split}")
halftone_add_test_artifact(held_states_unfused ${model} ${options} --unfused TABLE more ROW unfused REPLACE
  "role master : master f32\nrule where role optimizer_state : store f32" "${split}\nrule where ${drawn}")
halftone_add_test_artifact(held_states_blocks_unfused ${model} ${options} --unfused TABLE more ROW blocks_unfused REPLACE
  "role master : master f32\nrule where role optimizer_state : store f32"
  "${split}\nrule where role optimizer_state : store f8e4m3 scaled block 32 f32 saturate")
string(APPEND more "};\n")
configure_file(artifacts.hpp.in states/artifacts.hpp @ONLY)
halftone_add_test(laws_states OPTIMIZED SOURCES main.cpp states.cpp ${objects} LINK halftone::runtime halftone::manifest
  halftone::reference)
target_include_directories(laws_states PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/states ${CMAKE_CURRENT_SOURCE_DIR}/..
  ${PROJECT_SOURCE_DIR}/dsl/reference ${PROJECT_SOURCE_DIR}/runtime/src)
