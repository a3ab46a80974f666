// SPDX-License-Identifier: Apache-2.0
// Names that the generated header, the object and the runtime can tell apart.
#include "codegen/import/Names.h"

#include <algorithm>
#include <array>
#include <map>

namespace hd = halftone::description;

namespace halftone::ir {

namespace {

// ISO C++20, table 5 and the alternative tokens of table 6.
constexpr std::array kKeywords = {"alignas",       "alignof",     "and",
                                  "and_eq",        "asm",         "auto",
                                  "bitand",        "bitor",       "bool",
                                  "break",         "case",        "catch",
                                  "char",          "char16_t",    "char32_t",
                                  "char8_t",       "class",       "co_await",
                                  "co_return",     "co_yield",    "compl",
                                  "concept",       "const",       "const_cast",
                                  "consteval",     "constexpr",   "constinit",
                                  "continue",      "decltype",    "default",
                                  "delete",        "do",          "double",
                                  "dynamic_cast",  "else",        "enum",
                                  "explicit",      "export",      "extern",
                                  "false",         "float",       "for",
                                  "friend",        "goto",        "if",
                                  "inline",        "int",         "long",
                                  "mutable",       "namespace",   "new",
                                  "noexcept",      "not",         "not_eq",
                                  "nullptr",       "operator",    "or",
                                  "or_eq",         "private",     "protected",
                                  "public",        "register",    "reinterpret_cast",
                                  "requires",      "return",      "short",
                                  "signed",        "sizeof",      "static",
                                  "static_assert", "static_cast", "struct",
                                  "switch",        "template",    "this",
                                  "thread_local",  "throw",       "true",
                                  "try",           "typedef",     "typeid",
                                  "typename",      "union",       "unsigned",
                                  "using",         "virtual",     "void",
                                  "volatile",      "wchar_t",     "while",
                                  "xor",           "xor_eq"};

// Namespaces that the generated header names, and would hide.
constexpr std::array kNamespaces = {"std", "halftone", "models"};
// Buffers that the passes make beside those of inputs, states and losses, and what stands before
// the first dot of others. (An output's and its gradient's hold a '=', which no node's name does:
// D2.)
constexpr std::array kBuffers = {"accumulated", "finite",        "first_micro_batch",
                                 "gradients",   "grad_norm",     "learning_rate",
                                 "loss_scale",  "micro_batches", "parameters"};
constexpr std::array kFamilies = {"adamw", "loss_scale", "parameters", "sgd"};

template <std::size_t N>
bool contains(const std::array<const char *, N> &list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isIdentifier(std::string_view name) {
  return !name.empty() && isLetter(name.front()) && !contains(kKeywords, name) &&
         std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c); });
}

/// Names that become one identifier, of one kind of argument or member.
class Identifiers {
public:
  explicit Identifiers(const char *kind) : kind(kind) {}

  std::optional<std::string> add(const std::string &name) {
    auto [known, isNew] = taken.try_emplace(makeIdentifier(name), name);
    if (isNew || known->second == name)
      return std::nullopt;
    return std::string(kind) + " '" + known->second + "' and '" + name +
           "' would both be called '" + known->first + "' in C++: rename one";
  }

private:
  const char *kind;
  std::map<std::string, std::string> taken;
};

std::optional<std::string> findBadNode(const hd::Node &node) {
  size_t dot = node.name.find('.');
  bool isMember = dot != std::string::npos && contains(kFamilies, node.name.substr(0, dot));
  if (isMember || contains(kBuffers, node.name))
    return "'" + node.name + "' is the name of a buffer of the runtime's own: choose another";
  return std::nullopt;
}

} // namespace

std::string makeIdentifier(std::string_view name) {
  std::string text;
  for (char c : name)
    text += isLetter(c) || isDigit(c) ? c : '_';
  if (text.empty() || isDigit(text.front()))
    text.insert(0, "_");
  if (contains(kKeywords, text))
    text += '_';
  return text;
}

std::optional<std::string> findBadName(const hd::Description &description) {
  if (!isIdentifier(description.name) || contains(kNamespaces, description.name))
    return "model '" + description.name +
           "' must have a name that can be a C++ namespace: letters, digits and _, no keyword";
  Identifiers inputs("inputs"), outputs("outputs");
  std::optional<std::string> fault;
  for (const hd::Node &node : description.nodes) {
    if ((fault = findBadNode(node)) ||
        (node.kind == hd::Kind::input && (fault = inputs.add(node.name))))
      return fault;
    for (const hd::Dimension &dim : node.shape)
      if (dim.symbol == "seed")
        return "a dimension cannot be called 'seed', which is an option of every trainer: choose "
               "another";
  }
  for (const hd::Output &output : description.outputs) {
    auto plain = [](char c) {
      return isLetter(c) || isDigit(c) || c == '.' || c == '/' || c == '-';
    };
    if (!std::ranges::all_of(output.name, plain))
      return "output '" + makeIdentifier(output.name) +
             "' has other characters than letters, digits and _./-: rename it";
    if ((fault = outputs.add(output.name)))
      return fault;
  }
  return std::nullopt;
}

std::optional<std::string> findBadSize(const hd::Description &description) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40; // four terabytes of f32
  for (const hd::Node &node : description.nodes) {
    std::int64_t elements = 1;
    for (const hd::Dimension &dim : node.shape)
      if (dim.symbol.empty() &&
          (__builtin_mul_overflow(elements, dim.extent, &elements) || elements > kMostElements))
        return "'" + node.name + "' would have more than 2^40 elements: make its extents smaller";
  }
  return std::nullopt;
}

} // namespace halftone::ir
