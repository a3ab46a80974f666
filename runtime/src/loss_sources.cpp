// SPDX-License-Identifier: Apache-2.0
#include "loss_sources.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "formats.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone {

using manifest::Argument, manifest::Launch, manifest::Phase, manifest::Probe, manifest::Role;

namespace {

std::size_t buffer_of(const Launch& launch, std::int32_t argument) {
  return static_cast<std::size_t>(launch.arguments[static_cast<std::size_t>(argument)].buffer);
}

bool is_of_losses(Phase phase) { return phase == Phase::loss || phase == Phase::loss_backward; }

}  // namespace

const Launch& LossSources::launch(const Probe& probe) const {
  const auto& launches = program_.program().phases[static_cast<std::size_t>(probe.phase)];
  return launches[static_cast<std::size_t>(probe.launch)];
}

/// What the probe's cast reads, in its own launch or in the first of a rounding in several.
std::size_t LossSources::operand_of(const Probe& probe) const {
  const auto& launches = program_.program().phases[static_cast<std::size_t>(probe.phase)];
  const std::int32_t first = probe.first_launch < 0 ? probe.launch : probe.first_launch;
  return buffer_of(launches[static_cast<std::size_t>(first)], probe.before);
}

bool LossSources::has(std::size_t input) const {
  if (program_.plan().buffer(input).role != Role::input) return false;
  const auto of_layers = program_.plan().inputs_of(Phase::forward);
  return std::ranges::find(of_layers, input) == of_layers.end();
}

bool LossSources::has(const Probe& probe) const {
  if (probe.before < 0 || !is_of_losses(probe.phase)) return false;
  const std::size_t operand = operand_of(probe);
  const Probe* cast = cast_to(operand);
  return has(operand) || (cast != nullptr && has(*cast));
}

/// The cast that made a buffer.
const Probe* LossSources::cast_to(std::size_t buffer) const {
  for (const Probe& probe : program_.program().probes) {
    if (probe.before >= 0 && buffer_of(launch(probe), probe.argument) == buffer) return &probe;
  }
  return nullptr;
}

/// The last extent of what a loss reads beside its label; 0 for other launches.
std::int64_t LossSources::classes_of(const Launch& launch, std::size_t label) const {
  const auto& rows = program_.plan().buffer(label).shape;
  for (const Argument& argument : launch.arguments) {
    const auto& shape = program_.plan().buffer(static_cast<std::size_t>(argument.buffer)).shape;
    if (shape.size() == rows.size() + 1 && std::equal(rows.begin(), rows.end(), shape.begin())) {
      return manifest::elements(std::span(&shape.back(), 1), program_.sizes().symbols);
    }
  }
  return 0;
}

std::optional<LossSources::Element> LossSources::wrong_label(const Launch& launch,
                                                             std::size_t buffer,
                                                             std::int64_t at) const {
  const std::int64_t classes = classes_of(launch, buffer);
  if (classes == 0 || at >= program_.elements(buffer)) return std::nullopt;
  const std::int64_t label = integer_of(program_.execution().read(buffer),
                                        program_.plan().buffer(buffer).encoding.element, at);
  if (label >= 0 && label < classes) return std::nullopt;
  return Element{buffer, at, classes, nullptr};
}

/// Of an input of losses, or of what casts make of one: the first that is not finite.
std::optional<LossSources::Element> LossSources::not_finite(std::size_t buffer, std::int64_t begin,
                                                            std::int64_t end) const {
  const Probe* cast = cast_to(buffer);
  if (!has(buffer) && (cast == nullptr || !has(*cast))) return std::nullopt;
  if (cast != nullptr) {
    if (auto before = not_finite(operand_of(*cast), begin, end)) return before;
  }
  const encoding::Element element = program_.plan().buffer(buffer).encoding.element;
  const std::byte* values = program_.execution().read(buffer);
  for (std::int64_t i = begin; i < end; ++i) {
    if (!std::isfinite(element_of(values, element, i))) return Element{buffer, i, 0, cast};
  }
  return std::nullopt;
}

/// What a loss reads has a value for an element of its result, or a row of them; or one for a row
/// of the result.
std::optional<LossSources::Element> LossSources::culprit(const Probe& probe,
                                                         std::int64_t at) const {
  if (!is_of_losses(probe.phase) || probe.before >= 0) return std::nullopt;
  const Launch& from = launch(probe);
  const std::int64_t results = program_.elements(buffer_of(from, probe.argument));
  for (std::int32_t i = 0; i < probe.argument; ++i) {
    const std::size_t buffer = buffer_of(from, i);
    if (encoding::traits(program_.plan().buffer(buffer).encoding.element).integer) {
      if (probe.phase != Phase::loss) continue;
      if (auto label = wrong_label(from, buffer, at)) return label;
      continue;
    }
    const std::int64_t elements = program_.elements(buffer);
    const std::int64_t each = std::max<std::int64_t>(1, elements / results);
    const std::int64_t first = elements < results ? at / (results / elements) : at * each;
    if (auto found = not_finite(buffer, first, first + each)) return found;
  }
  return std::nullopt;
}

}  // namespace halftone
