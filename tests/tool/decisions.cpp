// SPDX-License-Identifier: Apache-2.0
// Which rules won the fields that are no formats and internal values, against lists made by hand
// from the rules of the models and docs/spec/precision.md.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "run_tool.hpp"

namespace halftone::tests {
namespace {

/// Field, layer, role, pass, setting, rule, and whom it beat.
using Decision = std::tuple<std::string, std::string, std::string, std::string, std::string, int,
                            std::vector<int>>;

std::set<Decision> decisions_of(const std::string& artifact) {
  std::set<Decision> found;
  const nlohmann::json json = json_of("explain " TOOL_ARTIFACTS "/" + artifact + ".o");
  for (const nlohmann::json& entry : json["decisions"]) {
    found.emplace(entry["field"], entry["layer"], entry["role"], entry["pass"], entry["setting"],
                  entry["rule"], entry["beaten"].get<std::vector<int>>());
  }
  CHECK_MESSAGE(found.size() == json["decisions"].size(), "each is listed once");
  return found;
}

}  // namespace

TEST_CASE("P13, P15 to P17: explain names the rules that decided fields that are no formats") {
  // P15, P18: a rule of a role speaks of the operands that have it and of the values stored in it,
  // where these are not f32 (the layer norm computes in f32; no gradient reads h/0/act as it was
  // stored, since P16 has it computed again).
  const std::set<Decision> expected = {
      {"loss_scale", "", "", "", "fixed", 1, {}},
      {"recompute", "h/0/act", "activation", "forward", "always", 12, {}},
      {"accumulate", "values", "", "forward", "ordered", 8, {}},
      {"rounding", "gate", "activation", "forward", "toward_zero", 11, {}},
      {"rounding", "values", "activation", "forward", "toward_zero", 11, {}},
      {"rounding", "gate", "saved", "weight_gradient", "toward_zero", 11, {}},
      {"rounding", "values", "saved", "weight_gradient", "toward_zero", 11, {}},
      {"rounding", "h/0/residual", "saved", "forward", "toward_zero", 5, {}},
      {"rounding", "h/0/act", "saved", "input_gradient", "toward_zero", 5, {}},
      {"rounding", "h/1/residual", "gradient", "input_gradient", "toward_zero", 6, {}},
      {"rounding", "h/1/act", "gradient", "input_gradient", "toward_zero", 6, {}},
      {"rounding", "h/1/fc", "gradient", "input_gradient", "toward_zero", 6, {}},
      {"rounding", "h/1/fc", "gradient", "weight_gradient", "toward_zero", 6, {}},
      {"rounding", "h/1/norm", "gradient", "input_gradient", "toward_zero", 6, {}},
  };
  CHECK(decisions_of("mixed_rules.own") == expected);
}

TEST_CASE("P51: explain tells what scaled operands are rounded to, and not what holds them") {
  const std::string scaled = "explain " TOOL_ARTIFACTS "/scaled.own.o";
  const std::string text = run_tool(scaled).output;
  for (const char* cell :
       {"mix.weight    bf16 (6), f8e4m3 scaled (2)",
        "act       bf16 (1), f8e4m3 scaled (2), f8e4m3 scaled (7)", "f8e5m2 scaled (8)"}) {
    CAPTURE(std::string(cell));
    CHECK(text.find(cell) != text.npos);
  }
  int weights = 0, gradients = 0;
  const nlohmann::json json = json_of(scaled);
  for (const nlohmann::json& program : json["programs"]) {
    if (program["name"] != "training") continue;
    for (const nlohmann::json& value : program["values"]) {
      const bool is_scaled = !value["numbers"].is_null();
      if (value["role"] == "weight" && value["rule"] == 2 && is_scaled)
        weights += value["numbers"] == "f8e4m3 scaled tensor f8e8m0 saturate";
      if (value["role"] == "gradient" && value["rule"] == 8 && is_scaled)
        gradients += value["numbers"] == "f8e5m2 scaled tensor f8e8m0 toward_zero saturate";
      if (value["rule"] == 1 || value["rule"] == 5) CHECK(!is_scaled);
    }
  }
  CHECK(weights > 3);
  CHECK(gradients > 0);
}

TEST_CASE("P39: explain names what internal values are rounded to, and by which rules") {
  const std::set<Decision> expected = {
      {"store", "fc.product", "internal", "", "f16", 3, {2}},
      {"store", "norm.normalized", "internal", "", "bf16", 4, {}},
      {"store", "mix.product", "internal", "", "tf32", 6, {2}},
      {"rounding", "mix.product", "internal", "", "toward_zero", 6, {}},
      {"store", "rms.normalized", "internal", "", "tf32", 6, {4}},
      {"rounding", "rms.normalized", "internal", "", "toward_zero", 6, {}},
      {"store", "head.product", "internal", "", "bf16", 2, {}},
      {"store", "xent.probabilities", "internal", "", "f16", 7, {}},
      {"rounding", "xent.probabilities", "internal", "", "toward_zero", 7, {}},
  };
  CHECK(decisions_of("internals.own") == expected);
}

TEST_CASE("P13: of accumulation every contraction of every pass has a winner") {
  std::set<Decision> expected = {{"loss_scale", "", "", "", "dynamic", 1, {}}};
  for (const char* layer : {"in", "mid", "gate", "values", "projected", "head"}) {
    for (const char* pass : {"forward", "input_gradient", "weight_gradient"}) {
      const std::string name = layer;
      // "in" reads an input; the weight of "projected" is frozen.
      const bool is_absent = (name == "in" && std::string(pass) == "input_gradient") ||
                             (name == "projected" && std::string(pass) == "weight_gradient");
      if (!is_absent) expected.insert({"accumulate", name, "", pass, "ordered", 1, {}});
    }
  }
  CHECK(decisions_of("every_layer.own") == expected);
}

}  // namespace halftone::tests
