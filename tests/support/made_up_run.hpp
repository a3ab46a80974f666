// SPDX-License-Identifier: Apache-2.0
// A run that never was, for what writes and reads logs.
#pragma once

#include <string>

#include "halftone/run_log.hpp"

namespace made_up {

inline halftone::RunFacts facts(const std::string& name = "first") {
  halftone::RunFacts facts;
  facts.name = name;
  facts.halftone_version = "0.1.0";
  facts.model = "made_up";
  facts.rules = {"everywhere : store f16 compute f16", "where class loss : compute f32"};
  facts.losses = {"error"};
  facts.loss_scale = "dynamic";
  facts.device = "cpu";
  facts.hardware = "cpu: a \"made-up\" <processor> & 2 threads";
  facts.variant = "x86-64-v3";
  facts.threads = 2;
  facts.sizes = {{"batch", 32}};
  facts.seed = 7;
  facts.started = 1.75e9;
  facts.parameter_tensors = 2;
  facts.parameters = 1234;
  facts.trained_parameters = 1230;
  facts.memory = {
      {"parameters", "f32", 1, 8192}, {"activation", "f16", 3, 4096}, {"workspace", "", 0, 1024}};
  facts.buffers = {{"x", "f32", 256}, {"parameters", "f32", 8192}, {"fc", "f16", 4096}};
  facts.kernels = {{"forward", "fc_forward", "contraction", "fc:contract + fc:cast", {0, 1}, {2}},
                   {"loss_backward", "error_backward", "row", "error:gradient", {2}, {2}}};
  facts.casts = {{"fc", "activation", "f32", "f16", "fc_forward", facts.rules[0], false}};
  return facts;
}

inline halftone::LogEntry entry(std::int64_t step, float loss, std::int64_t skipped = 0) {
  halftone::LogEntry entry;
  entry.step = step;
  entry.steps = 10;
  entry.skipped = entry.skipped_steps = skipped;
  entry.losses = {{"error", loss}};
  entry.grad_norm = 0.5f;
  entry.loss_scale = 65536.0f;
  entry.learning_rate = 0.001f;
  entry.peak_bytes = 13312;
  entry.seconds = static_cast<double>(step) / 100;
  entry.time = 1.75e9 + entry.seconds;
  entry.ms_per_step = 10.0;
  entry.rows_per_second = 3200.0;
  return entry;
}

}  // namespace made_up
