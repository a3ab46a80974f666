// SPDX-License-Identifier: Apache-2.0
// docs/precision-guide.md: its C++ is compiled, and means what the guide says.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "activations_in_host.hpp"
#include "attended.hpp"
#include "bf16.hpp"
#include "calibrated.hpp"
#include "cast.hpp"
#include "described.hpp"
#include "drawn.hpp"
#include "edges.hpp"
#include "f16.hpp"
#include "f32.hpp"
#include "f8.hpp"
#include "inside.hpp"
#include "layers.hpp"
#include "line.hpp"
#include "lists.hpp"
#include "models.hpp"
#include "painted.hpp"
#include "saved.hpp"
#include "scaled.hpp"
#include "served.hpp"
#include "small_update.hpp"
#include "snippets.hpp"
#include "staged.hpp"
#include "states_in_host.hpp"
#include "targets.hpp"
#include "tf32.hpp"

namespace {

using halftone::tests::read_text;
using halftone::tests::snippets;

TEST_CASE("every piece of C++ in the guide stands word for word in a header that is compiled") {
  std::string compiled;
  for (const auto& entry : std::filesystem::directory_iterator(HALFTONE_GUIDE_HEADERS)) {
    if (entry.path().extension() == ".hpp") compiled += read_text(entry.path()) + "\n";
  }
  const auto pieces = snippets(read_text(HALFTONE_GUIDE));
  CHECK(pieces.size() == 32);
  for (const std::string& piece : pieces) {
    CAPTURE(piece);
    CHECK(compiled.find(piece) != compiled.npos);
  }
}

TEST_CASE("the guide's rules are those of the Description") {
  using Lines = std::vector<std::string>;
  const auto rules_of = [](const auto& model, const auto& rules) {
    return specs::lines(halftone::dsl::describe(model, rules, adamw()), "rule ");
  };
  const std::string narrow_math = "rule where class normalization|softmax|loss : compute f32";
  CHECK(rules_of(line, line_rules) ==
        Lines{"rule everywhere : store bf16 compute bf16", "rule where class loss : compute f32"});
  CHECK(rules_of(digits, f32_rules) == Lines{"rule everywhere : store f32 compute f32"});
  CHECK(rules_of(digits_bf16, bf16_rules) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math});
  CHECK(rules_of(digits_f16, f16_rules) ==
        Lines{"rule everywhere : store f16 compute f16 loss_scale dynamic initial 65536 growth 2 "
              "backoff 0.5 interval 2000 floor 1 ceiling 1.7014118346046923e+38 hysteresis 1 "
              "patience 50",
              narrow_math});
  CHECK(
      rules_of(digits_f8, f8_rules) ==
      Lines{"rule everywhere : store f8e4m3 saturate compute f8e4m3 saturate loss_scale fixed 4096",
            "rule where role gradient : store f8e5m2 saturate compute f8e5m2 saturate", narrow_math,
            "rule where layer \"fc*\" role weight : store f8e4m3 saturate",
            "rule where layer \"head\" : store f32 compute bf16"});
  CHECK(rules_of(digits_scaled, scaled_rules) ==
        Lines{"rule everywhere : store bf16", "rule where class contraction : compute bf16",
              "rule where op linear : compute f8e4m3 scaled tensor f8e8m0 saturate",
              "rule where op linear role gradient if_any : compute f8e5m2 scaled tensor f8e8m0 "
              "saturate",
              "rule where layer \"head\" : store f32 compute bf16"});
  CHECK(rules_of(digits_blocks, block_rules) ==
        Lines{"rule everywhere : store bf16",
              "rule where class contraction : compute f8e4m3 scaled block 32 f8e8m0 saturate",
              "rule where class contraction role gradient : compute f8e5m2 scaled block 32 f8e8m0 "
              "saturate"});
  CHECK(rules_of(digits_columns, column_rules) ==
        Lines{"rule everywhere : store bf16",
              "rule where class contraction : compute f8e4m3 scaled block 32 f8e8m0 saturate",
              "rule where class contraction pass weight_gradient : compute f8e4m3 scaled block 32 "
              "by 1 f8e8m0 saturate"});
  CHECK(
      rules_of(digits, delayed_rules) ==
      Lines{"rule everywhere : store bf16",
            "rule where class contraction : compute f8e4m3 scaled delayed 16 f8e8m0 saturate",
            "rule where class contraction role gradient : compute f8e5m2 scaled delayed 16 margin "
            "1 f8e8m0 saturate"});
  CHECK(rules_of(digits, factor_rules) ==
        Lines{"rule everywhere : store bf16",
              "rule where op linear : compute f8e4m3 scaled tensor f32 saturate",
              "rule where op linear role gradient : compute f8e5m2 scaled delayed 16 f32 "
              "saturate"});
  CHECK(rules_of(digits, rotated_rules) ==
        Lines{"rule everywhere : store bf16 compute bf16",
              "rule where op linear pass weight_gradient : compute f4e2m1 scaled block 16 by 1 "
              "f8e4m3 under f32 rotated saturate"});
  CHECK(
      rules_of(digits, presets::mxfp8()) ==
      Lines{"rule everywhere : store bf16", "rule where class contraction : compute bf16",
            "rule where op linear : compute f8e4m3 scaled block 32 f8e8m0 saturate",
            "rule where op linear role weight pass input_gradient if_any : compute f8e4m3 scaled "
            "block 32 by 1 f8e8m0 saturate",
            "rule where op linear pass weight_gradient if_any : compute f8e4m3 scaled block 32 by "
            "1 f8e8m0 saturate"});
  CHECK(rules_of(digits_served, served) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where role weight : quantize i8",
              "rule where layer \"head\" role weight : quantize f8e4m3 least_error"});
  CHECK(rules_of(digits_listed, listed_rules) ==
        Lines{"rule everywhere : store f16",
              "rule where class contraction|activation_function|elementwise : compute f16",
              narrow_math,
              "rule everywhere : loss_scale dynamic initial 65536 growth 2 backoff 0.5 interval "
              "2000 floor 1 ceiling 1.7014118346046923e+38 hysteresis 1 patience 50"});
  Lines painted = rules_of(digits_painted, painted_rules);
  for (std::string& line : painted) line.resize(std::min(line.size(), line.find(" because")));
  REQUIRE(painted.size() == 8);
  painted.pop_back();  // of the loss scale
  CHECK(painted == Lines{"rule where layer \"fc1\" : store f16 compute f16",
                         "rule where layer \"act1\" : store f32 compute f32",
                         "rule where layer \"norm\" : store f32 compute f32",
                         "rule where layer \"fc2\" : store f16 compute f16",
                         "rule where layer \"act2\" : store f16 compute f16",
                         "rule where layer \"head\" : store f16 compute f16",
                         "rule where layer \"error\" : compute f32"});
  CHECK(rules_of(digits_edges, edges_in_f32) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where class contraction first 1 or class contraction last 1 : compute f32 "
              "because \"both ends of the model keep f32\"",
              "rule where role weight at_least 512 except layer \"head\" : store bf16"});
  CHECK(rules_of(digits_tf32, tf32_rules) == Lines{"rule where class contraction : compute tf32"});
  CHECK(
      rules_of(digits_copies, weight_copies) ==
      Lines{"rule everywhere : compute f32", "rule where layer \"fc*\" role weight : store bf16"});
  CHECK(rules_of(digits, rounded_inside) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where layer \"norm.normalized\" role internal : store bf16",
              "rule where op cross_entropy role internal : store tf32 rounding toward_zero"});
  CHECK(rules_of(digits_drawn, drawn) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where role gradient : store f8e5m2 rounding stochastic",
              "rule where layer \"fc*\" role weight : store bf16 rounding stochastic"});
  CHECK(rules_of(digits_small_update, small_update) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where role master : master bf16 remainder",
              "rule where role optimizer_state : store bf16 rounding stochastic"});
  CHECK(rules_of(digits_states_in_host, states_in_host) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where role optimizer_state : place host"});
  CHECK(rules_of(digits_activations_in_host, activations_in_host) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where layer \"act*\" role activation : place host"});
  CHECK(specs::lines(halftone::dsl::describe(digits_staged, by_stage, adamw(),
                                             stages("warmup", "full", "predict", "correct")),
                     "rule ") ==
        Lines{"rule everywhere : store f32 compute f32",
              "rule where during \"predict\" : store bf16 compute bf16",
              "rule where class normalization|softmax|loss during \"predict\" : compute f32"});
  CHECK(rules_of(attended, fused) ==
        Lines{"rule everywhere : store bf16 compute bf16", narrow_math,
              "rule where layer \"*.{weights,score_gradients}\" op attention role internal : store "
              "bf16"});
}

TEST_CASE("the same model under several names and rules differs in nothing else") {
  auto f32 = halftone::dsl::describe(digits, f32_rules, adamw());
  auto bf16 = halftone::dsl::describe(digits_bf16, bf16_rules, adamw());
  CHECK(f32.name == "digits");
  CHECK(bf16.name == "digits_bf16");
  bf16.name = f32.name;
  bf16.rules = f32.rules;
  CHECK(bf16 == f32);
}

}  // namespace
