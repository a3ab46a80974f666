// SPDX-License-Identifier: Apache-2.0
// Matrices for the mma wrappers: drawn, laid out over the lanes of warps as the table in ptx.cuh
// says, and read back; and what the sums may be.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"
#include "wrapper_kernels.hpp"

namespace halftone::tests {

struct MmaShape {
  const char* kernel;
  description::Element format;
  int depth;                                                ///< k
  int a_words, b_words;                                     ///< of a lane
  std::optional<description::Element> of_b = std::nullopt;  ///< where that is another format

  [[nodiscard]] description::Element b() const { return of_b.value_or(format); }
  /// What its sums obey: N8 or N13.
  [[nodiscard]] const char* bound() const;
};

enum class Operands {
  exact,     ///< every order of summing gives the same f32
  tiny,      ///< likewise, with subnormal f16 operands
  ordinary,  ///< in [-1, 1)
  spread,    ///< times powers of two from 2^-12 to 2^12
};

/// So many products of a 16 x k by a k x 8 matrix, added to 16 x 8 sums: one for each warp.
class MmaCase {
 public:
  MmaCase(const MmaShape& shape, Operands operands, std::size_t warps, std::uint64_t seed);

  /// As the kernel reads them, thread by thread.
  [[nodiscard]] Words words() const;
  [[nodiscard]] std::uint32_t threads() const;

  /// Sentences about sums that are outside of N8 or N13, given the kernel's words.
  [[nodiscard]] std::vector<std::string> outside_bound(const Words& out) const;

  /// "warp 3, row 5, column 2" of a word that the kernel wrote.
  [[nodiscard]] static std::string place(std::size_t word);

 private:
  struct Matrices {
    std::vector<float> a, b, sums;  ///< (16, k), (8, k), (16, 8)
  };
  [[nodiscard]] Matrices draw(std::mt19937_64& random) const;
  [[nodiscard]] float operand(std::mt19937_64& random, description::Element format) const;
  [[nodiscard]] std::uint32_t packed(const std::vector<float>& matrix, description::Element format,
                                     int row, int word) const;

  MmaShape shape_;
  Operands operands_;
  std::vector<Matrices> warps_;
};

}  // namespace halftone::tests
