// SPDX-License-Identifier: Apache-2.0
// Models written in the dsl against hand-written texts of the same models.
#include <doctest/doctest.h>

#include <halftone/describe.hpp>
#include <iterator>
#include <map>
#include <string>

#include "image_specs.hpp"
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
    auto* layer = std::get_if<halftone::description::LayerAttributes>(&node.attributes);
    if (layer != nullptr && layer->function) rename(layer->function->name);
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
    {"adam", specs::adam_model_program, {}},
    {"adaptive", specs::adaptive_program, {}},
    {"attention", specs::attention_model_program, {}},
    {"autoencoder", specs::autoencoder_program, {}},
    {"batch_norm", specs::batch_norm_model_program, {}},
    {"causal_conv1d", specs::causal_conv1d_model_program, {}},
    {"decoder", specs::decoder_program, {}},
    {"digits", specs::digits_program, {}},
    {"dropout", specs::dropout_model_program, {}},
    {"embedding", specs::embedding_model_program, {}},
    {"frozen_and_scaled", specs::frozen_and_scaled_program, {}},
    {"gelu_tanh", specs::gelu_tanh_model_program, {}},
    {"grouped", specs::grouped_program, {}},
    {"heads", specs::heads_program, {}},
    {"joined_rows", specs::joined_rows_program, {}},
    {"lamb_groups", specs::lamb_groups_program, {}},
    {"large_windows", specs::large_windows_program, {}},
    {"long_convolution", specs::long_convolution_program, {}},
    {"masked", specs::masked_program, {}},
    {"matmul", specs::matmul_model_program, {}},
    {"nesterov", specs::nesterov_model_program, {}},
    {"no_bias", specs::no_bias_model_program, {}},
    {"odd_sizes", specs::odd_sizes_program, {}},
    {"packed", specs::packed_program, {}},
    {"padded", specs::padded_program, {}},
    {"pointwise", specs::pointwise_model_program, {}},
    {"rank3", specs::rank3_program, {}},
    {"relu_sgd_momentum", specs::relu_sgd_momentum_program, {}},
    {"resampled", specs::resampled_program, {}},
    {"rms_norm", specs::rms_norm_model_program, {}},
    {"rotary_layer", specs::rotary_layer_program, {}},
    {"segments", specs::segments_program, {}},
    {"siamese", specs::siamese_program, {}},
    {"silu", specs::silu_model_program, {}},
    {"softmax", specs::softmax_model_program, {}},
    // A component of digits alone is the number of a repeat's copy.
    {"skip",
     specs::skip_program,
     {{"h/0/fc", "h0/fc"},
      {"h/0/fc.weight", "h0/fc.weight"},
      {"h/0/fc.bias", "h0/fc.bias"},
      {"h/0/act", "h0/act"},
      {"h/0/residual", "h0/residual"},
      {"h/1/fc", "h1/fc"},
      {"h/1/fc.weight", "h1/fc.weight"},
      {"h/1/fc.bias", "h1/fc.bias"}}},
    {"sides", specs::sides_program, {}},
    {"sides_padded", specs::sides_padded_program, {}},
    {"smoothed", specs::smoothed_program, {}},
    // Outputs share the names of values; a user's function is called like its layer.
    {"state_average",
     specs::state_average_program,
     {{"moving_average", "moved"}, {"difference", "centered"}}},
    // A shared weight is called after the layer that owns it.
    {"tied", specs::tied_model_program, {{"shared.weight", "encode.weight"}}},
    {"two_inputs", specs::two_inputs_program, {}},
    {"two_losses", specs::two_losses_program, {}},
    {"undecayed", specs::undecayed_program, {}},
    {"unet", specs::unet_program, {}},
    {"wide", specs::wide_program, {}},
    {"windows", specs::windows_program, {}},
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

TEST_CASE("a model of floats of 8 bits in the dsl describes itself as its text, rules included") {
  const Description described = halftone::dsl::describe(specs::float8_program());
  const Description expected = halftone::tests::load_model("float8");
  CHECK(print(described) == print(expected));
  CHECK(described == expected);
}

TEST_CASE("settings and masks of an attention stand in the order of its form") {
  constexpr auto net = halftone::dsl::model(
      "net",
      halftone::dsl::inputs(halftone::dsl::tensor("x", halftone::dsl::batch, 9, 12),
                            halftone::dsl::tensor("k", halftone::dsl::batch, 9, 6),
                            halftone::dsl::segments("s", halftone::dsl::batch, 9),
                            halftone::dsl::lengths("n", halftone::dsl::batch)),
      halftone::dsl::from("x") |
          halftone::dsl::attention(
              "mix", "k", "k", halftone::dsl::segment("s"), halftone::dsl::alibi,
              halftone::dsl::dropout_rate(0.25), halftone::dsl::soft_cap(30),
              halftone::dsl::window(5), halftone::dsl::length("n"), halftone::dsl::score_scale(0.5),
              halftone::dsl::heads(4), halftone::dsl::key_heads(2), halftone::dsl::causal) |
          halftone::dsl::output("y"));
  const std::string text = print(describe(net, specs::f32_rules));
  CHECK(
      text.find("%mix = attention(query: %x, key: %k, value: %k, length: %n, segment: %s) "
                "{heads: 4, key_heads: 2, causal: true, window: 5, score_scale: 0.5, soft_cap: 30, "
                "alibi: true, dropout_rate: 0.25} : [batch, 9, 12]\n") != std::string::npos);
}

TEST_CASE("every hand-written model of f32 alone has a form in the dsl") {
  std::size_t plain = 0;
  for (const std::string& name : halftone::tests::model_names()) {
    // Its fixed states begin with values of their own, which the dsl leaves to set_state().
    if (name == "row_losses") continue;
    const auto rules = halftone::tests::load_model(name).rules;
    plain += rules.size() == 1 && rules[0].clauses.empty() && rules[0].store &&
             *rules[0].store == halftone::description::EncodingChoice{};
  }
  CHECK(plain == std::size(kCases));
}

}  // namespace
