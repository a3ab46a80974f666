// SPDX-License-Identifier: Apache-2.0
// Blocks times a Hadamard matrix with signs, before they are scaled (P105).
#pragma once

#include <array>
#include <cstddef>

#include "rounded_operand.hpp"

namespace halftone::reference {

/// In place: the fast Walsh-Hadamard transform of the numbers times a quarter of a sign each.
template <class Scalar>
void rotate(std::array<Scalar, 16>& block) {
  for (const std::size_t r : {3, 5, 6, 7, 8, 9, 10, 12, 14, 15}) block[r] = -block[r];
  for (Scalar& number : block) number = number * Scalar(0.25f);
  for (std::size_t stride = 1; stride < block.size(); stride *= 2) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      if ((i & stride) != 0) continue;
      const Scalar a = block[i], b = block[i + stride];
      block[i] = a + b;
      block[i + stride] = a - b;
    }
  }
}

/// What is rounded in the place of the values: whole blocks rotated, all in bf16.
template <class Scalar>
Values<Scalar> rotated(const RoundTo& to, Values<Scalar> values, const Matrices& of) {
  for (const std::vector<std::size_t>& places : groups_of(to.scaling, of, values.size())) {
    std::array<Scalar, 16> block;
    if (places.size() < block.size()) continue;
    for (std::size_t r = 0; r < block.size(); ++r) block[r] = values[places[r]];
    rotate(block);
    for (std::size_t c = 0; c < block.size(); ++c) values[places[c]] = block[c];
  }
  for (Scalar& value : values) value = round({description::Element::bf16}, value);
  return values;
}
/// Exact evaluation knows no formats: products of rotated blocks are those of the blocks.
inline Values<double> rotated(const RoundTo&, Values<double> values, const Matrices&) {
  return values;
}

}  // namespace halftone::reference
