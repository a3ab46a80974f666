// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "halftone/description/description.hpp"

namespace halftone::description {
namespace {

template <class Value>
const Value& find(const LayerAttributes& attributes, std::string_view name) {
  for (const Setting& setting : attributes.settings) {
    if (setting.name == name) return std::get<Value>(setting.value);
  }
  throw std::out_of_range("no setting '" + std::string(name) + "'");
}

bool has(const LayerAttributes& attributes, std::string_view name) {
  return std::any_of(attributes.settings.begin(), attributes.settings.end(),
                     [name](const Setting& setting) { return setting.name == name; });
}

}  // namespace

double LayerAttributes::number(std::string_view setting) const {
  return find<double>(*this, setting);
}
bool LayerAttributes::flag(std::string_view setting) const { return find<bool>(*this, setting); }
const std::string& LayerAttributes::word(std::string_view setting) const {
  return find<std::string>(*this, setting);
}
const std::vector<std::int64_t>& LayerAttributes::integers(std::string_view setting) const {
  return find<std::vector<std::int64_t>>(*this, setting);
}
const Shape& LayerAttributes::dimensions(std::string_view setting) const {
  return find<Shape>(*this, setting);
}
std::optional<std::int64_t> LayerAttributes::integer(std::string_view setting) const {
  return has(*this, setting) ? std::optional(find<std::int64_t>(*this, setting)) : std::nullopt;
}

LayerAttributes standard_attributes(Kind kind) {
  LayerAttributes attributes;
  for (const SettingForm& form : form_of(kind).settings) {
    if (form.optional) continue;
    Setting& setting = attributes.settings.emplace_back(Setting{form.name, form.standard});
    if (form.type == SettingType::flag) setting.value = form.standard != 0;
    if (form.type == SettingType::choice) {
      setting.value = std::string(form.words[static_cast<int>(form.standard)]);
    }
    if (form.type == SettingType::integers) setting.value.emplace<std::vector<std::int64_t>>();
    if (form.type == SettingType::dimensions) setting.value.emplace<Shape>();
    if (form.type == SettingType::integer) setting.value = static_cast<std::int64_t>(form.standard);
  }
  return attributes;
}

bool is_counted(const Description& description, NodeId node) {
  if (!holds_integers(description.nodes[static_cast<std::size_t>(node)])) return false;
  for (const Node& reader : description.nodes) {
    for (const Operand& operand : reader.operands) {
      if (operand.node != node) continue;
      return operand_form(form_of(reader.kind), operand.role).integers;
    }
  }
  return false;
}

}  // namespace halftone::description
