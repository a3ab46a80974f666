// SPDX-License-Identifier: Apache-2.0
// The summary of an explanation: what a step launches, casts and takes, by program and by role.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "explain.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

/// Of a program, the launches of every step by skeleton; nothing of diagnosis, whose phases are not
/// listed.
std::map<std::string, int> launches_of(const Json& program) {
  std::map<std::string, int> launches;
  if (!program.contains("phases")) return launches;
  for (const Json& phase : program["phases"]) {
    if (!phase["every_step"].get<bool>()) continue;
    for (const Json& kernel : phase["kernels"]) ++launches[plain(kernel["skeleton"])];
  }
  return launches;
}

class Summary {
 public:
  Summary(const Json& explanation, const Extent& extent) : explanation_(explanation) {
    for (const Json& program : explanation["programs"]) {
      if (extent.diagnosis || program["name"] != "diagnosis") programs_.push_back(&program);
    }
  }

  /// One column a program.
  std::string steps() const {
    std::vector<std::string> heading{"each step"};
    for (const Json* program : programs_) heading.push_back(plain((*program)["name"]));
    Table table(heading);
    add(table, "launches", [](const Json& program) { return plain(program["launches_per_step"]); });
    for (const std::string& skeleton : skeletons()) {
      add(table, "  " + skeleton, [&](const Json& program) {
        return program.contains("phases") ? std::to_string(launches_of(program)[skeleton]) : "-";
      });
    }
    add_member(table, "casts", "casts_per_step");
    add_member(table, "  in launches of their own", "casts_with_own_launch");
    add_member(table, "bytes of the arena", "arena_bytes");
    const auto is_in_host = [](const Json* program) { return (*program)["host_bytes"] > 0; };
    if (std::ranges::any_of(programs_, is_in_host)) {
      add_member(table, "  of these on chips in the host's memory", "host_bytes");
    }
    const auto has_stays = [](const Json* program) { return (*program)["stay_bytes"] > 0; };
    if (std::ranges::any_of(programs_, has_stays)) {
      add_member(table, "  and of activations in the host's memory", "stay_bytes");
    }
    const auto has_parts = [](const Json* program) { return (*program)["part_bytes"] > 0; };
    if (std::ranges::any_of(programs_, has_parts)) {
      add_member(table, "  and for each thread", "part_bytes");
    }
    add_member(table, "  and for micro-batches", "accumulated_bytes");
    return "\n" + table.text() + unbound();
  }

  /// Of training, or of what there is.
  std::string roles() const {
    const auto has_values = [](const Json* program) { return program->contains("totals"); };
    const auto first = std::ranges::find_if(programs_, has_values);
    if (first == programs_.end()) return {};
    Table table({plain((**first)["name"]), "format", "values", "bytes", "of these in memory"});
    for (const Json& total : (**first)["totals"]["values"]) {
      table.add({plain(total["role"]), plain(total["format"]), plain(total["count"]),
                 plain(total["bytes"]), plain(total["stored_bytes"])});
    }
    return "\n" + table.text();
  }

 private:
  template <class Cell>
  void add(Table& table, const std::string& name, Cell cell) const {
    std::vector<std::string> row{name};
    for (const Json* program : programs_) row.push_back(cell(*program));
    table.add(row);
  }

  /// Nothing where no program has any.
  void add_member(Table& table, const std::string& name, const char* member) const {
    const auto has_some = [&](const Json* program) {
      return program->contains(member) && !(*program)[member].is_null();
    };
    if (!std::ranges::any_of(programs_, has_some)) return;
    add(table, name, [&](const Json& program) {
      return program.contains(member) ? plain(program[member]) : "-";
    });
  }

  std::vector<std::string> skeletons() const {
    std::vector<std::string> names;
    for (const Json* program : programs_) {
      for (const auto& [skeleton, count] : launches_of(*program)) names.push_back(skeleton);
    }
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
  }

  /// How to get the bytes that are not known.
  std::string unbound() const {
    std::string symbols;
    for (const auto& [symbol, value] : explanation_["symbols"].items()) {
      if (!value.is_null()) continue;
      std::int64_t size = 32;
      if (explanation_.contains("bounds") && explanation_["bounds"].contains(symbol)) {
        const Json& range = explanation_["bounds"][symbol];
        size = std::max(size, range[0].get<std::int64_t>());
        if (!range[1].is_null()) size = std::min(size, range[1].get<std::int64_t>());
      }
      symbols += (symbols.empty() ? "" : ",") + printable(symbol) + "=" + std::to_string(size);
    }
    if (symbols.empty()) return {};
    return wrapped(
        "  bytes of arenas are known when every symbol is bound, as by --symbols " + symbols, 4);
  }

  const Json& explanation_;
  std::vector<const Json*> programs_;
};

std::string line_of(const Json& chip, const Extent& extent) {
  int kernels = 0, without = 0;
  for (const Json& kernel : chip["kernels"]) {
    if (!is_shown(kernel, extent)) continue;
    ++kernels;
    if (!kernel["no_tensor_cores"].is_null()) ++without;
  }
  return wrapped("  " + title_of(chip) + ": " + std::to_string(kernels) + " kernels" +
                     (without == 0 ? ""
                                   : ", " + std::to_string(without) +
                                         " of them contractions without tensor cores"),
                 4);
}

}  // namespace

std::string text_of_summary(const Json& explanation, const Extent& extent) {
  const Summary summary(explanation, extent);
  std::string text = summary.steps() + summary.roles(), chips;
  for (const Json& chip : explanation["chips"]) chips += line_of(chip, extent);
  return chips.empty() ? text : text + "\nchips\n" + chips;
}

}  // namespace halftone::tools
