// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <variant>

namespace halftone::reference {

Settings settings_of(const description::Node& node) {
  Settings settings;
  const auto* attributes = std::get_if<description::LayerAttributes>(&node.attributes);
  if (!attributes) return settings;
  for (const description::Setting& setting : attributes->settings) {
    if (const auto* number = std::get_if<double>(&setting.value)) {
      settings.numbers[setting.name] = *number;
    } else if (const auto* word = std::get_if<std::string>(&setting.value)) {
      settings.words[setting.name] = *word;
    } else if (std::get<bool>(setting.value)) {
      settings.flags.insert(setting.name);
    }
  }
  if (attributes->function) settings.expression = attributes->function->expression;
  return settings;
}

}  // namespace halftone::reference
