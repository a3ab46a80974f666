// SPDX-License-Identifier: Apache-2.0
// Inputs for any model, and what is compared after it ran.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "delivered.hpp"
#include "halftone/artifact.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/trainer.hpp"
#include "halftone/values.hpp"

namespace simulated {

using halftone::Artifact, halftone::NamedValues;
using Floats = std::vector<float>;

inline Floats copy(std::span<const float> values) { return {values.begin(), values.end()}; }

/// The bits, where every NaN is one (N7).
inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result;
  for (float value : values) {
    result.push_back(std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value));
  }
  return result;
}

/// Random inputs for every input of a model: in [-1, 1), labels and tokens below 7. Integers of
/// more than 8 a row are taken for values, which are any.
class Inputs {
 public:
  Inputs(const Artifact& artifact, std::int64_t batch, unsigned seed) : engine_(seed) {
    const auto& manifest = artifact.manifest();
    for (const auto& buffer : manifest.programs[0].buffers) {
      if (buffer.role != halftone::manifest::Role::input) continue;
      const auto count =
          static_cast<std::size_t>(halftone::manifest::elements(buffer.shape, std::array{batch}));
      names_.push_back(buffer.name);
      are_values_.push_back(count > 8 * static_cast<std::size_t>(batch));
      if (halftone::encoding::traits(buffer.encoding.element).integer) {
        values_.emplace_back(
            halftone::tests::delivered(buffer.encoding.element, std::vector<std::int32_t>(count)));
      } else {
        values_.emplace_back(Floats(count));
      }
    }
    draw();
  }

  void draw() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto& values = values_[i];
      if (auto* floats = std::get_if<Floats>(&values)) {
        std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
        for (float& value : *floats) value = uniform(engine_);
      } else {
        std::visit([&](auto& integers) { draw(integers, are_values_[i]); }, values);
      }
    }
  }

  /// Makes one float infinite.
  void spoil() {
    for (auto& values : values_) {
      if (auto* floats = std::get_if<Floats>(&values)) {
        floats->at(5) = std::numeric_limits<float>::infinity();
      }
    }
  }

  [[nodiscard]] std::vector<NamedValues> named() const {
    std::vector<NamedValues> named;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::visit([&](const auto& values) { named.push_back({names_[i], std::span(values)}); },
                 values_[i]);
    }
    return named;
  }

 private:
  template <class T>
  void draw(std::vector<T>& integers, bool are_values) {
    if constexpr (std::is_integral_v<T>)
      for (T& each : integers) each = static_cast<T>(are_values ? engine_() : engine_() % 7);
  }

  std::mt19937_64 engine_;
  std::vector<std::string> names_;
  std::vector<bool> are_values_;
  std::vector<halftone::OfElements<halftone::VectorOf>> values_;
};

/// Of every parameter.
inline std::map<std::string, std::vector<std::uint32_t>> weights_of(
    const halftone::Trainer& trainer) {
  std::map<std::string, std::vector<std::uint32_t>> weights;
  for (const std::string& name : trainer.parameter_names()) {
    weights[name] = bits(trainer.parameter(name));
  }
  return weights;
}

}  // namespace simulated
