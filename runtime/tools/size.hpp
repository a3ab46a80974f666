// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes that may hang on symbols: sums of products such as 256*batch + 64.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halftone/manifest/plan.hpp"

namespace halftone::tools {

/// What --symbols bound, by index into Manifest::symbols.
using Binding = std::vector<std::optional<std::int64_t>>;

/// From "batch=32,time=8". Throws std::runtime_error for a symbol that is neither known nor among
/// those `elsewhere`, a number that is not positive or above a limit, or a symbol bound twice.
[[nodiscard]] Binding bind_symbols(const manifest::Manifest& manifest, const std::string& text,
                                   const std::vector<std::string>& elsewhere = {});

/// A dimension's number of parts where its symbol is bound, and in words where it is not:
/// "batch" or "ceil(batch/32)".
[[nodiscard]] std::int64_t parts_of(std::int64_t bound, std::int32_t divisor);
[[nodiscard]] std::string symbol_text(const std::string& symbol, std::int32_t divisor);

/// A polynomial in the symbols that are not bound. Throws std::runtime_error past 2^63.
class Size {
 public:
  Size() = default;

  /// Of a tensor with this shape and encoding; bound symbols are numbers.
  Size(std::span<const manifest::Dimension> shape, const manifest::Encoding& encoding,
       const Binding& binding);

  Size& operator+=(const Size& other);
  [[nodiscard]] bool operator==(const Size&) const = default;

  /// Nothing while a symbol is not bound.
  [[nodiscard]] std::optional<std::int64_t> value() const;

  /// "8192" or "256*batch + 64*ceil(batch/32)"
  [[nodiscard]] std::string text(const std::vector<std::string>& symbols) const;

 private:
  using Factor = std::pair<std::int32_t, std::int32_t>;  // a symbol and its divisor

  std::map<std::vector<Factor>, std::int64_t> terms_;  // by the sorted factors of a product
};

/// The program's arena, or nothing while one of its symbols is not bound; `has_own_memory` as
/// plan_arena() has it.
[[nodiscard]] std::optional<manifest::ArenaPlan> plan_of(const manifest::Program& program,
                                                         const Binding& binding,
                                                         bool has_own_memory = false);

}  // namespace halftone::tools
