// SPDX-License-Identifier: Apache-2.0
#include "quantization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halftone/reference/rounding.hpp"
#include "node_kinds.hpp"

namespace halftone::reference {
namespace {

using description::Description;
using description::Element;
using description::Node;
using description::NodeId;
using description::Operand;
using description::Quantization;

constexpr float kLeastScale = 0x1p-126f;

int columns_in(const Description& description, const Node& layer, const Operand& read) {
  return columns_of_products(layer, read.role,
                             description.nodes[static_cast<std::size_t>(read.node)].shape.size());
}

std::int64_t count_channels(int dimension, std::span<const std::int64_t> extents) {
  return extents[static_cast<std::size_t>(dimension)];
}

float code_of(Element element, float weight, float scale) {
  const float quotient = weight / scale;
  if (element == Element::i8) {
    const float nearest = std::clamp(std::nearbyint(quotient), -127.0f, 127.0f);
    return static_cast<float>(static_cast<int>(nearest));
  }
  return round({element, description::Rounding::nearest_even, true}, quotient);
}

float largest_of(Element element) { return element == Element::i8 ? 127.0f : 448.0f; }

double squared_error(Element element, std::span<const float> weights,
                     std::span<const double> squares, float scale) {
  double sum = 0;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    const double off = static_cast<double>(weights[e]) -
                       static_cast<double>(code_of(element, weights[e], scale)) * scale;
    sum += squares.empty() ? off * off : squares[e] * (off * off);  // P103
  }
  return sum;
}

float scale_of_channel(Quantization how, std::span<const float> weights,
                       std::span<const double> squares) {
  float most = 0;
  for (const float weight : weights) {
    if (!std::isfinite(weight)) return std::numeric_limits<float>::quiet_NaN();
    most = std::max(most, std::fabs(weight));
  }
  const float whole = std::max(most / largest_of(how.element), kLeastScale);
  if (how.scale == Quantization::Scale::maximum) return whole;
  float best = whole;
  double least = squared_error(how.element, weights, squares, whole);
  for (int step = 1; step <= 32; ++step) {
    const float share = 1.0f - static_cast<float>(step) / 64.0f;
    const float scale = std::max(whole * share, kLeastScale);
    const double error = squared_error(how.element, weights, squares, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

}  // namespace

int channel_dimension(const Description& description, NodeId parameter) {
  bool is_read = false;
  for (const Node& layer : description.nodes) {
    for (const Operand& operand : layer.operands) {
      if (operand.node != parameter) continue;
      if (columns_in(description, layer, operand) != 1) return 0;
      is_read = true;
    }
  }
  return is_read ? 1 : 0;
}

bool scales_sums(const Description& description, NodeId layer, const Operand& weight) {
  return columns_in(description, description.nodes[static_cast<std::size_t>(layer)], weight) ==
         channel_dimension(description, weight.node);
}

std::size_t channel_of(std::size_t e, int dimension, std::span<const std::int64_t> extents) {
  std::size_t behind = 1;
  for (std::size_t d = static_cast<std::size_t>(dimension) + 1; d < extents.size(); ++d)
    behind *= static_cast<std::size_t>(extents[d]);
  return e / behind % static_cast<std::size_t>(extents[static_cast<std::size_t>(dimension)]);
}

Quantized<float> quantized(Quantization how, int dimension, std::span<const std::int64_t> extents,
                           std::span<const float> weights, std::span<const double> squares) {
  struct Channel {
    std::vector<float> weights;
    std::vector<double> squares;
  };
  std::vector<Channel> channels(static_cast<std::size_t>(count_channels(dimension, extents)));
  for (std::size_t e = 0; e < weights.size(); ++e) {
    Channel& channel = channels[channel_of(e, dimension, extents)];
    channel.weights.push_back(weights[e]);
    if (!squares.empty()) channel.squares.push_back(squares[e]);
  }
  Quantized<float> result;
  for (const Channel& channel : channels)
    result.scales.push_back(scale_of_channel(how, channel.weights, channel.squares));
  for (std::size_t e = 0; e < weights.size(); ++e) {
    const float scale = result.scales[channel_of(e, dimension, extents)];
    result.codes.push_back(std::isnan(scale) ? 0.0f : code_of(how.element, weights[e], scale));
  }
  return result;
}

Quantized<double> quantized(Quantization, int dimension, std::span<const std::int64_t> extents,
                            std::span<const double> weights) {
  return {{weights.begin(), weights.end()},
          std::vector<double>(static_cast<std::size_t>(count_channels(dimension, extents)), 1.0)};
}

Quantized<Bounded> quantized(Quantization how, int dimension, std::span<const std::int64_t> extents,
                             std::span<const Bounded> weights) {
  std::vector<float> known;
  for (const Bounded& weight : weights) {
    Bounded::require_decided(weight.error == 0);
    known.push_back(static_cast<float>(weight.value));
  }
  const Quantized<float> declared =
      quantized(how, dimension, extents, std::span<const float>(known));
  Quantized<Bounded> result;
  for (const float scale : declared.scales) result.scales.emplace_back(static_cast<double>(scale));
  for (std::size_t e = 0; e < weights.size(); ++e) {
    Bounded& code = result.codes.emplace_back();
    code.value = weights[e].value / result.scales[channel_of(e, dimension, extents)].value;
    code.error = std::fabs(static_cast<double>(declared.codes[e]) - code.value);
  }
  return result;
}

}  // namespace halftone::reference
