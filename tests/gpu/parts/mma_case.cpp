// SPDX-License-Identifier: Apache-2.0
#include "mma_case.hpp"

#include <bit>
#include <cmath>

#include "class_b.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

using description::Element;

namespace {

constexpr int kRows = 16, kColumns = 8, kLanes = 32, kSums = 4;

int row_of(int lane, int sum) { return lane / 4 + (sum / 2) * 8; }
int column_of(int lane, int sum) { return 2 * (lane % 4) + sum % 2; }

bool is_of_8_bits(Element format) { return encoding::traits(format).bits == 8; }

float uniform(std::mt19937_64& random) {
  return static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f;
}

}  // namespace

const char* MmaShape::bound() const { return is_of_8_bits(format) ? "N13" : "N8"; }

MmaCase::MmaCase(const MmaShape& shape, Operands operands, std::size_t warps, std::uint64_t seed)
    : shape_(shape), operands_(operands) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < warps; ++i) warps_.push_back(draw(random));
}

float MmaCase::operand(std::mt19937_64& random, Element format) const {
  const int most = format == Element::f8e5m2 ? 4 : 16;  // of which it has all smaller ones
  const float multiple = static_cast<float>(static_cast<int>(random() % (2 * most + 1)) - most);
  if (operands_ == Operands::exact) return multiple / 8;
  if (operands_ == Operands::tiny) return multiple * 0x1p-24f;
  float value = uniform(random);
  if (operands_ == Operands::spread)
    value = is_of_8_bits(format) ? std::ldexp(value, static_cast<int>(random() % 13) - 6)
                                 : std::ldexp(value, static_cast<int>(random() % 25) - 12);
  return reference::round({format}, value);
}

MmaCase::Matrices MmaCase::draw(std::mt19937_64& random) const {
  Matrices drawn;
  for (int i = 0; i < kRows * shape_.depth; ++i) drawn.a.push_back(operand(random, shape_.format));
  for (int i = 0; i < kColumns * shape_.depth; ++i) drawn.b.push_back(operand(random, shape_.b()));
  for (int i = 0; i < kRows * kColumns; ++i) {
    const float multiple = static_cast<float>(static_cast<int>(random() % 65) - 32);
    drawn.sums.push_back(operands_ == Operands::exact  ? multiple / 64
                         : operands_ == Operands::tiny ? multiple * 0x1p-48f
                                                       : uniform(random));
  }
  return drawn;
}

std::uint32_t MmaCase::packed(const std::vector<float>& matrix, Element format, int row,
                              int word) const {
  const auto at = [&](int k) { return matrix[static_cast<std::size_t>(row * shape_.depth + k)]; };
  if (format == Element::tf32) return std::bit_cast<std::uint32_t>(at(word));
  const int bits = encoding::traits(format).bits, count = 32 / bits;
  std::uint32_t codes = 0;
  for (int i = 0; i < count; ++i)
    codes |= static_cast<std::uint32_t>(reference::encode({format}, at(count * word + i)))
             << (bits * i);
  return codes;
}

Words MmaCase::words() const {
  Words words;
  for (const Matrices& matrices : warps_) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < shape_.a_words; ++i)
        words.push_back(
            packed(matrices.a, shape_.format, lane / 4 + (i % 2) * 8, lane % 4 + (i / 2) * 4));
      for (int i = 0; i < shape_.b_words; ++i)
        words.push_back(packed(matrices.b, shape_.b(), lane / 4, lane % 4 + i * 4));
      for (int i = 0; i < kSums; ++i)
        words.push_back(std::bit_cast<std::uint32_t>(matrices.sums[static_cast<std::size_t>(
            row_of(lane, i) * kColumns + column_of(lane, i))]));
    }
  }
  return words;
}

std::uint32_t MmaCase::threads() const {
  return static_cast<std::uint32_t>(warps_.size()) * kLanes;
}

std::string MmaCase::place(std::size_t word) {
  const int lane = static_cast<int>(word / kSums % kLanes), sum = static_cast<int>(word % kSums);
  return "warp " + std::to_string(word / (kSums * kLanes)) + ", row " +
         std::to_string(row_of(lane, sum)) + ", column " + std::to_string(column_of(lane, sum));
}

std::vector<std::string> MmaCase::outside_bound(const Words& out) const {
  std::vector<std::string> wrong;
  for (std::size_t word = 0; word < out.size(); ++word) {
    const Matrices& matrices = warps_[word / (kSums * kLanes)];
    const int lane = static_cast<int>(word / kSums % kLanes), sum = static_cast<int>(word % kSums);
    const int row = row_of(lane, sum), column = column_of(lane, sum), depth = shape_.depth;
    std::vector<float> a(matrices.a.begin() + row * depth, matrices.a.begin() + (row + 1) * depth);
    std::vector<float> b(matrices.b.begin() + column * depth,
                         matrices.b.begin() + (column + 1) * depth);
    a.push_back(matrices.sums[static_cast<std::size_t>(row * kColumns + column)]);
    b.push_back(1.0f);
    const ClassB bound =
        class_b(a, b, {}, is_of_8_bits(shape_.format) ? Sums::kept : Sums::toward_zero);
    const float got = std::bit_cast<float>(out[word]);
    if (!bound.holds(got))
      wrong.push_back(std::string(shape_.kernel) + ", " + place(word) + ": expected " +
                      std::to_string(bound.low) + " to " + std::to_string(bound.high) + ", got " +
                      std::to_string(got));
  }
  return wrong;
}

}  // namespace halftone::tests
