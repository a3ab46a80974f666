// SPDX-License-Identifier: Apache-2.0
// What a dataset is made of: columns whose rows lie at equal distances in memory, and which of the
// rows it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/dataset.hpp"

namespace halftone::data {

/// What a source stores, little-endian.
enum class Stored : std::uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };

struct StoredForm {
  const char* word;
  int bytes;
  bool integer;
};

[[nodiscard]] const StoredForm& form_of(Stored stored);

[[nodiscard]] const char* word_of(InputElement element);
/// Whether the loader makes it of other elements; all else it hands over as it is.
[[nodiscard]] bool is_converted(InputElement element);

/// The operation that errors of datasets begin with.
inline constexpr const char* kOperation = "dataset";

struct Column {
  std::string input;
  std::string source;               ///< for errors: "file 'x.npy'"
  std::vector<std::int64_t> shape;  ///< of a row
  std::int64_t count = 1;           ///< elements of a row
  Stored stored = Stored::f32;
  Conversion convert;                       ///< `to` is not by_source
  const std::byte* begin = nullptr;         ///< of row 0, at any alignment
  std::int64_t row_bytes = 0;               ///< from one row to the next
  std::shared_ptr<const void> memory = {};  ///< null where it is the caller's
};

/// A column of rows of that shape, densely packed. Throws Error where the conversion is none that
/// the stored elements can take.
[[nodiscard]] Column make_column(std::string input, std::string source,
                                 std::vector<std::int64_t> shape, Stored stored,
                                 const Conversion& convert);

/// The same for an array of a file, [rows, ...]; `rows` is -1 or what columns before had.
[[nodiscard]] Column make_array_column(std::string input, std::string source,
                                       const std::vector<std::int64_t>& extents, Stored stored,
                                       const Conversion& convert, std::int64_t& rows);

/// "f32[28, 28]", "i32".
[[nodiscard]] std::string form_text(const Column& column);

}  // namespace halftone::data

namespace halftone {

struct Dataset::Table {
  std::vector<data::Column> columns;
  std::int64_t rows = 0;
  /// Row i is row (*picked)[first + i] of the source; first + i where none are picked.
  std::int64_t first = 0;
  std::shared_ptr<const std::vector<std::int64_t>> picked = {};
  std::string selection = {};  ///< what slices and splits made of it, in words

  [[nodiscard]] std::int64_t source_row(std::int64_t row) const {
    return picked ? (*picked)[static_cast<std::size_t>(first + row)] : first + row;
  }
  /// Names, forms, rows and selection: what two runs must have in common to give equal batches.
  [[nodiscard]] std::string form() const;
};

}  // namespace halftone
