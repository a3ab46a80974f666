// SPDX-License-Identifier: Apache-2.0
// P81 and P103 as the runtime computes them: codes and scales against numpy's, and what they stand
// for.
#include "quantized_weights.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats.hpp"
#include "quantized_expected.hpp"

namespace halftone::tests {
namespace {

using encoding::Element;

float real(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
}

float number_of(Element element, std::byte code) {
  return element == Element::i8 ? static_cast<float>(static_cast<std::int8_t>(code))
                                : value_of(element, static_cast<std::uint32_t>(code));
}

/// Three channels, of which that of the case is the second; `behind` neighbours of each follow one
/// another.
void check(const QuantizedChannel& channel, std::size_t behind) {
  const std::size_t size = channel.weights.size();
  HeldWeight how{.element = channel.element,
                 .least_error = channel.least_error,
                 .channels = 3,
                 .behind = static_cast<std::int64_t>(behind)};
  std::vector<float> values(3 * size, -2.0f);
  const auto place = [&](std::size_t e) { return (e / behind * 3 + 1) * behind + e % behind; };
  for (std::size_t e = 0; e < size; ++e) values[place(e)] = real(channel.weights[e]);
  std::vector<double> squares(channel.squares.empty() ? 0 : values.size(), 1.0);
  for (std::size_t e = 0; e < channel.squares.size(); ++e) squares[place(e)] = channel.squares[e];
  const QuantizedValues held = quantize(how, values, squares);
  REQUIRE(held.scales.size() == 3);
  REQUIRE(held.codes.size() == values.size());
  CHECK(bits(held.scales[1]) == channel.scale);
  for (std::size_t e = 0; e < size; ++e) {
    CAPTURE(e);
    CHECK(bits(number_of(channel.element, held.codes[place(e)])) == channel.codes[e]);
  }
  std::vector<float> again(values.size());
  dequantize(how, held.codes.data(), std::as_bytes(std::span(held.scales)).data(), again);
  for (std::size_t e = 0; e < size; ++e)
    CHECK(bits(again[place(e)]) == bits(real(channel.codes[e]) * real(channel.scale)));
  if (!std::isnan(real(channel.scale)) && !channel.least_error) {  // P83
    CHECK(quantize(how, again).codes == held.codes);
  }
}

}  // namespace

TEST_CASE("codes and scales are numpy's, wherever a channel's values lie") {
  for (const QuantizedChannel& channel : quantized_channels())
    for (const std::size_t behind : {1, 4, 24}) {
      CAPTURE(std::string(channel.name));
      CAPTURE(channel.least_error);
      CAPTURE(behind);
      check(channel, behind);
    }
}

}  // namespace halftone::tests
