// SPDX-License-Identifier: Apache-2.0
// What the text of a contraction kernel says of its arguments: which results are the sums
// themselves, which one value per row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

/// A result whose elements are round(format, sum), nothing else.
struct SumResult {
  std::size_t argument;
  reference::RoundTo format;
  /// Of a result that is columns of a wider tensor: those of the tensor, and the first of its own.
  std::size_t pitch = 0, offset = 0;
};

/// Arguments are numbered as the launch passes them.
struct ContractionText {
  std::size_t lhs = 0, rhs = 0;
  bool transpose_lhs = false, transpose_rhs = false;
  std::optional<bool> promotes;  ///< of products of 8 bits, whether N14 is theirs or N13
  bool is_gathered = false;      ///< one of the two lies in memory as what it is gathered from
  std::string columns;           ///< "10", "symbol_time"
  std::string depth;             ///< a product: "128LL", "symbol_batch * symbol_time"
  std::string element_rows;  ///< likewise, of each of a batch's elements; empty where all are one
  std::vector<SumResult> sums;
  std::vector<std::size_t> rows;  ///< sums of lhs over k, class A
};

/// Empty when the text is no contraction's.
[[nodiscard]] std::optional<ContractionText> read_contraction(const std::string& text);

}  // namespace halftone::tests
