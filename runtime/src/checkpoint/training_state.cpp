// SPDX-License-Identifier: Apache-2.0
#include "training_state.hpp"

#include "halftone/manifest/spelling.hpp"

namespace halftone {
namespace {

using manifest::Element, manifest::Role;

/// Of values that persist, which are f32 or i32.
std::string type_of(const manifest::Buffer& buffer) {
  return buffer.encoding.element == Element::i32 ? "I32" : "F32";
}

constexpr std::int64_t kBytes = 4;

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Whether the buffer has an element for every one of the trained parameters.
bool is_flat(const manifest::Manifest& manifest, const manifest::Buffer& buffer) {
  return buffer.shape == std::vector<manifest::Dimension>{{.extent = manifest.trained_elements}};
}

/// What a state was before the micro-batches of a step, of which none are left between steps.
bool is_of_a_step(const manifest::Buffer& buffer) {
  return buffer.name.starts_with(manifest::kBeforeStep);
}

/// What a caller sets for the updates that follow; the other hyperparameters are a step's.
bool is_set_by_callers(const manifest::Buffer& buffer) {
  return buffer.role == Role::hyperparameter &&
         (buffer.name == "learning_rate" || buffer.name == "weight_decay" ||
          buffer.name == "momentum");
}

bool persists(const manifest::Buffer& buffer) {
  return (buffer.role == Role::optimizer_state && !is_of_a_step(buffer)) ||
         buffer.role == Role::state || is_set_by_callers(buffer);
}

}  // namespace

std::vector<StatePart> state_parts(const ProgramPlan& plan) {
  const manifest::Manifest& manifest = plan.manifest();
  std::vector<StatePart> parts;
  const auto add_parameters = [&](const std::string& prefix, std::size_t buffer, bool trained) {
    for (const manifest::Parameter& parameter : manifest.parameters) {
      if (trained && !parameter.trained) continue;
      parts.push_back({prefix + parameter.name, "F32", parameter.shape, buffer,
                       parameter.offset * kBytes, count_of(parameter.shape) * kBytes});
    }
  };
  for (std::size_t i = 0; i < plan.program().buffers.size(); ++i) {
    const manifest::Buffer& buffer = plan.buffer(i);
    const std::string name = std::string(kOwnTensors) + buffer.name;
    if (buffer.role == Role::parameters) {
      add_parameters("", i, false);
    } else if (buffer.role == Role::optimizer_state && !is_of_a_step(buffer) &&
               is_flat(manifest, buffer)) {
      add_parameters(name + "/", i, true);
    } else if (persists(buffer)) {
      parts.push_back(
          {name, type_of(buffer), plan.extents(i), i, 0, plan.bytes(i)});
    }
  }
  return parts;
}

}  // namespace halftone
