// SPDX-License-Identifier: Apache-2.0
// Every opcode that the tables launch, with each of its registers replaced by one of another width:
// an assembler refuses it (PTX ISA 9.0, 9.4), and so must the decoder, or lanes would be read and
// written past their register.
#include <doctest/doctest.h>

#include <cstdio>
#include <optional>

#include "run_ptx.hpp"

using namespace halftone::simulator;
using namespace halftone::tests;

namespace {

constexpr int kPredicate = 0;

struct Other {
  const char* name;
  int bytes;
};
constexpr Other kOthers[] = {
    {"%OtherP", kPredicate}, {"%Other2", 2}, {"%Other4", 4}, {"%Other8", 8}};
constexpr const char* kDeclarations =
    "{ .reg .pred %OtherP; .reg .b16 %Other2; .reg .b32 %Other4; .reg .b64 %Other8;";

/// Of the last type among an opcode's words, or the first; .b32 is 4 bytes.
int bytes_of_type(std::string_view opcode, bool last) {
  constexpr std::pair<std::string_view, int> kTypes[] = {
      {"8", 1},      {"16", 2},      {"32", 4},     {"64", 8},     {"16x2", 4},
      {"tf32", 4},   {"e4m3x2", 2},  {"e5m2x2", 2}, {"e2m1x2", 1}, {"e2m3x2", 2},
      {"e3m2x2", 2}, {"ue8m0x2", 2}, {"bf16", 2},   {"bf16x2", 4}};
  int found = 8;  // at the most, where it is none of these
  const auto words = syntax::split(opcode);
  for (std::size_t i = 1; i < words.size(); ++i)
    for (const auto& [word, bytes] : kTypes) {
      const bool plain = words[i].size() == word.size() + 1 && words[i].ends_with(word) &&
                         std::string_view("busf").find(words[i].front()) != std::string_view::npos;
      if (!plain && words[i] != word) continue;
      found = bytes;
      if (!last) return found;
    }
  return found;
}

/// A register where a statement names it.
struct Place {
  std::size_t begin = 0, size = 0;  ///< in the text
  std::size_t operand = 0;
  bool address = false;
  int bytes = 0;
};

/// By name, or by the stem of a family.
using Widths = std::map<std::string, int, std::less<>>;

Widths widths_of(const syntax::Function& function) {
  Widths widths;
  for (const syntax::Statement& s : function.statements) {
    if (s.opcode != ".reg") continue;
    for (const auto& v : syntax::parse_variables("reg", s.text, s.ptx_line))
      widths[std::string(v.name)] =
          v.type == "pred" ? kPredicate : bytes_of_type("." + std::string(v.type), true);
  }
  return widths;
}

std::optional<int> width_of(std::string_view name, const Widths& widths) {
  if (const auto known = widths.find(name); known != widths.end()) return known->second;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  const auto family = widths.find(name);
  return family == widths.end() ? std::nullopt : std::optional(family->second);
}

/// The registers between `from` and the statement's end, of each operand the first and the last.
std::vector<Place> registers_of(std::string_view text, std::size_t from, const Widths& widths) {
  constexpr std::string_view kName =
      "%_$.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::vector<Place> all;
  std::size_t operand = 0;
  int depth = 0, brackets = 0;
  bool more = false;  // a register of this operand is known already
  for (std::size_t i = from; i < text.size() && text[i] != ';'; ++i) {
    const char c = text[i];
    brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    depth += c == '[' || c == '{' || c == '(' ? 1 : c == ']' || c == '}' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) ++operand, more = false;
    if (c != '%') continue;
    const std::size_t end = std::min(text.find_first_not_of(kName, i), text.size());
    if (const auto bytes = width_of(text.substr(i, end - i), widths)) {
      const Place place{i, end - i, operand, brackets > 0, *bytes};
      if (more && all.size() > 1 && all[all.size() - 2].operand == operand)
        all.back() = place;
      else
        all.push_back(place);
      more = true;
    }
    i = end - 1;
  }
  return all;
}

/// Whether PTX takes a register of this width there all the same: addresses of 32 and 64 bits, and
/// wider ones than the type of a load, store or conversion.
bool may_stand(const Place& place, const Other& other, std::string_view opcode) {
  if (place.address) return other.bytes >= 4;
  const std::string_view word = opcode.substr(0, opcode.find('.'));
  if (word != "ld" && word != "ldu" && word != "st" && word != "cvt") return false;
  return other.bytes >= bytes_of_type(opcode, word != "cvt" || place.operand > 0);
}

/// Where the opcode's first statement lies, behind its own name; and the start of its line.
std::size_t operands_in(std::string_view text, std::string_view opcode) {
  for (std::size_t at = 0; (at = text.find(opcode, at)) != std::string_view::npos; ++at) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const std::size_t end = at + opcode.size();
    if (std::string_view(" \t\n;{}:").find(before) != std::string_view::npos && end < text.size() &&
        std::string_view(" \t\n;").find(text[end]) != std::string_view::npos)
      return end;
  }
  return std::string_view::npos;
}

}  // namespace

TEST_SUITE_BEGIN("ledger");

TEST_CASE("no opcode takes a register of another width than its own") {
  std::size_t replaced = 0;
  std::set<std::string, std::less<>> words;
  for (const auto& [opcode, launched] : launched_texts()) {
    std::string text = launched;
    text.replace(text.find('{', text.find(".entry")), 1, kDeclarations);
    REQUIRE(refusal_of_text(text) == "");
    const auto parsed = syntax::parse(text);
    for (const auto& function : parsed.functions) {
      if (!function.entry) continue;
      const std::size_t from = operands_in(text, opcode);
      if (from == std::string::npos) continue;
      for (const Place& place : registers_of(text, from, widths_of(function)))
        for (const Other& other : kOthers) {
          if (other.bytes == place.bytes || may_stand(place, other, opcode)) continue;
          std::string changed = text;
          changed.replace(place.begin, place.size, other.name);
          CAPTURE(text.substr(from - opcode.size(), text.find(';', from) - from + opcode.size()));
          CAPTURE(other.name);
          const std::string message = refusal_of_text(changed);
          CAPTURE(message);
          const bool named = message.starts_with("PTX line ") &&
                             message.find("the instruction " + opcode) != message.npos &&
                             message.find(std::string("'") + other.name + "'") != message.npos;
          CHECK(named);
          ++replaced;
          words.insert(opcode.substr(0, opcode.find('.')));
        }
    }
  }
  std::printf("registers of another width, all refused: %zu, in %zu kinds of opcodes\n", replaced,
              words.size());
  CHECK(replaced > 1000);
}

TEST_SUITE_END();
