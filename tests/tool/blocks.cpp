// SPDX-License-Identifier: Apache-2.0
// Blocks of a repeat that are told together: read back, pattern by pattern, every name has what it
// had. Thirty blocks fit on a screen or two, and no decision is lost.
#include "blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "file_of_bytes.hpp"
#include "line_artifact.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

using tools::Blocks;
using tools::Row;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// Whether a part of a name is meant by "*", "{0..3,7}" or itself.
bool is_meant(const std::string& part, const std::string& pattern) {
  if (part == pattern) return true;
  const bool is_number = part.find_first_not_of("0123456789") == part.npos;
  if (pattern == "*") return is_number;
  if (!pattern.starts_with('{') || !is_number) return false;
  for (const std::string& range : split(pattern.substr(1, pattern.size() - 2), ',')) {
    const auto dots = range.find("..");
    const int first = std::stoi(range);
    const int last = dots == range.npos ? first : std::stoi(range.substr(dots + 2));
    if (first <= std::stoi(part) && std::stoi(part) <= last) return true;
  }
  return false;
}

bool is_named(const std::string& name, const std::string& pattern) {
  return std::ranges::equal(split(name, '/'), split(pattern, '/'), is_meant);
}

/// What the rows say of each of the names.
std::multiset<std::pair<std::string, std::vector<std::string>>> read_back(
    const std::vector<Row>& rows, const std::set<std::string>& names) {
  std::multiset<std::pair<std::string, std::vector<std::string>>> said;
  for (const Row& row : rows) {
    for (const std::string& name : names) {
      if (is_named(name, row.name)) said.insert({name, row.cells});
    }
  }
  return said;
}

manifest::Value value(const std::string& name, manifest::ValueRole role, manifest::Element format,
                      int rule) {
  manifest::Value value;
  value.name = name;
  value.layer = name.substr(0, name.find('.'));
  value.op = "linear";
  value.role = role;
  value.encoding = format;
  value.rule = rule;
  value.shape = {{1, 0}, {32, -1}};
  return value;
}

/// Blocks that are equal but for two, with names that have more than two dozen letters in common.
manifest::Manifest thirty_blocks() {
  using manifest::Element, manifest::ValueRole;
  manifest::Manifest manifest = hand_made::manifest();
  manifest.rules = {"everywhere : store bf16", "where class normalization : compute f32",
                    "where layer \"a_long_name_of_blocks/7/attention_projection\" : store f16"};
  auto& values = manifest.programs.front().values;
  for (int block = 0; block < 30; ++block) {
    const std::string place = "a_long_name_of_blocks/" + std::to_string(block) + "/";
    for (const char* layer :
         {"norm", "attention_projection", "attention_projection_act", "up", "down", "residual"}) {
      const bool is_other = block == 7 && std::string(layer) == "attention_projection";
      for (const ValueRole role : {ValueRole::activation, ValueRole::gradient}) {
        values.push_back(
            value(place + layer, role, is_other ? Element::f16 : Element::bf16, is_other ? 2 : 0));
      }
      const std::string weight = place + layer + ".weight";
      const bool is_norm = std::string(layer) == "norm";
      values.push_back(value(weight, ValueRole::weight, is_norm ? Element::f32 : Element::bf16,
                             is_norm ? 1 : 0));
      values.push_back(value(weight, ValueRole::weight_gradient, Element::f32, -1));
      values.push_back(value(weight, ValueRole::master, Element::f32, -1));
      if (block != 3) {
        manifest.decisions.push_back({"accumulate", place + layer, "", "forward", "f32", 0, {}});
      }
    }
  }
  return manifest;
}

/// The rows of the text's table with this heading: the words of each line.
std::vector<std::vector<std::string>> table_of(const std::string& text,
                                               const std::string& heading) {
  std::vector<std::vector<std::string>> rows;
  bool is_inside = false;
  for (const std::string& line : split(text, '\n')) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (is_inside && words.empty()) break;
    if (is_inside) rows.push_back(words);
    if (!words.empty() && words.front() == heading) is_inside = true;
  }
  return rows;
}

}  // namespace

TEST_CASE("names of equal blocks become one, and exceptions stay apart") {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("h/" + std::to_string(i) + "/fc");
  names.insert(names.end(), {"head", "h/0/only", "v2/fc", "h/01/fc"});
  std::vector<Row> rows;
  for (const std::string& name : names) {
    const bool is_other = name == "h/3/fc" || name == "h/7/fc" || name == "h/8/fc";
    rows.push_back({name, {is_other ? "f16" : "bf16"}});
  }
  const std::vector<Row> expected = {{"h/{0..2,4..6,9..11}/fc", {"bf16"}},
                                     {"h/{3,7,8}/fc", {"f16"}},
                                     {"head", {"bf16"}},
                                     {"h/0/only", {"bf16"}},
                                     {"v2/fc", {"bf16"}},
                                     {"h/01/fc", {"bf16"}}};
  CHECK(Blocks(names).grouped(rows) == expected);
  for (Row& row : rows) row.cells = {"f32"};
  CHECK(Blocks(names).grouped(rows).front() == Row{"h/*/fc", {"f32"}});
}

TEST_CASE("a star means all blocks of the model, not all that are told of") {
  const Blocks blocks({"h/0/fc", "h/1/fc", "h/2/fc"});
  CHECK(blocks.grouped({{"h/0/fc", {}}, {"h/1/fc", {}}}) == std::vector<Row>{{"h/{0,1}/fc", {}}});
  CHECK(blocks.grouped({{"g/0/fc", {}}, {"g/1/fc", {}}}) == std::vector<Row>{{"g/{0,1}/fc", {}}});
}

TEST_CASE("names with any numbers in any places keep what is said of them") {
  std::mt19937 random(14);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    std::set<std::string> names;
    const int kinds = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < 25; ++i) {
      const auto number = [&] { return std::to_string(random() % 4); };
      const char* const ends[] = {"fc", "act", "#", "*", "{0,1}"};
      std::string name = "h/" + number();
      if (random() % 2) name += "/g/" + number();
      names.insert(name + "/" + ends[random() % 5]);
    }
    std::vector<Row> rows;
    std::multiset<std::pair<std::string, std::vector<std::string>>> expected;
    for (const std::string& name : names) {
      if (random() % 5 == 0) continue;  // nothing is said of some
      const std::string cell(1, static_cast<char>('a' + random() % static_cast<unsigned>(kinds)));
      rows.push_back({name, {cell}});
      expected.insert({name, {cell}});
    }
    const std::vector<Row> grouped = Blocks({names.begin(), names.end()}).grouped(rows);
    CHECK(read_back(grouped, names) == expected);
    CHECK(grouped.size() <= rows.size());
  }
}

TEST_CASE("explain tells thirty blocks in fewer than 120 lines, and every decision is among them") {
  const manifest::Manifest manifest = thirty_blocks();
  const File file(manifest::encode(manifest));
  const Outcome outcome = run_tool("explain " + file.path());
  REQUIRE(outcome.status == 0);
  CHECK(std::ranges::count(outcome.output, '\n') < 120);
  CHECK(outcome.output.find("..a") == std::string::npos);  // no name is cut

  // Which cell says what: by heading, the roles of its columns.
  const std::map<std::string, std::vector<manifest::ValueRole>> tables = {
      {"value", {manifest::ValueRole::activation, manifest::ValueRole::gradient}},
      {"parameter",
       {manifest::ValueRole::weight, manifest::ValueRole::weight_gradient,
        manifest::ValueRole::master}}};
  std::size_t found = 0;
  for (const auto& [heading, roles] : tables) {
    for (const auto& words : table_of(outcome.output, heading)) {
      std::vector<std::string> cells;  // "bf16 (1)" and "f32" are a cell each
      for (std::size_t i = 1; i < words.size(); ++i) {
        const bool is_rule = words[i].starts_with('(');
        if (is_rule) cells.back() += " " + words[i];
        if (!is_rule) cells.push_back(words[i]);
      }
      REQUIRE(cells.size() == roles.size());
      for (const manifest::Value& value : manifest.programs.front().values) {
        const auto role = std::ranges::find(roles, value.role);
        if (role == roles.end() || !is_named(value.name, words.front())) continue;
        const char* const formats[] = {"f32", "tf32", "f16", "bf16"};
        const std::string format = value.encoding == manifest::Element::f32    ? formats[0]
                                   : value.encoding == manifest::Element::tf32 ? formats[1]
                                   : value.encoding == manifest::Element::f16  ? formats[2]
                                                                               : formats[3];
        const std::string rule = value.rule < 0 ? "" : " (" + std::to_string(value.rule + 1) + ")";
        CAPTURE(value.name);
        CHECK(cells[static_cast<std::size_t>(role - roles.begin())] == format + rule);
        ++found;
      }
    }
  }
  CHECK(found == manifest.programs.front().values.size());

  std::size_t decisions = 0;
  for (const auto& words : table_of(outcome.output, "field")) {
    for (const manifest::Decision& decision : manifest.decisions) {
      if (is_named(decision.layer, words[2])) ++decisions;
    }
    CHECK(words[2].find("{0..2,4..29}") != std::string::npos);
  }
  CHECK(decisions == manifest.decisions.size());
}

TEST_CASE("P44: gradients in f16 without a loss scale, or scales of their own, are noted") {
  manifest::Manifest manifest = thirty_blocks();
  for (auto& value : manifest.programs.front().values) value.encoding = manifest::Element::f16;
  CHECK(json_of("explain " + File(manifest::encode(manifest)).path())["notes"].empty());
  manifest.loss_scale = {};
  manifest.loss_scale.kind = manifest::LossScale::Kind::none;
  const File file(manifest::encode(manifest));
  const nlohmann::json notes = json_of("explain " + file.path())["notes"];
  REQUIRE(notes.size() == 1);
  CHECK(notes[0]["label"] == "P44");
  CHECK(run_tool("explain --summary " + file.path())
            .output.find("\nnote: 180 gradients are held in "
                         "f16 without a loss scale: ") != std::string::npos);
  manifest::Program& program = manifest.programs.front();
  const auto gradient =
      std::ranges::find(program.values, manifest::ValueRole::gradient, &manifest::Value::role);
  manifest::Encoding with_scale = manifest::Element::f16;
  with_scale.scaling = {.kind = encoding::Scaling::Kind::tensor};
  with_scale.saturate = true;
  program.casts.push_back({.value = static_cast<std::int32_t>(gradient - program.values.begin()),
                           .from = manifest::Element::f32,
                           .to = with_scale,
                           .kernel = program.casts.front().kernel});
  const File scaled(manifest::encode(manifest));
  CHECK(run_tool("explain --summary " + scaled.path()).output.find("\nnote: 179 gradients are ") !=
        std::string::npos);
}

TEST_CASE("explain prints as much as is asked for") {
  const File file(manifest::encode(thirty_blocks()));
  const std::string summary = run_tool("explain " + file.path() + " --summary").output;
  const std::string decided = run_tool("explain " + file.path()).output;
  const std::string all = run_tool("explain " + file.path() + " --all").output;
  const std::string last = "a_long_name_of_blocks/29/attention_projection_act.weight";
  CHECK(summary.find("\n  each step") != std::string::npos);
  CHECK(summary.find("a_long_name_of_blocks/*") == std::string::npos);
  CHECK(decided.starts_with(summary.substr(0, summary.rfind("\n--all "))));
  CHECK(decided.find("\n  a_long_name_of_blocks/*/norm ") != std::string::npos);
  CHECK(decided.find(last) == std::string::npos);
  CHECK(all.starts_with(decided.substr(0, decided.rfind("\n--all "))));
  CHECK(all.find(last) != std::string::npos);
  CHECK(all.find("\n== training: ") != std::string::npos);
  CHECK(all.find("diagnosis") == std::string::npos);
  CHECK(run_tool("explain " + file.path() + " --all --diagnosis").output.find("\n== diagnosis: ") !=
        std::string::npos);
  CHECK(run_tool("explain " + file.path() + " --summary --diagnosis").output.find("diagnosis") !=
        std::string::npos);
  const Outcome both = run_tool("explain " + file.path() + " --summary --json");
  CHECK(both.status == 2);
  CHECK(both.errors ==
        "halftone: --json excludes --summary; 'halftone explain --help' says what it takes\n");
  CHECK(run_tool("explain " + file.path() + " --summary --all").status == 2);
}

}  // namespace halftone::tests
