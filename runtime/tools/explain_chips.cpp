// SPDX-License-Identifier: Apache-2.0
// How every kernel runs on every chip, and what the cost model made of the other ways.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "explain.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

using manifest::CudaKernel;
using manifest::CudaTarget;
using manifest::Manifest;

Json plan_of(const manifest::Plan& plan) {
  return {{"plan", plan.name},
          {"operations", plan.cost.operations},
          {"bytes", plan.cost.bytes},
          {"waves", plan.cost.waves},
          {"microseconds", plan.cost.microseconds}};
}

/// The names of those that launch kernel `index`.
Json programs_of(const Manifest& manifest, std::size_t index) {
  const auto launches = [&](const manifest::Launch& launch) {
    return static_cast<std::size_t>(launch.kernel) == index;
  };
  Json names = Json::array();
  for (const manifest::Program& program : manifest.programs) {
    const bool is_one = std::ranges::any_of(
        program.phases, [&](const auto& phase) { return std::ranges::any_of(phase, launches); });
    if (is_one) names.push_back(program.name);
  }
  return names;
}

Json kernel_of(const Manifest& manifest, std::size_t index, const CudaKernel& on_chip) {
  const manifest::Kernel& kernel = manifest.kernels[index];
  const std::span<const std::int64_t> assumed = manifest.assumed;
  Json json{{"kernel", kernel.name},
            {"skeleton", kernel.skeleton},
            {"programs", programs_of(manifest, index)},
            {"text", on_chip.text},
            {"blocks", manifest::block_count(on_chip, assumed)},
            {"threads", on_chip.threads},
            {"dynamic_shared_bytes", on_chip.shared_bytes},
            {"splits", manifest::split_count(on_chip.split, assumed)},
            {"workspace_bytes", manifest::plan_workspace(on_chip, assumed).bytes},
            {"plans", Json::array()}};
  for (const manifest::Plan& plan : on_chip.plans) json["plans"].push_back(plan_of(plan));
  json["no_tensor_cores"] = on_chip.reason.empty() ? Json() : Json(on_chip.reason);
  json["no_warpgroups"] = on_chip.no_warpgroups.empty() ? Json() : Json(on_chip.no_warpgroups);
  json["no_eight_bits"] = on_chip.no_eight_bits.empty() ? Json() : Json(on_chip.no_eight_bits);
  return json;
}

Json target_of(const Manifest& manifest, const CudaTarget& target) {
  Json assumed = Json::object(), kernels = Json::array();
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
    assumed[manifest.symbols[i]] = manifest.assumed[i];
  }
  for (std::size_t i = 0; i < target.kernels.size(); ++i) {
    kernels.push_back(kernel_of(manifest, i, target.kernels[i]));
  }
  return {{"chip", target.chip}, {"assumed", assumed}, {"kernels", kernels}};
}

/// Microseconds and waves: three digits are more than the model knows.
std::string short_number(const Json& number) {
  std::string text = number.dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

/// The kernel's chosen plan, and a line for each that it beat.
void add_rows(const Json& kernel, Table& table) {
  bool is_first = true;
  for (const Json& plan : kernel["plans"]) {
    table.add({is_first ? plain(kernel["kernel"]) : "",
               (is_first ? "" : "  not ") + plain(plan["plan"]),
               is_first ? kernel["blocks"].dump() : "", short_number(plan["waves"]),
               short_number(plan["microseconds"])});
    is_first = false;
  }
}

std::string text_of_chip(const Json& chip, const Extent& extent) {
  Table table({"kernel", "plan", "blocks", "waves", "microseconds"});
  std::string reasons;
  for (const Json& kernel : chip["kernels"]) {
    if (!is_shown(kernel, extent)) continue;
    add_rows(kernel, table);
    for (const auto& [key, what] :
         {std::pair{"no_tensor_cores", "tensor cores"}, std::pair{"no_warpgroups", "warp groups"},
          std::pair{"no_eight_bits", "products of 8 or 4 bits"}}) {
      if (kernel[key].is_null()) continue;
      reasons += wrapped(
          "  " + plain(kernel["kernel"]) + " uses no " + what + ": " + plain(kernel[key]), 6);
    }
  }
  return "\n== " + title_of(chip) + " ==\n" + table.text() + reasons;
}

}  // namespace

Json chips_of(std::span<const Manifest> manifests, const std::string& chip) {
  Json json = Json::array();
  std::string known;
  for (const Manifest& manifest : manifests) {
    for (const CudaTarget& target : manifest.cuda) {
      known += (known.empty() ? "" : ", ") + target.chip;
      if (chip.empty() || target.chip == chip) json.push_back(target_of(manifest, target));
    }
  }
  if (!chip.empty() && json.empty()) {
    throw std::runtime_error("the artifact of model '" + manifests.front().model +
                             "' was not made for chip '" + chip + "'; it has " +
                             (known.empty() ? "none" : known));
  }
  return json;
}

std::string title_of(const Json& chip) {
  std::string assumed;
  for (const auto& [symbol, size] : chip["assumed"].items()) {
    assumed +=
        (assumed.empty() ? ", planned for " : ", ") + printable(symbol) + " = " + size.dump();
  }
  return plain(chip["chip"]) + assumed;
}

bool is_shown(const Json& kernel, const Extent& extent) {
  return extent.diagnosis || kernel["programs"] != Json::array({"diagnosis"});
}

std::string text_of_chips(const Json& chips, const Extent& extent) {
  std::string text;
  for (const Json& chip : chips) text += text_of_chip(chip, extent);
  return text;
}

}  // namespace halftone::tools
