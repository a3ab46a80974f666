// SPDX-License-Identifier: Apache-2.0
// What losses share: each is a mean, or a weighted mean (D70 to D73), whose gradient is divided by
// what that mean divides by first.
#pragma once

#include <cstddef>

#include "layer.hpp"

namespace halftone::reference {

// D70
template <class Scalar>
bool is_weighted(const Layer<Scalar>& layer) {
  return layer.has("sample_weight") || layer.settings.numbers.contains("ignore_index");
}

// How many terms, of elements, or of rows of a cross_entropy, belong to one summand: with a weight
// for every row of x the elements of a row.
template <class Scalar>
std::size_t summand_size(const Layer<Scalar>& layer) {
  if (layer.has("label") || !layer.has("sample_weight")) return 1;
  const Extents& x = layer.operands[0].extents;
  const bool by_row = layer.operand("sample_weight").extents.size() < x.size();
  return by_row ? static_cast<std::size_t>(columns(x)) : 1;
}

// w of D71, of so many summands: as the pass reads it, or as forward did.
template <class Scalar>
Values<Scalar> weights_of(const Layer<Scalar>& layer, std::size_t summands, bool as_forward) {
  Values<Scalar> weights(summands, Scalar(1));
  if (layer.has("sample_weight")) {
    const Operand<Scalar>& given = layer.operand("sample_weight");
    const bool is_forward = given.forward_values.empty();
    weights = as_forward && !is_forward ? given.forward_values : given.values;
  }
  const auto ignored = layer.settings.numbers.find("ignore_index");
  if (ignored == layer.settings.numbers.end()) return weights;
  const Integers& labels = layer.operand("label").integers;
  for (std::size_t i = 0; i < summands; ++i) {
    if (labels[i] == ignored->second) weights[i] = 0;
  }
  return weights;
}

// D of D71, by forward's weights.
template <class Scalar>
Scalar divisor(const Layer<Scalar>& layer, std::size_t summands) {
  const Scalar weight = sum(View<Scalar>(weights_of(layer, summands, true)));
  if (weight == 0) return 1;
  return weight * static_cast<Scalar>(summand_size(layer));
}

// N4(terms) / count, or D71 of the terms of all elements, or of the rows of a cross_entropy.
template <class Scalar>
Values<Scalar> mean(const Layer<Scalar>& layer, const Values<Scalar>& terms) {
  if (!is_weighted(layer)) {
    return {sum(View<Scalar>(terms)) / static_cast<Scalar>(terms.size())};
  }
  const std::size_t size = summand_size(layer);
  const Values<Scalar> weights = weights_of(layer, terms.size() / size, false);
  Values<Scalar> weighted;
  for (std::size_t u = 0; u < weights.size(); ++u) {
    const View<Scalar> parts = View<Scalar>(terms).subspan(u * size, size);
    const Scalar term = size == 1 ? parts[0] : sum(parts);
    weighted.push_back(weights[u] == 0 ? Scalar(0) : weights[u] * term);
  }
  return {sum(View<Scalar>(weighted)) / divisor(layer, weights.size())};
}

// What arrives at the summands of a loss: s of its gradient, or D72.
template <class Scalar>
class Arriving {
 public:
  // `count` terms, as of mean().
  Arriving(const Layer<Scalar>& layer, std::size_t count, Scalar g) : size_(summand_size(layer)) {
    if (is_weighted(layer)) {
      weights_ = weights_of(layer, count / size_, false);
      s_ = g / divisor(layer, count / size_);
    } else {
      s_ = g / static_cast<Scalar>(count);
    }
  }

  // Of weight 0: every gradient is +0.
  [[nodiscard]] bool passes_over(std::size_t term) const {
    return !weights_.empty() && weights_[term / size_] == 0;
  }
  [[nodiscard]] Scalar at(std::size_t term) const {
    return weights_.empty() ? s_ : s_ * weights_[term / size_];
  }

 private:
  std::size_t size_;
  Values<Scalar> weights_;  // empty without any
  Scalar s_;
};

}  // namespace halftone::reference
