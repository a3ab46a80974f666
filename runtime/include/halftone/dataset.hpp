// SPDX-License-Identifier: Apache-2.0
// Rows to learn from: named columns in memory, in files that are mapped, or parsed from CSV. A
// Loader (loader.hpp) makes batches of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "halftone/values.hpp"

namespace halftone {

/// What an input takes. `by_source`: floats give f32; whole numbers i32, or f32 where a scale or an
/// offset is declared. All but f32 and i32 are handed over as the source has them, for inputs that
/// the model declares so (D8, D16).
enum class InputElement : std::uint8_t { by_source, f32, i32, u8, i8, u16, i16, i64, f16, bf16 };

/// How a source's values become an input's, while a batch is gathered. f32 is the nearest f32 of
/// the value, times scale, plus offset, each rounded; all else takes neither. A value that i32
/// cannot hold, or a finite one that f32 cannot, is an error with row and value; a source of other
/// elements than the rest of them is refused.
struct Conversion {
  InputElement to = InputElement::by_source;
  float scale = 1.0f, offset = 0.0f;
};

template <class T>
using VectorOf = std::vector<T>;

struct OwnedValues {
  std::string name;
  OfElements<VectorOf> values;
};

/// Columns of a CSV file: one or several that lie side by side, by name or by number from 0.
class CsvColumns {
 public:
  CsvColumns(const char* name) : first_(name) {}             // NOLINT: implicit, for lists
  CsvColumns(std::string name) : first_(std::move(name)) {}  // NOLINT: likewise
  CsvColumns(int number) : first_(number) {}                 // NOLINT: likewise
  /// From one to the other, both included.
  CsvColumns(const char* first, const char* last) : first_(first), last_(last) {}
  CsvColumns(int first, int last) : first_(first), last_(last) {}

  using Name = std::variant<std::string, int>;
  [[nodiscard]] const Name& first() const { return first_; }
  [[nodiscard]] const Name& last() const { return last_ == Name{} ? first_ : last_; }

 private:
  Name first_, last_;
};

/// An input of [rows, columns], or of [rows] for a single one. Text is read as f32, with
/// `.convert = {.to = InputElement::i32}` as i32, and where classes are listed as the number of the
/// class, from 0.
struct CsvInput {
  std::string input;
  std::vector<CsvColumns> columns;
  std::vector<std::string> classes = {};
  Conversion convert = {};
};

struct CsvOptions {
  bool header = true;  ///< the first record has the columns' names
  char separator = ',';
  int threads = 0;  ///< that parse; 0: as many as there are processors
};

/// The array of a .npy file (numpy.save), whose first extent is the rows.
struct NpyInput {
  std::string input;
  std::filesystem::path file;
  Conversion convert = {};
};

/// A tensor of a safetensors file, whose first extent is the rows; empty: it is called as the
/// input.
struct TensorInput {
  std::string input;
  std::string tensor = {};
  Conversion convert = {};
};

/// Windows of a file of tokens: row i is the `length` tokens from i * `stride` on.
struct TokenOptions {
  std::string input;         ///< of [rows, length], i32 unless `convert` says otherwise
  std::string targets = {};  ///< the same, one token further on; empty: none
  Size length;
  Size stride = 0;          ///< 0: as the length
  int token_bytes = 2;      ///< 2 or 4: u16 or u32, little-endian
  Size header_bytes = 0;    ///< that the file begins with
  Conversion convert = {};  ///< `.to = InputElement::u16` hands tokens of u16 over as they are
};

/// Windows of a series, for forecasts: row i is the `length` values from i * `stride` on, and those
/// `ahead` of them.
struct WindowOptions {
  std::string series;        ///< an input of the dataset, whose rows follow each other in time
  std::string input;         ///< [rows, length, ...]
  std::string targets = {};  ///< [rows, ahead, ...], the values behind each window; empty: none
  Size length;
  Size ahead = 1;
  Size stride = 1;
};

/// Immutable, and cheap to copy: copies share the data. Every method throws Error, naming culprit
/// and remedy. Mapped files are read when batches need them, a page at a time: nobody may change
/// them while a dataset lives, and one that becomes shorter ends the process (SIGBUS).
class Dataset {
 public:
  /// Values in the caller's memory, row-major, which must live and stay as they are for as long as
  /// datasets and loaders of them. Each has `rows` rows.
  [[nodiscard]] static Dataset view(std::initializer_list<NamedValues> values, Size rows);
  [[nodiscard]] static Dataset view(std::span<const NamedValues> values, Size rows);

  /// The same, owned.
  [[nodiscard]] static Dataset own(std::vector<OwnedValues> values, Size rows);

  /// A CSV file (RFC 4180; lines may end in LF or CR, too; UTF-8), parsed into memory at once: 4
  /// bytes a value. A missing value, text that is no number, a class that is not listed, and
  /// records of different lengths are errors with line and column.
  [[nodiscard]] static Dataset csv(const std::filesystem::path& file, std::vector<CsvInput> inputs,
                                   const CsvOptions& options = {});

  /// Arrays of .npy files, mapped.
  [[nodiscard]] static Dataset npy(std::vector<NpyInput> inputs);

  /// Tensors of a safetensors file, mapped.
  [[nodiscard]] static Dataset safetensors(const std::filesystem::path& file,
                                           std::vector<TensorInput> inputs);

  /// Tokens one behind another, mapped.
  [[nodiscard]] static Dataset tokens(const std::filesystem::path& file,
                                      const TokenOptions& options);

  /// Of one of its inputs; the windows lie in one another, so that they take no memory. Throws
  /// Error where rows are picked, by a split: split the windows instead.
  [[nodiscard]] Dataset windows(const WindowOptions& options) const;

  /// The inputs of both, row by row; both whole, neither slice nor split.
  [[nodiscard]] Dataset joined(const Dataset& other) const;

  /// Rows [first, first + count).
  [[nodiscard]] Dataset slice(Size first, Size count) const;

  struct Split;
  /// Puts round(share * rows) rows aside, which depend on the seed and the number of rows alone;
  /// both parts keep the order. A row's rank is drawn from seed and number, and those of the lowest
  /// rank are held out: rows that are added at the end move few others.
  [[nodiscard]] Split split(double held_out_share, std::uint64_t seed) const;

  [[nodiscard]] std::int64_t rows() const noexcept;
  [[nodiscard]] std::vector<std::string> inputs() const;
  /// Of one row; empty for a single number.
  [[nodiscard]] std::vector<std::int64_t> shape(std::string_view input) const;

  /// The runtime's own.
  struct Table;
  explicit Dataset(Table table);
  [[nodiscard]] const Table& table() const noexcept { return *table_; }

 private:
  std::shared_ptr<const Table> table_;
};

struct Dataset::Split {
  Dataset training, held_out;
};

}  // namespace halftone
