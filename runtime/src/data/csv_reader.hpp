// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it: records of fields, which may stand in quotes; lines end in CR LF, LF or
// CR. Stricter than many: a quote inside of a field without quotes, text behind a closing quote and
// an empty line between records are faults.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::data {

struct CsvField {
  std::string_view text;  ///< between the quotes, where it has some
  bool doubles = false;   ///< has two quotes for every one
};

/// The file without a byte order mark and without the ends of its last lines.
[[nodiscard]] std::string_view csv_body(std::string_view file);

/// What the field means: its text with single quotes.
[[nodiscard]] std::string unquoted(const CsvField& field);

class CsvReader {
 public:
  /// Of a csv_body(), or a part of one.
  CsvReader(std::string_view text, char separator);

  /// The fields of the next record, which are views of the text. False at the end, and at a fault.
  [[nodiscard]] bool next(std::vector<CsvField>& fields);

  /// What is wrong, as the rest of a sentence; null where nothing is.
  [[nodiscard]] const char* fault() const { return fault_; }
  /// Where in the text it is wrong, or the last record begins.
  [[nodiscard]] std::size_t at() const { return begin_; }
  /// Where the next record begins.
  [[nodiscard]] std::size_t end() const { return at_; }

 private:
  [[nodiscard]] bool quoted(CsvField& field);
  [[nodiscard]] bool plain(CsvField& field);
  [[nodiscard]] bool fail(const char* fault, std::size_t at);
  [[nodiscard]] bool ends_line() const;
  void skip_line_end();

  std::string_view text_;
  char separator_;
  std::array<bool, 256> stops_{};  ///< where a field without quotes may end
  std::size_t at_ = 0, begin_ = 0;
  const char* fault_ = nullptr;
};

/// The text in up to `count` parts that end where records do, as quotes that come in pairs have it.
[[nodiscard]] std::vector<std::string_view> csv_parts(std::string_view text, std::size_t count);

/// The line, from 1, that a byte of the text lies in.
[[nodiscard]] std::size_t line_of(std::string_view text, std::size_t at);

}  // namespace halftone::data
