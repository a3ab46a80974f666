// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <variant>

namespace halftone::reference {
namespace {

using namespace description;

void read(const std::monostate&, Settings&) {}
void read(const ParameterAttributes&, Settings&) {}  // of sources; the evaluator reads them
void read(const StateAttributes&, Settings&) {}

void read(const LayerAttributes& attributes, Settings& settings) {
  for (const auto& [name, value] : attributes.settings) {
    if (const auto* number = std::get_if<double>(&value)) settings.numbers[name] = *number;
    if (const auto* flag = std::get_if<bool>(&value)) settings.flags[name] = *flag;
    if (const auto* word = std::get_if<std::string>(&value)) settings.words[name] = *word;
  }
  if (attributes.function) settings.expression = attributes.function->expression;
}

}  // namespace

Settings settings_of(const Node& node) {
  Settings settings;
  std::visit([&](const auto& attributes) { read(attributes, settings); }, node.attributes);
  return settings;
}

}  // namespace halftone::reference
