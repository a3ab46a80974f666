// SPDX-License-Identifier: Apache-2.0
// What tests of manifests add to the line model's, or change of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace manifest_parts {

using namespace halftone::manifest;

/// A kernel that is cut as contractions are, with one thing wrong.
template <class Break>
void break_blocking(Manifest& manifest, Break break_it) {
  Kernel& kernel = manifest.kernels[1];
  kernel.tasks.resize(2, kernel.tasks[0]);
  kernel.blocking = {{{6, 16, 8}, {1, 4, 1}}, {{8, -1}}, 48, false};
  break_it(kernel.blocking);
}

/// The accumulated gradients become a state in the host's memory, which the update sees half of.
inline Argument& place_in_host(Manifest& manifest) {
  Program& program = manifest.programs[0];
  program.phases[static_cast<std::size_t>(Phase::accumulate)].clear();
  program.buffers[12].role = Role::optimizer_state;
  program.buffers[12].in_host = true;
  auto& arguments = program.phases[static_cast<std::size_t>(Phase::update)][0].arguments;
  return arguments.emplace_back(Argument{12, 32, 0, 32});
}

inline std::vector<Launch>& launches_of(Program& program, Phase phase) {
  return program.phases[static_cast<std::size_t>(phase)];
}

/// In a slot of its own.
inline Buffer& add(Program& program, std::string name, Role role, std::vector<Dimension> shape,
                   Element element = Element::f32) {
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back({std::move(name), role, element, std::move(shape), slot});
  program.slots.push_back({{index}});
  return program.buffers.back();
}

/// The weight of inference as codes, where the bias is a matrix too and the second parameter.
inline void quantize(Manifest& manifest) {
  manifest.parameters[1].shape = {2, 1};
  Program& inference = manifest.programs[1];
  const auto codes = static_cast<std::int32_t>(inference.buffers.size());
  add(inference, "codes", Role::codes, {{8, -1}}, Element::i8);
  add(inference, "scales", Role::scales, {{8, -1}});
  inference.quantized = {{1, codes, 3, 2, 1, true}};
  inference.masters = {5, -1};
}

/// A cast from bf16 under a delayed scale, of the second of two values.
inline void delay(Manifest& manifest) {
  Program& training = manifest.programs[0];
  training.values.push_back(training.values[0]);
  Cast& cast = training.casts[0];
  cast.value = 1;
  cast.from = Element::bf16;
  cast.to = Element::f8e4m3;
  cast.to.saturate = true;
  cast.to.scaling = {.kind = halftone::encoding::Scaling::Kind::delayed,
                     .scale = Element::f8e8m0,
                     .history = 16,
                     .margin = 3};
}

/// The errors of rows, which the loss writes, stay in the host's memory, and the backward pass
/// reads what comes back.
inline Program& stay_in_host(Manifest& manifest) {
  manifest.targets = {"sm_80"};
  CudaTarget target{"sm_80", {}};
  for (const Kernel& kernel : manifest.kernels) {
    CudaKernel& cuda = target.kernels.emplace_back();
    cuda.text = manifest.text_count++;
    cuda.entry = kernel.name;
    cuda.blocks = kernel.tasks;
  }
  manifest.cuda = {target};
  Program& program = manifest.programs[0];
  const auto back = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back(program.buffers[5]);
  program.buffers.back().name = "row_errors.back";
  program.buffers.back().slot = slot;
  program.slots.push_back({{back}});
  program.phases[static_cast<std::size_t>(Phase::backward)][0].arguments.push_back({back, 0});
  program.stays = {{5, back}};
  return program;
}

}  // namespace manifest_parts
