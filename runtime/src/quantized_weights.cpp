// SPDX-License-Identifier: Apache-2.0
#include "quantized_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "floating_point.hpp"
#include "formats.hpp"

namespace halftone {
namespace {

using encoding::Element;

constexpr float kLeastScale = 0x1p-126f;
/// The shares of the scale by the maximum that are tried: 1, 63/64, ... 32/64.
constexpr std::size_t kShares = 33;
constexpr float share_of(std::size_t step) { return 1.0f - static_cast<float>(step) / 64.0f; }

float largest_of(Element element) { return element == Element::i8 ? 127.0f : 448.0f; }

std::byte code_of(Element element, float value, float scale) {
  const float quotient = value / scale;
  if (element != Element::i8) return static_cast<std::byte>(narrowed(element, quotient, true));
  const float nearest = std::clamp(std::nearbyint(quotient), -127.0f, 127.0f);
  return static_cast<std::byte>(static_cast<std::int8_t>(nearest));
}

float number_of(Element element, std::byte code) {
  return element == Element::i8 ? static_cast<float>(static_cast<std::int8_t>(code))
                                : value_of(element, static_cast<std::uint32_t>(code));
}

/// NaN where a value of the channel is not finite.
std::vector<float> maxima_of(const HeldWeight& how, std::span<const float> values) {
  std::vector<float> maxima(static_cast<std::size_t>(how.channels), 0.0f);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& most = maxima[how.channel_of(i)];
    if (!std::isfinite(values[i])) most = std::numeric_limits<float>::quiet_NaN();
    if (std::fabs(values[i]) > most) most = std::fabs(values[i]);
  }
  return maxima;
}

/// Of the shares of each channel's scale that which leaves the least squared error, times `squares`
/// where there are any, summed in f64 in the order of the values; of equal ones the largest.
void seek_least_error(const HeldWeight& how, std::span<const float> values,
                      std::span<const double> squares, std::vector<float>& scales) {
  std::vector<std::array<double, kShares>> errors(scales.size());
  const auto scale_at = [&](std::size_t channel, std::size_t step) {
    return std::max(scales[channel] * share_of(step), kLeastScale);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = how.channel_of(i);
    if (std::isnan(scales[channel])) continue;
    for (std::size_t step = 0; step < kShares; ++step) {
      const float scale = scale_at(channel, step);
      const double held =
          static_cast<double>(number_of(how.element, code_of(how.element, values[i], scale))) *
          static_cast<double>(scale);
      const double off = static_cast<double>(values[i]) - held;
      errors[channel][step] += squares.empty() ? off * off : squares[i] * (off * off);
    }
  }
  for (std::size_t channel = 0; channel < scales.size(); ++channel) {
    if (std::isnan(scales[channel])) continue;
    const auto least = std::ranges::min_element(errors[channel]);
    scales[channel] = scale_at(channel, static_cast<std::size_t>(least - errors[channel].begin()));
  }
}

}  // namespace

QuantizedValues quantize(const HeldWeight& how, std::span<const float> values,
                         std::span<const double> squares) {
  const StandardFloatingPoint mode;
  QuantizedValues held;
  held.scales = maxima_of(how, values);
  for (float& scale : held.scales) {
    if (!std::isnan(scale)) scale = std::max(scale / largest_of(how.element), kLeastScale);
  }
  if (how.least_error) seek_least_error(how, values, squares, held.scales);
  held.codes.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scale = held.scales[how.channel_of(i)];
    held.codes.push_back(std::isnan(scale) ? std::byte{0} : code_of(how.element, values[i], scale));
  }
  return held;
}

void dequantize(const HeldWeight& how, const std::byte* codes, const std::byte* scales,
                std::span<float> values) {
  const StandardFloatingPoint mode;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float scale = 0;
    std::memcpy(&scale, scales + how.channel_of(i) * sizeof scale, sizeof scale);
    values[i] = number_of(how.element, codes[i]) * scale;
  }
}

}  // namespace halftone
