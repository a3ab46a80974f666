// SPDX-License-Identifier: Apache-2.0
// Operands and declarations: PTX ISA 9.0, chapters 4 and 5.
#include <algorithm>
#include <bit>
#include <charconv>

#include "halftone/simulator/error.hpp"
#include "syntax_text.hpp"

namespace halftone::simulator::syntax {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void fail(std::uint32_t line, const std::string& what) {
  throw Error("PTX line " + std::to_string(line) + ": " + what);
}

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty() || !parts.empty())
    parts.push_back(last);
  return parts;
}

std::optional<std::uint64_t> integer_of(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

namespace {

void parse_memory(std::string_view inside, std::uint32_t line, int depth, Operand& operand) {
  operand.kind = Operand::Kind::memory;
  const auto parts = split_outside(inside, ',');
  if (parts.empty()) fail(line, "an address is empty");
  for (std::size_t i = 1; i < parts.size(); ++i)
    operand.parts.push_back(parse_operand(parts[i], line, depth + 1));
  std::string_view base = parts[0];
  const std::size_t sign = base.find_first_of("+-", 1);
  if (sign != std::string_view::npos) {
    std::string_view offset = trimmed(base.substr(sign + 1));
    const bool minus = base[sign] == '-';
    const auto value = integer_of(offset);
    if (!value) fail(line, "'" + std::string(offset) + "' is no offset");
    operand.offset = static_cast<std::int64_t>(minus ? 0 - *value : *value);
    base = trimmed(base.substr(0, sign));
  }
  if (const auto absolute = integer_of(base)) {
    operand.offset += static_cast<std::int64_t>(*absolute);
    return;
  }
  operand.name = base;
}

/// 0f and 8 or 0d and 16 hexadecimal digits; false for anything else.
bool parse_float(std::string_view text, std::uint32_t line, Operand& operand) {
  if (text.size() < 3 || text[0] != '0') return false;
  const bool wide = text[1] == 'd' || text[1] == 'D';
  if (!wide && text[1] != 'f' && text[1] != 'F') return false;
  operand.kind = wide ? Operand::Kind::float64 : Operand::Kind::float32;
  const auto [end, error] =
      std::from_chars(text.data() + 2, text.data() + text.size(), operand.bits, 16);
  if (error != std::errc{} || end != text.data() + text.size())
    fail(line, "'" + std::string(text) + "' is no number");
  return true;
}

}  // namespace

Operand parse_operand(std::string_view text, std::uint32_t line, int depth) {
  constexpr int kDeepest = 8;  // PTX has a list in an address, or lists of initial values
  if (depth > kDeepest)
    fail(line, "operands are nested more than " + std::to_string(kDeepest) + " deep");
  Operand operand;
  text = trimmed(text);
  if (text.empty()) fail(line, "an operand is empty");
  const char first = text.front();
  if (first == '{' || first == '(') {
    operand.kind = first == '{' ? Operand::Kind::vector : Operand::Kind::tuple;
    for (std::string_view part : split_outside(text.substr(1, text.size() - 2), ','))
      if (!part.empty()) operand.parts.push_back(parse_operand(part, line, depth + 1));
    return operand;
  }
  if (first == '[') {
    parse_memory(text.substr(1, text.size() - 2), line, depth, operand);
    return operand;
  }
  if (first == '!') {
    operand.negated = true;
    text = trimmed(text.substr(1));
  }
  if (parse_float(text, line, operand)) return operand;
  if (const auto value = integer_of(text)) {
    operand.kind = Operand::Kind::integer;
    operand.bits = *value;
    return operand;
  }
  if (text.starts_with("generic(")) {  // of an initial value: all addresses here are generic
    const std::size_t close = std::min(text.rfind(')'), text.size() - 1);
    Operand inner = parse_operand(text.substr(8, close - 8), line, depth + 1);
    const std::string_view rest = trimmed(text.substr(close + 1));
    if (rest.starts_with('+'))
      inner.offset += static_cast<std::int64_t>(integer_of(trimmed(rest.substr(1))).value_or(0));
    return inner;
  }
  if (const std::size_t bar = text.find('|'); bar != std::string_view::npos) {
    operand.second = trimmed(text.substr(bar + 1));
    text = trimmed(text.substr(0, bar));
  }
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const auto value = integer_of(trimmed(text.substr(plus + 1)));
    if (!value) fail(line, "'" + std::string(text) + "' is no address");
    operand.offset = static_cast<std::int64_t>(*value);
    text = trimmed(text.substr(0, plus));
  }
  operand.name = text;
  return operand;
}

namespace {

std::uint32_t alignment_of(std::string_view text, std::uint32_t line) {
  const auto value = integer_of(text);
  if (!value || !std::has_single_bit(*value) || *value > std::uint64_t{1} << 31)
    fail(line, "'" + std::string(text) + "' is no alignment, which is a power of two");
  return static_cast<std::uint32_t>(*value);
}

/// name, name[8], name[4][2], name<10>, each perhaps with = initial values.
Variable parse_declarator(std::string_view text, const Variable& like, std::uint32_t line) {
  Variable variable = like;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    const std::string_view value = trimmed(text.substr(equals + 1));
    text = trimmed(text.substr(0, equals));
    const Operand initial = parse_operand(value, line);
    variable.initial =
        initial.kind == Operand::Kind::vector ? initial.parts : std::vector<Operand>{initial};
  }
  const std::size_t end = text.find_first_of("[<");
  variable.name = trimmed(text.substr(0, end));
  if (end == std::string_view::npos) return variable;
  std::string_view counts = text.substr(end);
  while (!counts.empty()) {
    const std::size_t close = counts.find_first_of("]>");
    if (close == std::string_view::npos) fail(line, "an array's size does not end");
    const std::string_view count = trimmed(counts.substr(1, close - 1));
    const auto value = count.empty() ? std::optional<std::uint64_t>(0) : integer_of(count);
    if (!value) fail(line, "'" + std::string(count) + "' is no size");
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // more than any memory has
    if (variable.elements > kMost / std::max<std::uint64_t>(*value, 1))
      fail(line, "an array is too large");
    variable.elements *= *value;
    counts = trimmed(counts.substr(close + 1));
  }
  return variable;
}

}  // namespace

std::vector<Variable> parse_variables(std::string_view space, std::string_view text,
                                      std::uint32_t line) {
  Variable like;
  like.space = space;
  text = trimmed(text);
  while (text.starts_with('.')) {
    const std::size_t end = text.find_first_of(" \t\n");
    if (end == std::string_view::npos) fail(line, "a declaration has no name");
    const std::string_view word = text.substr(1, end - 1);
    text = trimmed(text.substr(end));
    if (word == "align") {
      const std::size_t behind = text.find_first_of(" \t\n");
      if (behind == std::string_view::npos) fail(line, "a declaration has no name");
      like.alignment = alignment_of(text.substr(0, behind), line);
      text = trimmed(text.substr(behind));
    } else if (word == "v2" || word == "v4") {
      like.vector = word == "v2" ? 2 : 4;
    } else if (word != "ptr" && word != "global" && word != "shared" && word != "const" &&
               word != "attribute(.managed)" && word != "attribute(.unified)") {
      like.type = word;
    }
  }
  std::vector<Variable> variables;
  for (std::string_view each : split_outside(text, ','))
    variables.push_back(parse_declarator(each, like, line));
  for (const Variable& variable : variables)
    if (variable.name.empty()) fail(line, "a declaration has no name");
  if (variables.empty()) fail(line, "a declaration has no name");
  return variables;
}

}  // namespace halftone::simulator::syntax
