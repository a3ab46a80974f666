// SPDX-License-Identifier: Apache-2.0
// P81 and P103: the reference's codes and scales against numpy's, channels along either dimension.
#include "quantization.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quantized_expected.hpp"

namespace halftone::tests {
namespace {

using description::Quantization;

float real(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
}

Quantization how(const QuantizedChannel& channel) {
  return {channel.element,
          channel.least_error ? Quantization::Scale::least_error : Quantization::Scale::maximum};
}

/// Two channels: that of the case, and one of halves.
void check(const QuantizedChannel& channel, int dimension) {
  const auto size = static_cast<std::int64_t>(channel.weights.size());
  std::vector<std::int64_t> extents{2, size};
  if (dimension == 1) extents = {size, 2};
  std::vector<float> weights(2 * channel.weights.size());
  const auto place = [&](std::size_t of, std::size_t e) {
    return dimension == 0 ? of * channel.weights.size() + e : e * 2 + of;
  };
  for (std::size_t e = 0; e < channel.weights.size(); ++e) {
    weights[place(0, e)] = real(channel.weights[e]);
    weights[place(1, e)] = 0.5f;
  }
  std::vector<double> squares(channel.squares.empty() ? 0 : weights.size(), 1.0);
  for (std::size_t e = 0; e < channel.squares.size(); ++e)
    squares[place(0, e)] = channel.squares[e];
  const auto held = reference::quantized(how(channel), dimension, extents,
                                         std::span<const float>(weights), squares);
  REQUIRE(held.scales.size() == 2);
  CHECK(bits(held.scales[0]) == channel.scale);
  for (std::size_t e = 0; e < channel.codes.size(); ++e) {
    CAPTURE(e);
    CHECK(bits(held.codes[place(0, e)]) == channel.codes[e]);
    CHECK(held.codes[place(1, e)] == (channel.element == encoding::Element::i8 ? 127.0f : 448.0f));
  }
}

}  // namespace

TEST_CASE("codes and scales of a channel are numpy's") {
  for (const QuantizedChannel& channel : quantized_channels())
    for (const int dimension : {0, 1}) {
      CAPTURE(std::string(channel.name));
      CAPTURE(channel.least_error);
      CAPTURE(dimension);
      check(channel, dimension);
    }
}

TEST_CASE("some of the least errors are by smaller scales") {
  int smaller = 0;
  for (std::size_t i = 0; i + 1 < quantized_channels().size(); ++i) {
    const QuantizedChannel &plain = quantized_channels()[i], &sought = quantized_channels()[i + 1];
    if (!plain.least_error && sought.least_error && real(sought.scale) < real(plain.scale))
      ++smaller;
  }
  CHECK(smaller > 0);
}

}  // namespace halftone::tests
