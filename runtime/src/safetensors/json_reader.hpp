// SPDX-License-Identifier: Apache-2.0
// The part of JSON (RFC 8259) that headers of safetensors are written in: objects, arrays, strings
// and whole numbers, read in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace halftone::safetensors {

/// Every method is false once something is wrong; fault() then says what, and where.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// Calls `member` behind every name; it must read the value.
  [[nodiscard]] bool object(const std::function<bool(std::string name)>& member);
  /// Calls `element` before every element; it must read it.
  [[nodiscard]] bool array(const std::function<bool()>& element);
  /// UTF-8; what escapes stand for, not the escapes.
  [[nodiscard]] bool string(std::string& value);
  [[nodiscard]] bool number(std::uint64_t& value);
  /// Nothing but white space is left.
  [[nodiscard]] bool end();

  /// For faults that callbacks find: says so, and is false. The first fault stays.
  bool fail(std::string fault);
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void skip_space();
  bool expect(char token);
  [[nodiscard]] bool next_is(char token);
  bool items(char open, char close, const std::function<bool()>& item);
  bool escape(std::string& value);
  bool code_unit(std::uint32_t& unit);
  bool character(std::string& value);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

}  // namespace halftone::safetensors
