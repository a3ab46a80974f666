// SPDX-License-Identifier: Apache-2.0
// How recorded tensors are compared, and the data that they were recorded from (numpy_rules.py).
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone::reference::tests {

/// The f32 bits of a tensor: its size, the FNV-1a hash over its patterns, and the first of them.
struct Bits {
  const char* name;
  std::size_t size;
  std::uint64_t hash;
  std::vector<std::uint32_t> first;
};

/// As data() of numpy_rules.py: values in [-1, 1].
template <class Scalar = double>
std::vector<Scalar> data(std::int64_t count, std::int64_t salt) {
  std::vector<Scalar> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t step = (i * (7919 + 613 * salt) + salt * 104729) % 2003 - 1001;
    values.push_back(static_cast<Scalar>(static_cast<float>(static_cast<double>(step) / 1000.0)));
  }
  return values;
}

/// As spread() of record_factors.py, or of record_scaled.py: data() times so many powers of two
/// around 2^power.
inline std::vector<float> spread(std::int64_t count, std::int64_t salt, int power,
                                 int powers = 21) {
  std::vector<float> values = data<float>(count, salt);
  for (std::int64_t i = 0; i < count; ++i) {
    float& value = values[static_cast<std::size_t>(i)];
    value = std::ldexp(value, static_cast<int>(i * 17 % powers) - powers / 2 + power);
  }
  return values;
}

/// The values have the bits that `table` records under the name.
inline void check_bits(std::span<const Bits> table, const std::string& name,
                       const std::vector<float>& values) {
  CAPTURE(name);
  const Bits* expected = nullptr;
  for (const Bits& bits : table) {
    if (bits.name == name) expected = &bits;
  }
  REQUIRE(expected != nullptr);
  REQUIRE(values.size() == expected->size);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values)
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3u;
  for (std::size_t i = 0; i < expected->first.size(); ++i) {
    CAPTURE(i);
    CHECK(std::bit_cast<std::uint32_t>(values[i]) == expected->first[i]);
  }
  CHECK(hash == expected->hash);
}

}  // namespace halftone::reference::tests
