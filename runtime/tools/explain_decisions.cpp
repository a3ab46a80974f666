// SPDX-License-Identifier: Apache-2.0
// What rules decided, one line for each layer and parameter.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "explain.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

using Roles = std::vector<std::string>;

/// Of the first program that lists any, which is training where there is one; null without.
const Json* values_of(const Json& explanation) {
  for (const Json& program : explanation["programs"]) {
    if (program.contains("values")) return &program["values"];
  }
  return nullptr;
}

/// "f8e4m3 scaled" of "f8e4m3 scaled tensor f8e8m0 saturate": the rule has the rest.
std::string short_of(const std::string& scaled) {
  constexpr std::string_view kScaled = " scaled";
  return scaled.substr(0, scaled.find(kScaled) + kScaled.size());
}

/// "bf16 (1)": the format, and the rule that decided unless it is the default.
std::string decided(const Json& value) {
  const std::string format =
      value["numbers"].is_null() ? plain(value["format"]) : short_of(plain(value["numbers"]));
  return value["rule"].is_null() ? format : format + " (" + value["rule"].dump() + ")";
}

/// Adds what is not there yet.
void add(std::string& cell, const std::string& word) {
  if (cell == "-") {
    cell = word;
  } else if ((", " + cell + ", ").find(", " + word + ", ") == cell.npos) {
    cell += ", " + word;
  }
}

/// The values of these roles by name, a cell for each role.
std::vector<Row> rows_of(const Json& values, const Roles& roles) {
  std::map<std::string, std::size_t> known;
  std::vector<Row> rows;
  for (const Json& value : values) {
    const auto role = std::ranges::find(roles, value["role"].get<std::string>());
    if (role == roles.end()) continue;
    const std::string name = plain(value["name"]);
    const auto [at, is_first] = known.try_emplace(name, rows.size());
    if (is_first) rows.push_back({name, std::vector<std::string>(roles.size(), "-")});
    add(rows[at->second].cells[static_cast<std::size_t>(role - roles.begin())], decided(value));
  }
  return rows;
}

std::string table_of(const Json& values, const std::string& title, const Roles& roles,
                     const Blocks& blocks) {
  Roles present;
  for (const std::string& role : roles) {
    const auto has_role = [&](const Json& value) { return value["role"] == role; };
    if (std::ranges::any_of(values, has_role)) present.push_back(role);
  }
  if (present.empty()) return {};
  std::vector<std::string> heading{title};
  heading.insert(heading.end(), present.begin(), present.end());
  Table table(heading);
  for (const Row& row : blocks.grouped(rows_of(values, present))) {
    std::vector<std::string> cells{row.name};
    cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    table.add(cells);
  }
  return "\n" + table.text();
}

/// "saved, input_gradient"; "-" for the whole model.
std::string part_of(const Json& decision) {
  const std::string role = plain(decision["role"]), pass = plain(decision["pass"]);
  if (role.empty() && pass.empty()) return "-";
  return role + (role.empty() || pass.empty() ? "" : ", ") + pass;
}

std::string others(const Json& decisions, const Blocks& blocks) {
  if (decisions.empty()) return {};
  std::vector<Row> rows;
  for (const Json& decision : decisions) {
    rows.push_back({decision["layer"] == "" ? "-" : plain(decision["layer"]),
                    {plain(decision["field"]), plain(decision["setting"]), part_of(decision),
                     word_of_rule(decision["rule"]), joined(decision["beaten"], ",")}});
  }
  Table table({"field", "setting", "layer", "role, pass", "rule", "beaten"});
  for (const Row& row : blocks.grouped(rows)) {
    table.add({row.cells[0], row.cells[1], row.name, row.cells[2], row.cells[3], row.cells[4]});
  }
  return "\nwhat else rules decided\n" + table.text();
}

}  // namespace

std::vector<std::string> names_of(const Json& explanation) {
  std::vector<std::string> names;
  if (const Json* values = values_of(explanation)) {
    for (const Json& value : *values) {
      names.push_back(plain(value["name"]));
      names.push_back(plain(value["layer"]));
    }
  }
  for (const Json& decision : explanation["decisions"]) names.push_back(plain(decision["layer"]));
  return names;
}

std::string text_of_decisions(const Json& explanation) {
  const Blocks blocks(names_of(explanation));
  std::string text =
      "\nformats, each with the rule that decided it, or without one where it is the default\n";
  if (const Json* values = values_of(explanation)) {
    text += table_of(*values, "value", {"activation", "saved", "gradient"}, blocks) +
            table_of(*values, "parameter", {"weight", "weight_gradient", "master"}, blocks) +
            table_of(*values, "state", {"optimizer_state"}, blocks);
  }
  return text + others(explanation["decisions"], blocks);
}

}  // namespace halftone::tools
