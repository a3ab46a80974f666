// SPDX-License-Identifier: Apache-2.0
#include "initialize.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "floating_point.hpp"
#include "halftone/manifest/checksum.hpp"
#include "philox.hpp"

namespace halftone {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

double unit_uniform(const PhiloxCounter& words) { return (words[0] >> 8) * 0x1p-24; }

double unit_normal(const PhiloxCounter& words) {
  const double u = words[0] * 0x1p-32 + (words[1] + 0.5) * 0x1p-64;  // never 0
  const double v = words[2] * 0x1p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace

void initialize(std::span<float> values, const manifest::Initializer& initializer,
                std::uint64_t seed, std::string_view name) {
  const StandardFloatingPoint mode;
  using Kind = manifest::Initializer::Kind;
  const double first = initializer.first, second = initializer.second;
  if (initializer.kind == Kind::constant) {
    std::ranges::fill(values, static_cast<float>(first));
    return;
  }
  const std::uint64_t stream = manifest::hash_of(name);
  for (std::uint64_t e = 0; e < values.size(); ++e) {
    const PhiloxCounter words =
        philox4x32({low(e), high(e), low(stream), high(stream)}, {low(seed), high(seed)});
    const double value = initializer.kind == Kind::uniform
                             ? first + (second - first) * unit_uniform(words)
                             : first + second * unit_normal(words);
    values[e] = static_cast<float>(value);
  }
}

}  // namespace halftone
