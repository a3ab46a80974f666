// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "../text.hpp"

namespace halftone::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kVersionBytes = 2, kAlignment = 64, kMostDimensions = 64;

/// The part of Python's literals (ast.literal_eval) that headers are written in: one dictionary of
/// strings, True and False, and tuples of whole numbers. Every method is false once something is
/// wrong; fault() then says what.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  [[nodiscard]] bool read(Header& header) {
    if (!expect('{')) return false;
    for (int entries = 0; !next_is('}'); ++entries) {
      if (entries > 0 && (!expect(',') || next_is('}'))) break;
      std::string key;
      if (!string(key) || !expect(':') || !value_of(key, header)) return false;
    }
    if (!expect('}')) return false;
    skip_space();
    if (at_ != text_.size()) return fail("goes on behind its end");
    return (has_type_ && has_order_ && has_shape_) ||
           fail("lacks one of 'descr', 'fortran_order' and 'shape'");
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// What 'descr' is; parse() says whether elements of that type are read.
  [[nodiscard]] const std::string& type() const { return type_; }

 private:
  bool value_of(const std::string& key, Header& header) {
    if (key == "descr") return once(has_type_, key) && type_word();
    if (key == "fortran_order") return once(has_order_, key) && truth(header.fortran_order);
    if (key == "shape") return once(has_shape_, key) && tuple(header.shape);
    return fail("has " + shown(key) + ", which is none of descr, fortran_order, shape");
  }

  bool once(bool& has, const std::string& key) {
    if (has) return fail("has " + shown(key) + " twice");
    return has = true;
  }

  bool fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault) + " at byte " + std::to_string(at_);
    return false;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
  }
  [[nodiscard]] bool next_is(char token) {
    skip_space();
    return at_ < text_.size() && text_[at_] == token;
  }
  bool expect(char token) {
    if (!next_is(token)) return fail(std::string("lacks '") + token + "'");
    ++at_;
    return true;
  }

  /// Without escapes, which no name of a type has.
  bool string(std::string& value) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') return fail("lacks a string");
    const std::size_t end = text_.find_first_of(std::string{quote, '\\', '\n'}, at_ + 1);
    if (end == text_.npos || text_[end] != quote) return fail("has a string without an end");
    value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  bool type_word() {
    if (next_is('[')) return fail("describes records, not numbers");
    return string(type_);
  }

  bool truth(bool& value) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    value = rest.starts_with("True");
    if (!value && !rest.starts_with("False")) return fail("lacks True or False");
    at_ += value ? 4 : 5;
    return true;
  }

  /// "()", "(3,)", "(3, 4)"; Python 2 wrote "(3L,)".
  bool tuple(std::vector<std::int64_t>& values) {
    if (!expect('(')) return false;
    bool ends_with_comma = false;
    while (!next_is(')')) {
      if (!values.empty() && !ends_with_comma) return fail("lacks ','");
      if (values.size() == kMostDimensions) return fail("has more than 64 dimensions");
      if (!number(values)) return false;
      ends_with_comma = next_is(',');
      if (ends_with_comma) ++at_;
    }
    if (values.size() == 1 && !ends_with_comma) return fail("has a shape that is no tuple");
    return expect(')');
  }

  bool number(std::vector<std::int64_t>& values) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const auto length = static_cast<std::size_t>(end - rest.data());
    const bool leads_with_zero = length > 1 && rest[0] == '0' && value != 0;
    if (error != std::errc{} || value < 0 || rest[0] == '-' || leads_with_zero)
      return fail("lacks a whole number from 0 to 2^63 - 1");
    at_ += length;
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    values.push_back(value);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_, type_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

/// Empty where elements of this type are read; otherwise the rest of a sentence.
std::string set_type(const std::string& word, Header& header) {
  const std::string_view rest = std::string_view(word).substr(word.empty() ? 0 : 1);
  const auto* const found = std::ranges::find(kTypes, rest, &TypeForm::word);
  const char order = word.empty() ? ' ' : word[0];
  if (found == std::end(kTypes) || std::string_view("<>|=").find(order) == std::string_view::npos)
    return "has elements of type " + shown(word) +
           ", which are none of bool, int8 to int64, uint8 to uint64 and float16 to float64";
  if (order == '>' && found->bytes > 1) return "has elements in big-endian order, " + shown(word);
  header.type = static_cast<Type>(found - std::begin(kTypes));
  return {};
}

/// Likewise where the elements are all that the file has behind its header.
std::string set_elements(std::uint64_t data_bytes, Header& header) {
  const auto bytes = static_cast<std::uint64_t>(form(header.type).bytes);
  const bool is_empty = std::ranges::find(header.shape, 0) != header.shape.end();
  unsigned __int128 elements = is_empty ? 0 : 1;
  for (const std::int64_t extent : header.shape) {
    elements *= static_cast<std::uint64_t>(extent);
    if (elements > std::numeric_limits<std::uint64_t>::max() / bytes)
      return "has a shape of more than 2^64 bytes";
  }
  header.elements = static_cast<std::uint64_t>(elements);
  if (header.elements * bytes == data_bytes) return {};
  return "has " + std::to_string(data_bytes) + " bytes behind its header, but its array takes " +
         std::to_string(header.elements * bytes);
}

}  // namespace

bool parse(std::span<const std::byte> file, Header& header, std::string& why) {
  header = {};
  const auto refuse = [&](std::string fault) {
    why = std::move(fault);
    header = {};
    return false;
  };
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return refuse("does not begin as a .npy file does");
  constexpr std::size_t kLengthAt = kMagic.size() + kVersionBytes;
  if (text.size() < kLengthAt) return refuse("ends inside its header");
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned major = byte(kMagic.size()), minor = byte(kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    return refuse("is of version " + std::to_string(major) + "." + std::to_string(minor) +
                  " of the format; 1.0, 2.0 and 3.0 are known");
  const std::size_t length_bytes = major == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  const std::size_t header_at = kLengthAt + length_bytes;
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(kLengthAt + i);
  if (text.size() < header_at || length > text.size() - header_at)
    return refuse("ends inside its header");
  Dictionary dictionary(text.substr(header_at, length));
  if (!dictionary.read(header)) return refuse("has a header that " + dictionary.fault());
  header.data_at = header_at + length;
  std::string fault = set_type(dictionary.type(), header);
  if (fault.empty()) fault = set_elements(file.size() - header.data_at, header);
  return fault.empty() || refuse(std::move(fault));
}

std::string print(Type type, std::span<const std::int64_t> shape) {
  std::string dictionary = "{'descr': '";
  dictionary += form(type).bytes > 1 ? '<' : '|';
  dictionary += form(type).word;
  dictionary += "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i)
    dictionary += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  dictionary += shape.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t kFront = kMagic.size() + kVersionBytes + 2, kMostDigits = 21;
  if (!shape.empty())  // room in which the first extent may grow
    dictionary.append(kMostDigits - std::to_string(shape[0]).size(), ' ');
  const std::size_t end = kFront + dictionary.size() + 1;  // with the line's
  dictionary.append(kAlignment - end % kAlignment, ' ') += '\n';
  std::string text(kMagic);
  text += {'\1', '\0'};
  text += {static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return text + dictionary;
}

}  // namespace halftone::npy
