// SPDX-License-Identifier: Apache-2.0
// The laws of what a manifest says about formats, casts, probes and the loss scale.
#include <cmath>

#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/spelling.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

bool is_rule(const Manifest& manifest, std::int32_t rule) {
  return rule == -1 || in_range(rule, manifest.rules);
}

std::string verify_values(const Manifest& manifest, const Program& program) {
  for (const Value& value : program.values) {
    const std::string who = quoted("value", value.name);
    if (!sound(manifest, value.shape)) return who + " has an impossible shape";
    if (!is_plain(value.encoding)) return who + " has an impossible encoding";
    if (value.buffer != -1 && !in_range(value.buffer, program.buffers)) {
      return who + " has an unknown buffer";
    }
    const auto known = [&](std::int32_t rule) { return in_range(rule, manifest.rules); };
    if (!is_rule(manifest, value.rule) || !std::ranges::all_of(value.beaten, known)) {
      return who + " has an unknown rule";
    }
  }
  return {};
}

bool is_possible(const Cast& cast) {
  const auto is_float = [](const Encoding& encoding) {
    return !encoding::traits(encoding.element).integer;
  };
  const bool changes = cast.from.element != cast.to.element || cast.to.saturate;
  return changes && is_float(cast.from) && is_float(cast.to) && is_plain(cast.from) &&
         !encoding::fault(cast.to);
}

std::string verify_casts(const Manifest& manifest, const Program& program) {
  for (const Cast& cast : program.casts) {
    if (!in_range(cast.value, program.values)) return "a cast has an unknown value";
    const std::string who =
        "the cast of " + quoted("value", program.values[static_cast<std::size_t>(cast.value)].name);
    if (!is_possible(cast)) return who + " has impossible encodings";
    if (!is_rule(manifest, cast.rule)) return who + " has an unknown rule";
    if (std::ranges::find(manifest.kernels, cast.kernel, &Kernel::name) == manifest.kernels.end()) {
      return who + " has an unknown kernel";
    }
  }
  return {};
}

std::string verify_probes(const Manifest& manifest, const Program& program) {
  if (!program.probes.empty() && program.name != "diagnosis") return "it has probes";
  for (const Probe& probe : program.probes) {
    const std::string who = "a probe of " + quoted("layer", probe.layer);
    if (!form_of(probe.phase).in_diagnosis || probe.phase == Phase::refresh) {
      return who + " belongs to no phase that is replayed";
    }
    const std::vector<Launch>& phase = launches(program, probe.phase);
    if (!in_range(probe.launch, phase)) return who + " has an unknown launch";
    const auto& arguments = phase[static_cast<std::size_t>(probe.launch)].arguments;
    if (!in_range(probe.argument, arguments) ||
        (probe.before != -1 && !in_range(probe.before, arguments))) {
      return who + " has an unknown argument";
    }
    if (probe.first_launch != -1 && (!in_range(probe.first_launch, phase) ||
                                     probe.first_launch >= probe.launch || probe.before == -1)) {
      return who + " has an unknown first launch";
    }
    if (!is_rule(manifest, probe.rule)) return who + " has an unknown rule";
  }
  return {};
}

/// What a diagnosis takes from training, by name.
bool is_taken_over(const Buffer& buffer) {
  return is_given(buffer.role) || buffer.role == Role::state ||
         buffer.role == Role::hyperparameter || scales_passes(buffer);
}

std::string verify_diagnosis(const Manifest& manifest, const Program& diagnosis) {
  const auto training = std::ranges::find(manifest.programs, "training", &Program::name);
  if (training == manifest.programs.end()) return "there is no program for training beside it";
  for (const Slot& slot : diagnosis.slots) {
    if (slot.tenants.size() > 1) return "two buffers share a slot";
  }
  for (const Buffer& buffer : diagnosis.buffers) {
    if (!is_taken_over(buffer)) continue;
    const Buffer* source = find(*training, buffer.name);
    if (!source || source->role != buffer.role || source->encoding != buffer.encoding ||
        source->shape != buffer.shape) {
      return quoted("buffer", buffer.name) + " is not what training has under that name";
    }
  }
  return {};
}

/// Whether it rounds to a positive finite f32.
bool is_positive(double value) { return value > 0x1p-150 && value < 0x1.ffffffp127; }

bool is_count(std::int64_t value) { return value >= 1 && value <= std::int64_t{1} << 24; }

/// A scale that gradients can be divided by.
bool is_scale(double value) {
  return is_positive(value) && std::isfinite(1.0f / static_cast<float>(value));
}

/// P43, of the numbers as the step computes with them: in f32.
bool is_possible(const LossScale& scale) {
  if (scale.kind == LossScale::Kind::none) return true;
  if (!is_scale(scale.initial)) return false;
  if (scale.kind == LossScale::Kind::fixed) return true;
  if (!is_scale(scale.floor)) return false;
  for (double value : {scale.ceiling, scale.growth, scale.backoff}) {
    if (!is_positive(value)) return false;
  }
  const auto f32 = [](double value) { return static_cast<float>(value); };
  return f32(scale.floor) <= f32(scale.initial) && f32(scale.initial) <= f32(scale.ceiling) &&
         f32(scale.growth) > 1.0f && f32(scale.backoff) < 1.0f && is_count(scale.interval) &&
         is_count(scale.hysteresis) && is_count(scale.patience);
}

}  // namespace

std::string verify_precision(const Manifest& manifest, const Program& program) {
  std::string why = verify_values(manifest, program);
  if (why.empty()) why = verify_casts(manifest, program);
  if (why.empty()) why = verify_probes(manifest, program);
  if (why.empty() && program.name == "diagnosis") why = verify_diagnosis(manifest, program);
  return why;
}

std::string verify_decisions(const Manifest& manifest) {
  for (const Decision& decision : manifest.decisions) {
    const auto known = [&](std::int32_t rule) { return in_range(rule, manifest.rules); };
    if (!known(decision.rule) || !std::ranges::all_of(decision.beaten, known)) {
      return "what rules said of " + decision.field + " in " + quoted("layer", decision.layer) +
             " has an unknown rule";
    }
  }
  return {};
}

std::string verify_loss_scale(const Manifest& manifest) {
  const LossScale& scale = manifest.loss_scale;
  if (!is_possible(scale)) return "the loss scale is impossible";
  const auto training = std::ranges::find(manifest.programs, "training", &Program::name);
  if (training == manifest.programs.end() || scale.kind == LossScale::Kind::none) return {};
  const auto has_scalar = [&](std::string_view name) {
    const Buffer* buffer = find(*training, name);
    return buffer && buffer->role == Role::optimizer_state && buffer->shape.empty();
  };
  std::vector<std::string_view> needed = {"loss_scale"};
  if (scale.kind == LossScale::Kind::dynamic) {
    needed.insert(needed.end(), {"loss_scale.clean", "loss_scale.wait", "loss_scale.floored"});
  }
  for (std::string_view name : needed) {
    if (!has_scalar(name)) return "training has no scalar " + quoted("buffer", name);
  }
  return {};
}

}  // namespace halftone::manifest
