// SPDX-License-Identifier: Apache-2.0
// How every kernel runs on every chip, and what the cost model made of the other ways.
#include <algorithm>
#include <stdexcept>

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

Json kernel_of(const manifest::Kernel& kernel, const CudaKernel& on_chip,
               std::span<const std::int64_t> assumed) {
  Json json{{"kernel", kernel.name},
            {"skeleton", kernel.skeleton},
            {"text", on_chip.text},
            {"blocks", manifest::block_count(on_chip, assumed)},
            {"threads", on_chip.threads},
            {"dynamic_shared_bytes", on_chip.shared_bytes},
            {"splits", manifest::split_count(on_chip.split, assumed)},
            {"workspace_bytes", manifest::plan_workspace(on_chip, assumed).bytes},
            {"plans", Json::array()}};
  for (const manifest::Plan& plan : on_chip.plans) json["plans"].push_back(plan_of(plan));
  json["no_tensor_cores"] = on_chip.reason.empty() ? Json() : Json(on_chip.reason);
  return json;
}

Json target_of(const Manifest& manifest, const CudaTarget& target) {
  Json assumed = Json::object(), kernels = Json::array();
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
    assumed[manifest.symbols[i]] = manifest.assumed[i];
  }
  for (std::size_t i = 0; i < target.kernels.size(); ++i) {
    kernels.push_back(kernel_of(manifest.kernels[i], target.kernels[i], manifest.assumed));
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
    table.add({is_first ? kernel["kernel"].get<std::string>() : "",
               (is_first ? "" : "  not ") + plan["plan"].get<std::string>(),
               is_first ? kernel["blocks"].dump() : "", short_number(plan["waves"]),
               short_number(plan["microseconds"])});
    is_first = false;
  }
}

std::string text_of_chip(const Json& chip) {
  std::string assumed;
  for (const auto& [symbol, size] : chip["assumed"].items()) {
    assumed += (assumed.empty() ? ", planned for " : ", ") + symbol + " = " + size.dump();
  }
  Table table({"kernel", "plan", "blocks", "waves", "microseconds"}, 0);
  for (const Json& kernel : chip["kernels"]) add_rows(kernel, table);
  std::string text = "\n== " + chip["chip"].get<std::string>() + assumed + " ==\n" + table.text();
  for (const Json& kernel : chip["kernels"]) {
    if (kernel["no_tensor_cores"].is_null()) continue;
    text += wrapped("  " + kernel["kernel"].get<std::string>() +
                        " uses no tensor cores: " + kernel["no_tensor_cores"].get<std::string>(),
                    6);
  }
  return text;
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
    throw std::runtime_error("the artifact was not made for chip '" + chip + "'; it has " +
                             (known.empty() ? "none" : known));
  }
  return json;
}

std::string text_of_chips(const Json& chips) {
  std::string text;
  for (const Json& chip : chips) text += text_of_chip(chip);
  return text;
}

}  // namespace halftone::tools
