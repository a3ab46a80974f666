// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <variant>

namespace halftone::reference {

/// Dimensions are left out: a formula knows the shapes.
Settings settings_of(const description::Node& node) {
  Settings settings;
  const auto* attributes = std::get_if<description::LayerAttributes>(&node.attributes);
  if (!attributes) return settings;
  for (const description::Setting& setting : attributes->settings) {
    if (const auto* number = std::get_if<double>(&setting.value)) {
      settings.numbers[setting.name] = *number;
    } else if (const auto* integer = std::get_if<std::int64_t>(&setting.value)) {
      settings.numbers[setting.name] = static_cast<double>(*integer);
    } else if (const auto* word = std::get_if<std::string>(&setting.value)) {
      settings.words[setting.name] = *word;
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&setting.value)) {
      settings.lists[setting.name] = *list;
    } else if (const auto* flag = std::get_if<bool>(&setting.value); flag && *flag) {
      settings.flags.insert(setting.name);
    }
  }
  if (attributes->function) settings.expression = attributes->function->expression;
  return settings;
}

}  // namespace halftone::reference
