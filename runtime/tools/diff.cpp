// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace halftone::tools {
namespace {

Json pair(const Json& a, const Json& b) { return {{"a", a}, {"b", b}}; }

void compare(Json& differences, const char* key, const Json& a, const Json& b) {
  if (a.at(key) != b.at(key)) differences[key] = pair(a.at(key), b.at(key));
}

/// What has the same key on both sides, or null where a side has nothing of that key.
using Grouped = std::map<std::vector<std::string>, Json>;

/// Entries {the key's members, "a", "b"} for every key whose two sides differ.
Json compare(const Grouped& a, const Grouped& b, const std::vector<const char*>& names) {
  std::set<std::vector<std::string>> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  Json result = Json::array();
  for (const auto& key : keys) {
    const auto in_a = a.find(key), in_b = b.find(key);
    const Json left = in_a == a.end() ? Json() : in_a->second;
    const Json right = in_b == b.end() ? Json() : in_b->second;
    if (left == right) continue;
    Json entry;
    for (std::size_t i = 0; i < names.size(); ++i) entry[names[i]] = key[i];
    entry["a"] = left;
    entry["b"] = right;
    result.push_back(std::move(entry));
  }
  return result;
}

/// The formats of the values of one name and role, in the order of the artifact.
Grouped formats_of(const Json& program) {
  Grouped formats;
  for (const Json& value : program["values"]) {
    formats[{value["name"], value["role"]}].push_back(value["format"]);
  }
  return formats;
}

/// Bytes by format, for every role.
Grouped bytes_of(const Json& program, const char* kind) {
  Grouped bytes;
  for (const Json& total : program["totals"][kind]) {
    bytes[{total["role"]}][total["format"].get<std::string>()] = total["bytes"];
  }
  return bytes;
}

/// What the launches of one kernel in one phase fused.
Grouped kernels_of(const Json& program) {
  Grouped kernels;
  for (const Json& phase : program["phases"]) {
    for (const Json& kernel : phase["kernels"]) {
      kernels[{phase["phase"], kernel["kernel"]}].push_back(kernel["fused"]);
    }
  }
  return kernels;
}

Json compare_programs(const Json& a, const Json& b) {
  Json differences;
  compare(differences, "arena_bytes", a, b);
  compare(differences, "host_bytes", a, b);
  compare(differences, "stay_bytes", a, b);
  compare(differences, "accumulated_bytes", a, b);
  compare(differences, "launches_per_step", a, b);
  if (!a.contains("values") || !b.contains("values")) return differences;
  compare(differences, "casts_per_step", a, b);
  compare(differences, "casts_with_own_launch", a, b);
  const auto add = [&](const char* name, Json entries) {
    if (!entries.empty()) differences[name] = std::move(entries);
  };
  add("formats", compare(formats_of(a), formats_of(b), {"name", "role"}));
  add("value_bytes", compare(bytes_of(a, "values"), bytes_of(b, "values"), {"role"}));
  add("buffer_bytes", compare(bytes_of(a, "buffers"), bytes_of(b, "buffers"), {"role"}));
  add("kernels", compare(kernels_of(a), kernels_of(b), {"phase", "kernel"}));
  return differences;
}

/// The chosen plan by chip and kernel; a chip that only one side has is one entry.
Grouped plans_of(const Json& explanation, const Json& other) {
  Grouped plans;
  for (const Json& chip : explanation["chips"]) {
    const bool is_in_both = std::ranges::any_of(
        other["chips"], [&](const Json& its) { return its["chip"] == chip["chip"]; });
    if (!is_in_both) plans[{chip["chip"], "*"}] = "all";
    for (const Json& kernel : chip["kernels"]) {
      if (!is_in_both || kernel["plans"].empty()) continue;
      plans[{chip["chip"], kernel["kernel"]}] = kernel["plans"][0]["plan"];
    }
  }
  return plans;
}

const Json* find_program(const Json& explanation, const Json& name) {
  for (const Json& program : explanation["programs"]) {
    if (program["name"] == name) return &program;
  }
  return nullptr;
}

Json compare_all_programs(const Json& a, const Json& b) {
  Json result;
  for (const Json& program : a["programs"]) {
    const std::string name = program["name"];
    const Json* other = find_program(b, name);
    Json differences = other ? compare_programs(program, *other) : Json{{"only_in", "a"}};
    if (!differences.empty()) result[name] = std::move(differences);
  }
  for (const Json& program : b["programs"]) {
    if (!find_program(a, program["name"])) {
      result[program["name"].get<std::string>()] = {{"only_in", "b"}};
    }
  }
  return result;
}

}  // namespace

Json difference_of(const Json& a, const Json& b) {
  Json differences = Json::object();
  for (const char* key : {"model", "halftone_version", "targets", "symbols", "parameters", "rules",
                          "loss_scale", "decisions"}) {
    compare(differences, key, a, b);
  }
  for (const char* key : {"stages", "during"}) {  // of models that declare some
    const Json of_a = a.value(key, Json()), of_b = b.value(key, Json());
    if (of_a != of_b) differences[key] = pair(of_a, of_b);
  }
  if (Json programs = compare_all_programs(a, b); !programs.empty()) {
    differences["programs"] = std::move(programs);
  }
  if (Json plans = compare(plans_of(a, b), plans_of(b, a), {"chip", "kernel"}); !plans.empty()) {
    differences["plans"] = std::move(plans);
  }
  return {{"schema", 1}, {"equal", differences.empty()}, {"differences", differences}};
}

}  // namespace halftone::tools
