// SPDX-License-Identifier: Apache-2.0
#include "layer_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace halftone {
namespace {

/// "h/0/fc" of "h/0/fc.weight".
std::string_view layer_of(std::string_view parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

double sum_of_squares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace

std::vector<std::string> gradient_layers(const RunFacts& facts) {
  std::vector<std::string> layers;
  for (const std::string& parameter : facts.trained) {
    const std::string layer(layer_of(parameter));
    if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(layer);
  }
  return layers;
}

std::vector<std::optional<double>> layer_gradients(const Trainer& trainer, const RunFacts& facts,
                                                   float whole) {
  const std::vector<std::string>& layers = facts.gradient_layers;
  std::vector<double> sums(layers.size(), 0.0);
  double all = 0;
  for (const std::string& parameter : facts.trained) {
    const auto layer = std::ranges::find(layers, layer_of(parameter)) - layers.begin();
    const double sum = sum_of_squares(trainer.gradient(parameter));
    sums[static_cast<std::size_t>(layer)] += sum;
    all += sum;
  }
  // All have one factor, the loss scale times the number of micro-batches, which `whole` is
  // without.
  const double factor = all > 0 ? whole / std::sqrt(all) : 1;
  std::vector<std::optional<double>> norms;
  for (const double sum : sums) {
    const double norm = std::sqrt(sum);
    if (!std::isfinite(norm)) {
      norms.emplace_back(norm);
    } else if (std::isfinite(factor) && std::isfinite(all)) {
      norms.emplace_back(norm * factor);
    } else {
      norms.emplace_back();
    }
  }
  return norms;
}

}  // namespace halftone
