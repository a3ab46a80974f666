# SPDX-License-Identifier: Apache-2.0
# One model under every optimizer, with clips, a schedule and averages beside it.
set(declarations "")
set(entries "")
set(more "")
set(objects "")
foreach(name_and_text
    "dampened:sgd learning_rate 0.1 momentum 0.8 dampening 0.25 weight_decay 0.02"
    "adam_amsgrad:adam learning_rate 0.01 beta1 0.9 beta2 0.75 epsilon 1e-08 weight_decay 0.2 amsgrad"
    "adamw_amsgrad:adamw learning_rate 0.01 beta1 0.9 beta2 0.75 epsilon 1e-08 weight_decay 0.2 amsgrad"
    "nadam:nadam learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-08 weight_decay 0.2 momentum_decay 0.5"
    "nadam_decoupled:nadam learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-08 weight_decay 0.2 momentum_decay 0.004 decoupled_weight_decay"
    "adagrad:adagrad learning_rate 0.1 epsilon 1e-10 weight_decay 0.02 initial_accumulator_value 0"
    "adagrad_from:adagrad learning_rate 0.1 epsilon 1e-10 weight_decay 0.02 initial_accumulator_value 0.0625"
    "rmsprop:rmsprop learning_rate 0.01 alpha 0.9 epsilon 1e-08 momentum 0 weight_decay 0.02"
    "rmsprop_centered:rmsprop learning_rate 0.01 alpha 0.9 epsilon 1e-08 momentum 0 centered weight_decay 0.02"
    "rmsprop_momentum:rmsprop learning_rate 0.01 alpha 0.9 epsilon 1e-08 momentum 0.8 weight_decay 0.02"
    "rmsprop_all:rmsprop learning_rate 0.01 alpha 0.9 epsilon 1e-08 momentum 0.8 centered weight_decay 0.02"
    "lion:lion learning_rate 0.01 beta1 0.9 beta2 0.99 weight_decay 0.2"
    "lamb:lamb learning_rate 0.01 beta1 0.9 beta2 0.75 epsilon 1e-06 weight_decay 0.2"
    "adafactor:adafactor learning_rate 0.3 decay_rate 0.8 epsilon1 1.1920928955078125e-07 epsilon2 0.001 clip_threshold 0.5 weight_decay 0.2")
  string(REGEX MATCH "^([a-z_]+):(.+)$" matches "${name_and_text}")
  set(name ${CMAKE_MATCH_1})
  set(text "optimizer ${CMAKE_MATCH_2}")
  halftone_add_test_artifact(${name} ${CMAKE_CURRENT_SOURCE_DIR}/optimizers.halftone --targets cpu,sm_80 --without-diagnosis
    REPLACE "optimizer sgd learning_rate 0.1 momentum 0 weight_decay 0" "${text}")
endforeach()
# Norms of parts (U15): of clips of groups whose parameters have several blocks, beside lamb and beside an optimizer that takes none; of more
# parts than one kernel knows.
halftone_add_test_artifact(lamb_groups ${test_models}/lamb_groups.halftone)
halftone_add_test_artifact(clip_groups ${test_models}/lamb_groups.halftone --targets cpu --without-diagnosis
  REPLACE "optimizer lamb learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-06 weight_decay 0.2 max_trust 2 decayed_only"
          "optimizer adamw learning_rate 0.01 beta1 0.9 beta2 0.99 epsilon 1e-08 weight_decay 0.2")
halftone_add_test_artifact(many_parts ${CMAKE_CURRENT_SOURCE_DIR}/many_parts.halftone --targets cpu --without-diagnosis)
# A user's own (U14), whose text has what lists of CMake are cut at.
foreach(name custom custom_plain)
  halftone_add_test_artifact(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.halftone --targets cpu,sm_80 --without-diagnosis)
endforeach()
configure_file(artifacts.hpp.in optimizers/artifacts.hpp @ONLY)
halftone_add_test(laws_optimizers OPTIMIZED SOURCES main.cpp optimizers.cpp ${objects} LINK halftone::runtime halftone::manifest
  halftone::reference)
target_include_directories(laws_optimizers PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/optimizers ${CMAKE_CURRENT_SOURCE_DIR}/..)
