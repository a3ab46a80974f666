// SPDX-License-Identifier: Apache-2.0
// What losses share: each is a mean, a weighted mean or a sum (D70 to D73), whose gradient is
// divided by what that divides by first.
#pragma once

#include <cstddef>

#include "layer.hpp"

namespace halftone::reference {

// D70
template <class Scalar>
bool is_weighted(const Layer<Scalar>& layer) {
  return layer.has("sample_weight") || layer.has("class_weight") ||
         layer.settings.numbers.contains("ignore_index");
}

// D71: whether nothing divides.
template <class Scalar>
bool is_summed(const Layer<Scalar>& layer) {
  return layer.settings.flags.contains("summed");
}

// How many of so many terms, of elements or of rows, belong to one summand: where terms are
// elements and a weight is a row's, the elements of a row.
template <class Scalar>
std::size_t summand_size(const Layer<Scalar>& layer, std::size_t terms) {
  if (!layer.has("sample_weight")) return 1;
  std::size_t weights = 1;
  for (const std::int64_t extent : layer.operand("sample_weight").extents)
    weights *= static_cast<std::size_t>(extent);
  return terms / weights;
}

// c of D71; 1 of a label that names no class.
template <class Scalar>
Scalar class_weight(const Layer<Scalar>& layer, std::int32_t label) {
  const View<Scalar> weights = layer["class_weight"];
  const bool is_class = label >= 0 && static_cast<std::size_t>(label) < weights.size();
  return is_class ? weights[static_cast<std::size_t>(label)] : Scalar(1);
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
  if (layer.has("class_weight")) {
    const Integers& labels = layer.operand("label").integers;
    for (std::size_t i = 0; i < summands; ++i)
      weights[i] = weights[i] * class_weight(layer, labels[i]);
  }
  const auto ignored = layer.settings.numbers.find("ignore_index");
  if (ignored == layer.settings.numbers.end()) return weights;
  const Integers& labels = layer.operand("label").integers;
  for (std::size_t i = 0; i < summands; ++i) {
    if (labels[i] == ignored->second) weights[i] = 0;
  }
  return weights;
}

// D of D71, by forward's weights, of summands of so many terms each.
template <class Scalar>
Scalar divisor(const Layer<Scalar>& layer, std::size_t summands, std::size_t size) {
  const Scalar weight = sum(View<Scalar>(weights_of(layer, summands, true)));
  if (weight == 0) return 1;
  return weight * static_cast<Scalar>(size);
}

// N4(terms) / count, or D71 of the terms of all elements, or of all rows.
template <class Scalar>
Values<Scalar> mean(const Layer<Scalar>& layer, const Values<Scalar>& terms) {
  const bool summed = is_summed(layer);
  if (!is_weighted(layer)) {
    const Scalar total = sum(View<Scalar>(terms));
    return {summed ? total : total / static_cast<Scalar>(terms.size())};
  }
  const std::size_t size = summand_size(layer, terms.size());
  const Values<Scalar> weights = weights_of(layer, terms.size() / size, false);
  Values<Scalar> weighted;
  for (std::size_t u = 0; u < weights.size(); ++u) {
    const View<Scalar> parts = View<Scalar>(terms).subspan(u * size, size);
    const Scalar term = size == 1 ? parts[0] : sum(parts);
    weighted.push_back(weights[u] == 0 ? Scalar(0) : weights[u] * term);
  }
  const Scalar total = sum(View<Scalar>(weighted));
  return {summed ? total : total / divisor(layer, weights.size(), size)};
}

// What arrives at the summands of a loss: s of its gradient, or D72.
template <class Scalar>
class Arriving {
 public:
  // `count` terms, as of mean().
  Arriving(const Layer<Scalar>& layer, std::size_t count, Scalar g)
      : size_(summand_size(layer, count)), s_(g) {
    if (is_weighted(layer)) weights_ = weights_of(layer, count / size_, false);
    if (is_summed(layer)) return;
    s_ = g /
         (is_weighted(layer) ? divisor(layer, count / size_, size_) : static_cast<Scalar>(count));
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
