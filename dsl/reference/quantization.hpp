// SPDX-License-Identifier: Apache-2.0
// Weights as a predictor holds them, codes of 8 bits and a scale for each channel: P80 to P82 of
// docs/spec/precision.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/reference/bounded.hpp"

namespace halftone::reference {

/// A weight is what a code stands for times its channel's scale, or near it.
template <class Scalar>
struct Quantized {
  std::vector<Scalar> codes;   ///< what each stands for, in the weight's order
  std::vector<Scalar> scales;  ///< one for each channel
};

/// P81: the dimension of a parameter that its channels are counted along, 0 or 1.
[[nodiscard]] int channel_dimension(const description::Description& description,
                                    description::NodeId parameter);

/// P82: whether the layer multiplies by codes what it sums, and the sums by scales.
[[nodiscard]] bool scales_sums(const description::Description& description,
                               description::NodeId layer, const description::Operand& weight);

/// P81, of a weight of these extents; P103 where a calibration has a sum of squares for each of its
/// elements. Exact evaluation knows no codes: each weight is its own.
[[nodiscard]] Quantized<float> quantized(description::Quantization how, int dimension,
                                         std::span<const std::int64_t> extents,
                                         std::span<const float> weights,
                                         std::span<const double> squares = {});
[[nodiscard]] Quantized<double> quantized(description::Quantization how, int dimension,
                                          std::span<const std::int64_t> extents,
                                          std::span<const double> weights);
/// Throws std::domain_error where a weight is not exactly known.
[[nodiscard]] Quantized<Bounded> quantized(description::Quantization how, int dimension,
                                           std::span<const std::int64_t> extents,
                                           std::span<const Bounded> weights);

/// The channel of element e.
[[nodiscard]] std::size_t channel_of(std::size_t e, int dimension,
                                     std::span<const std::int64_t> extents);

}  // namespace halftone::reference
