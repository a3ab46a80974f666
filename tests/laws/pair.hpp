// SPDX-License-Identifier: Apache-2.0
// One model twice: as generated code in a Trainer, and as the reference's declared evaluation of
// its Description, with the same parameters and the same random inputs.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "delivered.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/predictor.hpp"
#include "halftone/reference/evaluator.hpp"
#include "halftone/trainer.hpp"
#include "integer_bound.hpp"
#include "models.hpp"

namespace halftone::tests {

/// The bits of a value as the specification compares them: every NaN is one (N7).
inline std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
}

/// Index of the first element whose bits differ, or -1.
inline std::ptrdiff_t first_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (bits(a[i]) != bits(b[i])) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

class Pair {
 public:
  Pair(const std::string& name, const manifest::ArtifactImage& image, const std::string& device,
       std::int64_t batch, std::uint64_t seed = 1)
      : Pair(load_model(name), image, device, batch, seed) {}

  Pair(description::Description model, const manifest::ArtifactImage& image,
       const std::string& device, std::int64_t batch, std::uint64_t seed = 1)
      : Pair(model, image, device, bind(model, batch), seed) {}

  Pair(description::Description model, const manifest::ArtifactImage& image,
       const std::string& device, reference::Symbols bound, std::uint64_t seed = 1)
      : description(std::move(model)),
        symbols(std::move(bound)),
        artifact(Artifact::linked(image)),
        device(Device::cpu(device)),
        trainer(artifact, this->device, setup(seed)),
        reference(description, symbols),
        random_(seed) {
    reference::Tensors<float> parameters;
    for (const std::string& parameter : trainer.parameter_names()) {
      auto values = trainer.parameter(parameter);
      parameters[parameter] = {values.begin(), values.end()};
    }
    state = reference.initial_state(std::move(parameters));
    state.seed = seed;
  }

  /// Inputs of the next step: uniform in [-1, 1], integers uniform among what their readers take;
  /// of weights within a loss half are 0.
  void draw() {
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::size_t id = 0; id < description.nodes.size(); ++id) {
      const auto& node = description.nodes[id];
      if (node.kind != description::kind_called("input")) continue;
      const auto count =
          static_cast<std::size_t>(reference.count(static_cast<description::NodeId>(id)));
      if (description::holds_integers(node)) {
        auto& integers = inputs.integers[node.name];
        integers.resize(count);
        const auto of = static_cast<description::NodeId>(id);
        const bool is_signed_value =
            !description::is_counted(description, of) && encoding::traits(node.format).has_sign;
        std::uniform_int_distribution<std::int32_t> pick(
            is_signed_value ? -1 - largest(node.format) : 0,
            integer_bound(description, symbols, of) - 1);
        for (auto& integer : integers) integer = pick(random_);
      } else {
        auto& values = inputs.values[node.name];
        values.resize(count);
        const bool weighs = is_sample_weight(static_cast<description::NodeId>(id));
        for (float& value : values) {
          value = uniform(random_);
          if (weighs) value = std::max(0.0f, value);
        }
      }
    }
    deliver();
  }

  /// Values of narrow inputs as the trainer will have them.
  void deliver() {
    for (const auto& node : description.nodes) {
      const auto found = inputs.values.find(node.name);
      if (found == inputs.values.end()) continue;
      for (float& value : found->second) value = reference::round({node.format}, value);
    }
  }

  /// Makes the step not finite, by an input or, where all are integers, by one that none takes.
  void spoil(float value) {
    if (inputs.values.empty())
      inputs.integers.begin()->second[0] = -1;
    else
      inputs.values.begin()->second[0] = value;
  }

  [[nodiscard]] std::vector<NamedValues> named_inputs() const {
    std::vector<NamedValues> named;
    for (const auto& [name, values] : inputs.values)
      named.push_back({name, std::span<const float>(values)});
    for (const auto& [name, integers] : inputs.integers) {
      const auto& node = description.nodes[static_cast<std::size_t>(reference.find(name))];
      delivered_[name] = delivered(node.format, integers);
      named.push_back(tests::named(name, delivered_[name]));
    }
    return named;
  }

  Setup setup(std::uint64_t seed) {
    bindings_.clear();
    for (const auto& [symbol, value] : symbols) bindings_.push_back({symbol, value});
    return {.model = "", .bindings = bindings_, .seed = seed};
  }

  description::Description description;
  reference::Symbols symbols;
  Artifact artifact;
  Device device;

 private:
  std::vector<Binding> bindings_;

 public:
  Trainer trainer;
  reference::Declared reference;
  reference::State<float> state;
  reference::Inputs<float> inputs;

  /// Of a loss with labels.
  [[nodiscard]] std::int32_t classes(const description::Node& loss) const {
    const auto& columns = description.nodes[loss.operands[0].node].shape.back();
    return static_cast<std::int32_t>(
        columns.symbol.empty() ? columns.extent : columns.factor * symbols.at(columns.symbol));
  }

 private:
  [[nodiscard]] bool is_sample_weight(description::NodeId input) const {
    for (const auto& node : description.nodes)
      for (const auto& operand : node.operands)
        if (operand.node == input && operand.role == "sample_weight") return true;
    return false;
  }

  static reference::Symbols bind(const description::Description& description, std::int64_t batch) {
    reference::Symbols symbols;
    for (const auto& node : description.nodes)
      for (const auto& dim : node.shape)
        if (!dim.symbol.empty())
          symbols[dim.symbol] = dim.symbol == "batch" ? batch : dim.symbol == "source" ? 5 : 3;
    return symbols;
  }

  std::mt19937_64 random_;
  mutable std::map<std::string, OfElements<VectorOf>> delivered_;  ///< what named_inputs() shows
};

}  // namespace halftone::tests
