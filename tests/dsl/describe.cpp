// SPDX-License-Identifier: Apache-2.0
// Models written in the dsl against hand-written texts of the same models.
#include <doctest/doctest.h>

#include <halftone/describe.hpp>
#include <iterator>
#include <map>
#include <string>

#include "models.hpp"
#include "specs.hpp"

using halftone::description::Description;
using halftone::description::print;

namespace {

/// Gives nodes, outputs and user functions of a hand-written model the names that its dsl form has.
Description renamed(Description description, const std::map<std::string, std::string>& names) {
  const auto rename = [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end()) name = found->second;
  };
  for (auto& node : description.nodes) {
    rename(node.name);
    auto* pointwise = std::get_if<halftone::description::PointwiseAttributes>(&node.attributes);
    if (pointwise != nullptr) rename(pointwise->function);
  }
  for (auto& output : description.outputs) rename(output.name);
  return description;
}

struct Case {
  const char* text;
  halftone::dsl::Program (*program)();
  std::map<std::string, std::string> names;
};

const Case kCases[] = {
    {"digits", specs::halftone_model_digits, {}},
    {"frozen_and_scaled", specs::halftone_model_frozen_and_scaled, {}},
    {"gelu_tanh", specs::halftone_model_gelu_tanh_model, {}},
    {"nesterov", specs::halftone_model_nesterov_model, {}},
    {"no_bias", specs::halftone_model_no_bias_model, {}},
    {"odd_sizes", specs::halftone_model_odd_sizes, {}},
    {"pointwise", specs::halftone_model_pointwise_model, {}},
    {"rank3", specs::halftone_model_rank3, {}},
    {"relu_sgd_momentum", specs::halftone_model_relu_sgd_momentum, {}},
    {"silu", specs::halftone_model_silu_model, {}},
    // A component of digits alone is the number of a repeat's copy.
    {"skip",
     specs::halftone_model_skip,
     {{"h/0/fc", "h0/fc"},
      {"h/0/fc.weight", "h0/fc.weight"},
      {"h/0/fc.bias", "h0/fc.bias"},
      {"h/0/act", "h0/act"},
      {"h/0/residual", "h0/residual"},
      {"h/1/fc", "h1/fc"},
      {"h/1/fc.weight", "h1/fc.weight"},
      {"h/1/fc.bias", "h1/fc.bias"}}},
    // Outputs share the names of values; a user's function is called like its layer.
    {"state_average",
     specs::halftone_model_state_average,
     {{"moving_average", "moved"}, {"difference", "centered"}}},
    // A shared weight is called after the layer that owns it.
    {"tied", specs::halftone_model_tied_model, {{"shared.weight", "encode.weight"}}},
    {"two_inputs", specs::halftone_model_two_inputs, {}},
    {"two_losses", specs::halftone_model_two_losses, {}},
    {"wide", specs::halftone_model_wide, {}},
};

TEST_CASE("a model in the dsl describes itself as its hand-written text") {
  for (const Case& model : kCases) {
    CAPTURE(std::string(model.text));
    Description expected = renamed(halftone::tests::load_model(model.text), model.names);
    if (expected.name == "state_average") expected.outputs[0].name = "next_average";
    const Description described = halftone::dsl::describe(model.program());
    CHECK(print(described) == print(expected));
    CHECK(described == expected);
  }
}

TEST_CASE("every hand-written model of f32 alone has a form in the dsl") {
  std::size_t plain = 0;
  for (const std::string& name : halftone::tests::model_names()) {
    const auto rules = halftone::tests::load_model(name).rules;
    plain += rules.size() == 1 && rules[0].clauses.empty() && rules[0].store &&
             *rules[0].store == halftone::description::FormatChoice{};
  }
  CHECK(plain == std::size(kCases));
}

}  // namespace
