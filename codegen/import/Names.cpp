// SPDX-License-Identifier: Apache-2.0
// Names that the generated header, the object and the runtime can tell apart.
#include "codegen/import/Names.h"

#include "halftone/description/reserved_names.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace hd = halftone::description;

namespace halftone::ir {

namespace {

// Members of the generated classes that an argument of the same name would shadow.
constexpr std::array kMembers = {"Outputs", "Predictor",      "PredictorRecords",
                                 "Trainer", "TrainerRecords", "state_"};

template <std::size_t N>
bool contains(const std::array<const char *, N> &list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isIdentifier(std::string_view name) {
  return !name.empty() && isLetter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c); });
}

/// A keyword is a fault of a model's name alone; what else it names is written with a '_' behind.
std::optional<std::string> findReserved(const std::string &kind, const std::string &name) {
  hd::Reserved reserved = hd::reserved_as(name.c_str());
  if (reserved == hd::Reserved::nothing || (reserved == hd::Reserved::keyword && kind != "model"))
    return std::nullopt;
  return kind + " '" + name + "' is " + hd::kReservedWords[static_cast<size_t>(reserved)] +
         " and cannot be a name in the model's header: rename it";
}

std::optional<std::string> findBadModelName(const std::string &name) {
  if (!isIdentifier(name))
    return "model '" + name +
           "' must have a name that can be a C++ namespace: letters, digits and _";
  if (hd::hides_namespace(name.c_str()))
    return "model '" + name + "' would hide a namespace that its header needs: rename it";
  return findReserved("model", name);
}

std::optional<std::string> findBadSymbol(const std::string &symbol, bool hasStages) {
  if (symbol == "seed" || (symbol == "stage" && hasStages))
    return "a dimension cannot be called '" + symbol +
           "', which is an option of every trainer: choose another";
  return findReserved("dimension", symbol);
}

/// Names that become one identifier, of one kind of argument or member.
class Identifiers {
public:
  explicit Identifiers(const char *kind) : kind(kind) {}

  std::optional<std::string> add(const std::string &name) {
    if (auto fault = findReserved(kind, name))
      return fault;
    auto [known, isNew] = taken.try_emplace(makeIdentifier(name), name);
    if (isNew || known->second == name)
      return std::nullopt;
    return std::string(kind) + "s '" + known->second + "' and '" + name +
           "' would both be called '" + known->first + "' in C++: rename one";
  }

private:
  const char *kind;
  std::map<std::string, std::string> taken;
};

std::optional<std::string> findBadNode(const hd::Node &node) {
  size_t dot = node.name.find('.');
  bool isMember =
      dot != std::string::npos && hd::is_buffer_family(node.name.substr(0, dot).c_str());
  if (isMember || hd::is_buffer(node.name.c_str()))
    return "'" + node.name + "' is the name of a buffer of the runtime's own: choose another";
  return std::nullopt;
}

} // namespace

std::string makeIdentifier(std::string_view name) {
  std::string text;
  for (char c : name)
    text += hd::names::character_in_code(c);
  if (text.empty() || isDigit(text.front()))
    text.insert(0, "_");
  if (hd::names::has(hd::kKeywords, text.c_str()) || contains(kMembers, text))
    text += text.back() == '_' ? '0' : '_';
  return text;
}

std::optional<std::string> findBadName(const hd::Description &description) {
  if (auto fault = findBadModelName(description.name))
    return fault;
  Identifiers inputs("input"), outputs("output");
  std::optional<std::string> fault;
  for (const hd::Node &node : description.nodes) {
    if ((fault = findBadNode(node)) || (hd::is_input(node.kind) && (fault = inputs.add(node.name))))
      return fault;
    for (const hd::Dimension &dim : node.shape)
      if ((fault = findBadSymbol(dim.symbol, !description.stages.empty())))
        return fault;
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

} // namespace halftone::ir
