// SPDX-License-Identifier: Apache-2.0
#include "training_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "../stage_memory.hpp"
#include "block_states.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/spelling.hpp"

namespace halftone {
namespace {

using manifest::Element, manifest::Role;

/// Of values that persist; all others are stored as f32. Floats of 16 bits are P68's, of 8 P86's.
constexpr std::pair<Element, const char*> kTypes[] = {{Element::i32, "I32"},
                                                      {Element::f16, "F16"},
                                                      {Element::bf16, "BF16"},
                                                      {Element::f8e4m3, "F8_E4M3"},
                                                      {Element::f8e5m2, "F8_E5M2"}};

std::string type_of(const manifest::Buffer& buffer) {
  for (const auto& [element, type] : kTypes)
    if (element == buffer.encoding.element) return type;
  return "F32";
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Delayed scales and their histories (P75), whose names say which; a stage may have none.
bool is_of_delayed_scales(const manifest::Buffer& buffer) {
  return buffer.name.starts_with(manifest::kDelayedScales) ||
         buffer.name.starts_with(manifest::kAmaxes);
}

/// Whether it is of one parameter, whose name stands in its own (U18).
bool is_of_one_parameter(const manifest::Buffer& buffer) {
  return buffer.role == Role::optimizer_state && buffer.name.find('/') != std::string::npos;
}

bool has_all_trained(const manifest::Manifest& manifest, const manifest::Buffer& buffer) {
  return buffer.shape == std::vector<manifest::Dimension>{{.extent = manifest.trained_elements}};
}

/// Whether the buffer has an element for every one of the trained parameters, however many there
/// are of what is about something else.
bool is_flat(const manifest::Manifest& manifest, const manifest::Buffer& buffer) {
  return !is_of_delayed_scales(buffer) && !is_of_one_parameter(buffer) &&
         has_all_trained(manifest, buffer);
}

/// Where the one parameter is the model's only one, earlier releases named it twice.
std::string former_name(const manifest::Manifest& manifest, const manifest::Buffer& buffer,
                        const std::string& name) {
  if (!is_of_one_parameter(buffer) || !has_all_trained(manifest, buffer)) return {};
  return name + buffer.name.substr(buffer.name.find('/'));
}

/// Of a flat buffer of codes how many share a scale, which another buffer has; else 0 (P86).
std::int64_t block_of_codes(const ProgramPlan& plan, const manifest::Buffer& codes) {
  if (codes.role != Role::optimizer_state || !is_flat(plan.manifest(), codes)) return 0;
  const auto& buffers = plan.program().buffers;
  const auto scales =
      std::ranges::find(buffers, codes.name + std::string(kScales), &manifest::Buffer::name);
  return scales == buffers.end() ? 0 : codes.shape[0].extent / scales->shape[0].extent;
}

/// Likewise of the buffer of scales.
std::int64_t block_of_scales(const ProgramPlan& plan, const manifest::Buffer& scales) {
  if (!scales.name.ends_with(kScales)) return 0;
  const auto& buffers = plan.program().buffers;
  const auto codes = std::ranges::find(
      buffers, scales.name.substr(0, scales.name.size() - kScales.size()), &manifest::Buffer::name);
  return codes == buffers.end() ? 0 : block_of_codes(plan, *codes);
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
  const bool is_split = plan.find(Role::remainders).has_value();
  const auto add_parameters = [&](const std::string& prefix, std::size_t buffer, bool are_masters) {
    const bool in_two = are_masters && is_split;
    const manifest::Buffer& held = plan.buffer(buffer);
    const Element element = in_two ? Element::f32 : held.encoding.element;
    for (const manifest::Parameter& parameter : manifest.parameters) {
      if (!are_masters && !parameter.trained) continue;
      parts.push_back({prefix + parameter.name, in_two ? "F32" : type_of(held), parameter.shape,
                       buffer, encoding::storage_bytes(element, parameter.offset),
                       encoding::storage_bytes(element, count_of(parameter.shape)), in_two,
                       block_of_codes(plan, held)});
    }
  };
  const auto add_scales = [&](const std::string& prefix, std::size_t buffer, std::int64_t block) {
    for (const manifest::Parameter& parameter : manifest.parameters) {
      if (!parameter.trained) continue;
      const std::int64_t count = (count_of(parameter.shape) + block - 1) / block;
      StatePart& part = parts.emplace_back();
      part = {prefix + parameter.name, "F32", {count}, buffer};
      part.at = encoding::storage_bytes(Element::f32, parameter.offset / block);
      part.bytes = encoding::storage_bytes(Element::f32, count);
      part.is_scales = true;
    }
  };
  for (std::size_t i = 0; i < plan.program().buffers.size(); ++i) {
    const manifest::Buffer& buffer = plan.buffer(i);
    const std::string name = std::string(kOwnTensors) + buffer.name;
    if (buffer.role == Role::parameters) {
      add_parameters("", i, true);
    } else if (buffer.role == Role::optimizer_state && !is_of_a_step(buffer) &&
               is_flat(manifest, buffer)) {
      add_parameters(name + "/", i, false);
    } else if (const std::int64_t block = block_of_scales(plan, buffer); block > 0) {
      add_scales(name + "/", i, block);
    } else if (persists(buffer)) {
      parts.push_back({name, type_of(buffer), plan.extents(i), i, 0, plan.bytes(i)});
      parts.back().former_name = former_name(manifest, buffer, name);
    }
  }
  return parts;
}

std::vector<StatePart> state_parts(const BoundProgram& program) {
  std::vector<StatePart> parts = state_parts(program.plan());
  if (program.turns().size() == 1) return parts;
  std::erase_if(parts, [&](const StatePart& part) {
    const manifest::Buffer& buffer = program.plan().buffer(part.buffer);
    return is_of_loss_scale(buffer) || is_of_delayed_scales(buffer);
  });
  std::set<std::string> known, known_delayed;
  for (const auto& turn : program.turns()) {
    const bool is_first = known.empty();
    for (StatePart& part : state_parts(turn->plan)) {
      const manifest::Buffer& buffer = turn->plan.buffer(part.buffer);
      const bool is_delayed = is_of_delayed_scales(buffer);
      if (!is_delayed && !is_of_loss_scale(buffer)) continue;
      std::set<std::string>& names = is_delayed ? known_delayed : known;
      if (!names.insert(shared_name(turn->plan, part.buffer)).second) continue;
      const std::string stage = turn->plan.manifest().during.front();
      if (!is_delayed && !is_first)
        part.name = std::string(kOwnTensors) + stage + "/" + buffer.name;
      part.turn = turn.get();
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace halftone
