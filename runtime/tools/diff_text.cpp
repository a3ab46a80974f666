// SPDX-License-Identifier: Apache-2.0
// Differences for people: what differs, what A has, what B has; "none" where a side has nothing.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "diff.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

/// Never empty.
std::string side(const Json& json, const char* absent = "none") {
  if (json.is_null()) return absent;
  if (!json.is_structured()) return plain(json).empty() ? "none" : plain(json);
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += (text.empty()      ? ""
             : json.is_array() ? " | "
                               : ", ") +
            (json.is_object() ? printable(key) + " " : "") + side(value);
  }
  return text.empty() ? "none" : text;
}

std::string from_to(const std::string& what, const std::string& a, const std::string& b) {
  return wrapped(what + ": " + a + " -> " + b, 4);
}

/// An object's members that differ, each on a line.
std::string members(const std::string& what, const Json& sides, const char* null) {
  const auto member = [&](const char* which, const std::string& key) {
    const Json& object = sides[which];
    return object.contains(key) ? side(object[key], null) : "none";
  };
  Json both = sides["a"];
  for (const auto& [key, value] : sides["b"].items()) both[key] = value;
  std::string text;
  for (const auto& [key, value] : both.items()) {
    const std::string a = member("a", key), b = member("b", key);
    if (a != b) text += from_to(what + "." + printable(key), a, b);
  }
  return text;
}

bool holds(const Json& items, const Json& item) {
  return std::ranges::find(items, item) != items.end();
}

std::string rules(const Json& sides) {
  std::string text;
  for (const Json& rule : sides["a"]) {
    if (!holds(sides["b"], rule)) text += wrapped("  - " + plain(rule), 6);
  }
  for (const Json& rule : sides["b"]) {
    if (!holds(sides["a"], rule)) text += wrapped("  + " + plain(rule), 6);
  }
  return "rules\n" + (text.empty() ? "  their order or number differs\n" : text);
}

/// "f32 by rule 1 over 2,3"
std::string decided(const Json& decision) {
  const std::string rule = decision["rule"].is_null() ? "" : " by rule " + decision["rule"].dump();
  const std::string over = decision["beaten"].empty() ? "" : " over ";
  return side(decision["setting"]) + rule +
         (over.empty() ? "" : over + joined(decision["beaten"], ","));
}

/// Of what was decided, and where: the parts that are not empty.
std::string part_of(const Json& decision) {
  std::string text;
  for (const char* key : {"role", "pass"}) {
    if (decision[key] != "") text += ", " + plain(decision[key]);
  }
  return text;
}

std::string decisions(const Json& sides, const Blocks& blocks) {
  struct Sides {
    std::string a = "none", b = "none";
  };
  using Key = std::vector<std::string>;  // layer, field, part
  std::map<Key, Sides> all;
  std::vector<Key> keys;
  for (const auto& [which, member] : {std::pair("a", &Sides::a), std::pair("b", &Sides::b)}) {
    for (const Json& decision : sides[which]) {
      const Key key{plain(decision["layer"]), plain(decision["field"]), part_of(decision)};
      const auto [at, is_first] = all.try_emplace(key);
      if (is_first) keys.push_back(key);
      std::string& words = at->second.*member;
      words = (words == "none" ? "" : words + " | ") + decided(decision);
    }
  }
  std::vector<Row> rows;
  for (const Key& key : keys) {
    const Sides& differing = all[key];
    if (differing.a != differing.b) {
      rows.push_back({key[0], {key[1], key[2], differing.a, differing.b}});
    }
  }
  std::string text;
  for (const Row& row : blocks.grouped(rows)) {
    const std::string layer = row.name.empty() ? "" : " of " + row.name;
    text += from_to("  " + row.cells[0] + layer + row.cells[1], row.cells[2], row.cells[3]);
  }
  return "decisions\n" + (text.empty() ? "  their order differs\n" : text);
}

/// A line for each launch of a kernel that the other side has not.
std::string launches(const Json& these, const Json& others, const std::string& sign) {
  std::string text;
  for (const Json& fused : these) {
    if (!holds(others, fused)) text += wrapped(sign + side(fused), 10);
  }
  return text;
}

std::string kernels(const Json& kernels) {
  std::string text;
  for (const Json& kernel : kernels) {
    const std::string name = plain(kernel["phase"]) + " " + plain(kernel["kernel"]);
    if (kernel["a"].is_null()) {
      text += wrapped("    + " + name + ": " + side(kernel["b"]), 8);
    } else if (kernel["b"].is_null()) {
      text += wrapped("    - " + name + ": " + side(kernel["a"]), 8);
    } else {
      const std::string lines = launches(kernel["a"], kernel["b"], "      - ") +
                                launches(kernel["b"], kernel["a"], "      + ");
      text += "    " + name + "\n" +
              (lines.empty() ? "      its launches' order or number differs\n" : lines);
    }
  }
  return "  kernels\n" + text;
}

/// Formats by name and role, or bytes by role.
std::string table_of(const std::string& key, const Json& entries, const Blocks& blocks) {
  std::vector<Row> rows;
  for (const Json& entry : entries) {
    const std::string role = plain(entry["role"]);
    const bool has_name = entry.contains("name");
    rows.push_back({has_name ? plain(entry["name"]) : role,
                    {has_name ? " (" + role + ")" : "", side(entry["a"]), side(entry["b"])}});
  }
  Table table({key, "a", "b"});
  for (const Row& row : blocks.grouped(rows)) {
    table.add({"  " + row.name + row.cells[0], row.cells[1], row.cells[2]});
  }
  return table.text();
}

std::string program(const std::string& name, const Json& differences, const Blocks& blocks) {
  if (differences.contains("only_in")) {
    return "\n" + name + ": only in " + plain(differences["only_in"]) + "\n";
  }
  std::string text = "\n" + name + "\n";
  for (const char* key : {"arena_bytes", "host_bytes", "stay_bytes", "accumulated_bytes",
                          "launches_per_step", "casts_per_step", "casts_with_own_launch"}) {
    if (!differences.contains(key)) continue;
    const Json& sides = differences[key];
    text +=
        from_to("  " + std::string(key), side(sides["a"], "unknown"), side(sides["b"], "unknown"));
  }
  for (const char* key : {"formats", "value_bytes", "buffer_bytes"}) {
    if (differences.contains(key)) text += table_of(key, differences[key], blocks);
  }
  return differences.contains("kernels") ? text + kernels(differences["kernels"]) : text;
}

std::string plans(const Json& plans) {
  std::string text = "plans\n";
  for (const Json& plan : plans) {
    text += from_to("  " + plain(plan["chip"]) + " " + plain(plan["kernel"]), side(plan["a"]),
                    side(plan["b"]));
  }
  return text;
}

}  // namespace

std::string text_of_difference(const Json& difference, const Json& a, const Json& b) {
  if (difference["equal"].get<bool>()) return "no difference\n";
  std::vector<std::string> names = names_of(a);
  for (std::string& name : names_of(b)) names.push_back(std::move(name));
  const Blocks blocks(names);
  std::string text;
  for (const auto& [key, sides] : difference["differences"].items()) {
    if (key == "rules") {
      text += rules(sides);
    } else if (key == "decisions") {
      text += decisions(sides, blocks);
    } else if (key == "plans") {
      text += plans(sides);
    } else if (key == "programs") {
      for (const auto& [name, differences] : sides.items()) {
        text += program(printable(name), differences, blocks);
      }
    } else if (sides["a"].is_object()) {
      text += members(key, sides, key == "symbols" ? "not bound" : "none");
    } else {
      text += from_to(key, side(sides["a"]), side(sides["b"]));
    }
  }
  return text;
}

}  // namespace halftone::tools
