// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum that contradict themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "line_artifact.hpp"
#include "manifest_failure.hpp"
#include "manifest_parts.hpp"

using namespace halftone::manifest;
using namespace manifest_parts;
using halftone::encoding::Rounding, halftone::encoding::Scaling;

constexpr Scaling kBlocks = {.kind = Scaling::Kind::block, .size = 32};

TEST_CASE("every phase has one line with a word of its own") {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    CAPTURE(phase);
    CHECK(std::ranges::count(kPhaseForms, static_cast<Phase>(phase), &PhaseForm::phase) == 1);
    CHECK(std::ranges::count(kPhaseForms, kPhaseForms[phase].word, &PhaseForm::word) == 1);
  }
}

TEST_CASE("what only some manifests say decodes to itself") {
  const std::function<void(Manifest&)> kinds[] = {
      [](Manifest& m) {
        break_blocking(m, [](Blocking& blocking) {
          blocking.tiles = {{6, 16, 8, 32}, {2, 4, 3, 8}};
          blocking.transposes = true;
          blocking.rhs = 1;
          blocking.lhs_neighbours = 3;
          blocking.rhs_neighbours = 5;
        });
      },
      [](Manifest& m) {  // rows of a second symbol, from the second launch on
        m.symbols = {"batch", "time"};
        m.assumed = {256, 8};
        auto& forward = launches_of(m.programs[0], Phase::forward);
        forward[0].fused = "fc";
        forward.push_back(forward[0]);
        m.programs[0].sections = {{Phase::forward, 1, 1, 128, 1, {{2, 0, 3}}, {}, 7}};
        add(m.programs[0], "chunk", Role::activation, {{1, 1}}).section = 0;
      },
      [](Manifest& m) {
        m.programs[0].sections = {
            {.phase = Phase::loss, .first = 0, .count = 1, .parts = {{1, 0}}}};
        launches_of(m.programs[0], Phase::loss)[0].arguments[0].parts = 1;
      },
      [](Manifest& m) { place_in_host(m); },
      [](Manifest& m) {
        stay_in_host(m);
        m.programs.resize(1);  // no other's launch is given what comes back
      },
      quantize,
      delay,
      [](Manifest& m) {
        m.stages = {"warm", "late"};
        m.during = {"late"};
        m.kept_states = {"mean"};
        m.input_gradients = {{"features", "features.gradient"}};
        m.parameters[0].initializer.low = -1;
        m.parameters[0].initializer.high = 3;
        Program& training = m.programs[0];
        add(training, "mean", Role::state, {{4, -1}});
        add(training, "features.gradient", Role::input_gradient, training.buffers[0].shape);
      }};
  for (const auto& change : kinds) {
    Manifest manifest = hand_made::manifest(), copy;
    change(manifest);
    DecodeError error;
    REQUIRE_MESSAGE(decode(encode(manifest), copy, error), error.message);
    CHECK(copy == manifest);
  }
}

TEST_CASE("a manifest that breaks a law is refused with the culprit's name") {
  const auto training = [](Manifest& m) -> Program& { return m.programs[0]; };
  const BrokenManifest cases[] = {
      {"has no name", [](Manifest& m) { m.model.clear(); }},
      {"symbol 'batch' occurs twice", [](Manifest& m) { m.symbols = {"batch", "batch"}; }},
      {"the limit of layer 'places' is of an unknown symbol",
       [](Manifest& m) { m.limits = {{1, 24, "places", "places.weight"}}; }},
      {"the limit of layer 'places' leaves no size",
       [](Manifest& m) { m.limits = {{0, 0, "places", "places.weight"}}; }},
      {"the limit of layer 'frame' leaves no size",
       [](Manifest& m) { m.limits = {{0, 8, "frame", "", 9, "has a padding of 2"}}; }},
      {"input 'features' occurs twice",
       [](Manifest& m) { m.inputs = {"features", "target", "features"}; }},
      {"kernel 'line_loss' occurs twice", [](Manifest& m) { m.kernels[0].name = "line_loss"; }},
      {"buffer 'target' occurs twice",
       [&](Manifest& m) { training(m).buffers[0].name = "target"; }},
      {"parameter 'fc.weight' has an impossible shape",
       [](Manifest& m) { m.parameters[0].shape = {-1, 3}; }},
      {"parameter 'fc.weight' has an impossible shape",
       [](Manifest& m) { m.parameters[0].shape = {1LL << 40, 1LL << 40}; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 33; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 0; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) { m.parameters[1].offset = 64; }},
      {"parameter 'fc.bias' has an impossible offset",
       [](Manifest& m) {
         m.parameters[1].offset = std::numeric_limits<std::int64_t>::max() / 32 * 32;
       }},
      {"parameter 'fc.bias' lies on the wrong side",
       [](Manifest& m) { m.parameters[1].trained = false; }},
      {"parameter 'fc.bias' lies on the wrong side", [](Manifest& m) { m.trained_elements = 32; }},
      {"numbers of parameter elements", [](Manifest& m) { m.trained_elements = 65; }},
      {"kernel 'line_loss' has an impossible task axis",
       [](Manifest& m) { m.kernels[1].tasks[0].tile = 0; }},
      {"kernel 'line_loss' has an impossible task axis",
       [](Manifest& m) { m.kernels[1].tasks[0].extent[0].symbol = 1; }},
      {"kernel 'line_loss' has an impossible entry",
       [](Manifest& m) { m.kernels[1].cpu_entry = -1; }},
      {"kernel 'line_loss' has an impossible entry",
       [](Manifest& m) { m.kernels[1].cpu_finish = -2; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[0].symbol = -2; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[1].extent = 0; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[0].divisor = 0; }},
      {"buffer 'features' has an impossible shape",
       [&](Manifest& m) { training(m).buffers[0].shape[1].divisor = 2; }},
      {"buffer 'features' and its slot disagree",
       [&](Manifest& m) { training(m).buffers[0].slot = 1; }},
      {"buffer 'features' and its slot disagree",
       [&](Manifest& m) { training(m).buffers[0].slot = 1000000; }},
      {"buffer 'row_errors' and its slot disagree",
       [&](Manifest& m) { training(m).slots[5].tenants = {5, 5}; }},
      {"buffer 'features' has no slot", [&](Manifest& m) { training(m).slots[0].tenants.clear(); }},
      {"a slot has an unknown tenant", [&](Manifest& m) { training(m).slots[0].tenants = {20}; }},
      {"buffer 'parameters' may not share its slot",
       [&](Manifest& m) {
         training(m).slots[0].tenants.clear();
         training(m).slots[2].tenants = {2, 0};
         training(m).buffers[0].slot = 2;
       }},
      {"buffer 'error' is not a scalar",
       [&](Manifest& m) { training(m).buffers[6].shape = {{2, -1}}; }},
      {"buffer 'learning_rate' has a first value that it cannot hold",
       [&](Manifest& m) { training(m).buffers[7].initial = std::nan(""); }},
      {"buffer 'learning_rate' has a first value that it cannot hold",
       [&](Manifest& m) { training(m).buffers[7].initial = 1e300; }},
      {"buffer 'row_errors' has a first value that it cannot hold",
       [&](Manifest& m) {
         training(m).buffers[5].encoding = Element::i32;
         training(m).buffers[5].initial = 0.5;
       }},
      {"buffer 'row_errors' has a first value that it cannot hold",
       [&](Manifest& m) {
         training(m).buffers[5].encoding = Element::f16;
         training(m).buffers[5].initial = 1.0;
       }},
      {"buffer 'pixels' is no input", [&](Manifest& m) { training(m).buffers[0].name = "pixels"; }},
      {"the parameters are not one flat buffer",
       [&](Manifest& m) { training(m).buffers[2].shape = {{32, -1}}; }},
      {"buffer 'gradients' has the role gradients, which bf16 does not fit",
       [&](Manifest& m) { training(m).buffers[3].encoding = Element::bf16; }},
      {"buffer 'row_errors' has an impossible encoding",
       [&](Manifest& m) { training(m).buffers[5].encoding.rounding = Rounding::toward_zero; }},
      {"buffer 'row_errors' has an impossible encoding",
       [&](Manifest& m) { training(m).buffers[5].encoding.saturate = true; }},
      {"buffer 'row_errors' has the role activation, which f6e2m3 does not fit",
       [&](Manifest& m) { training(m).buffers[5].encoding = Element::f6e2m3; }},
      {"buffer 'row_errors' has an impossible encoding",
       [&](Manifest& m) { training(m).buffers[5].encoding.scaling = kBlocks; }},
      {"a launch has an unknown kernel",
       [&](Manifest& m) { training(m).phases[0][0].kernel = 11; }},
      {"kernel 'line_forward' has an impossible argument",
       [&](Manifest& m) { training(m).phases[0][0].arguments[0].buffer = 20; }},
      {"kernel 'line_forward' has an impossible argument",
       [&](Manifest& m) { training(m).phases[0][0].arguments[0].offset = -1; }},
      {"output 'prediction' has no buffer",
       [](Manifest& m) { m.outputs[0].buffer = "row_errors"; }},
      {"output 'prediction' has no gradient buffer",
       [](Manifest& m) { m.outputs[0].gradient = "prediction"; }},
      {"input 'features' has no buffer",
       [&](Manifest& m) { training(m).buffers[0].role = Role::activation; }},
      {"loss 'other' has no buffer", [](Manifest& m) { m.losses = {"other"}; }},
      {"training has no scalar buffer 'grad_norm'",
       [&](Manifest& m) { training(m).buffers[8].name = "norm"; }},
      {"training has no scalar buffer 'finite'",
       [&](Manifest& m) { training(m).buffers[9].role = Role::hyperparameter; }},
      {"training has no scalar buffer 'micro_batches'",
       [&](Manifest& m) { training(m).buffers[13].name = "n"; }},
      {"training has no scalar buffer 'first_micro_batch'",
       [&](Manifest& m) { training(m).buffers[14].role = Role::statistic; }},
      {"buffer 'prediction.gradient' has the role output_gradient, which f16 does not fit",
       [&](Manifest& m) { training(m).buffers[11].encoding = Element::f16; }},
      {"buffer 'learning_rate' has the role hyperparameter, which i32 does not fit",
       [&](Manifest& m) { training(m).buffers[7].encoding = Element::i32; }},
      {"buffer 'parameters' has the role parameters, which f16 does not fit",
       [&](Manifest& m) { training(m).buffers[2].encoding = Element::f16; }},
      {"the remainders are not one flat buffer beside parameters in bf16",
       [&](Manifest& m) { training(m).buffers[2].encoding = Element::bf16; }},
      {"the remainders are not one flat buffer beside parameters in bf16",
       [&](Manifest& m) {
         training(m).buffers[19].role = Role::remainders;
         training(m).buffers[19].encoding = Element::i16;
       }},
      {"buffer '%inverse' has the role remainders, which f32 does not fit",
       [&](Manifest& m) { training(m).buffers[19].role = Role::remainders; }},
      {"buffer '%inverse' has the role optimizer_state, which bf16 does not fit",
       [&](Manifest& m) {  // it is a scalar
         training(m).buffers[19].role = Role::optimizer_state;
         training(m).buffers[19].encoding = Element::bf16;
       }},
      {"buffer 'features' has the role input, which tf32 does not fit",
       [&](Manifest& m) { training(m).buffers[0].encoding = Element::tf32; }},
      {"buffer '%inverse' has the role working_copies, which f32 does not fit",
       [&](Manifest& m) { training(m).buffers[19].role = Role::working_copies; }},
      {"buffer '%inverse' has the role counters, which f32 does not fit",
       [&](Manifest& m) { training(m).buffers[19].role = Role::counters; }},
      {"the counters are not one buffer of 4 words",
       [&](Manifest& m) {
         hand_made::let_draw(m);
         training(m).buffers.back().shape = {{5, -1}};
       }},
      {"the counters are not one buffer of 4 words",
       [&](Manifest& m) {
         hand_made::let_draw(m);
         training(m).buffers.back().name = "more";
         hand_made::let_draw(m);
       }},
      {"buffer '%counters' is not what training has under that name",
       [&](Manifest& m) {
         hand_made::let_draw(m);
         training(m).buffers.back().name = "other";
       }},
      {"input 'features' has no gradient buffer of its shape",
       [](Manifest& m) { m.input_gradients = {{"features", "prediction.gradient"}}; }},
      {"input with a gradient 'features' occurs twice",
       [](Manifest& m) { m.input_gradients = {{"features", ""}, {"features", ""}}; }},
      {"kept state 'features' has no buffer", [](Manifest& m) { m.kept_states = {"features"}; }},
      {"kept state 'a' occurs twice", [](Manifest& m) { m.kept_states = {"a", "a"}; }},
      {"working copies are not laid out as the parameters",
       [&](Manifest& m) {
         training(m).buffers[19].role = Role::working_copies;
         training(m).buffers[19].encoding = Element::bf16;
       }},
      {"buffer '%prediction.gradient' may not share its slot",
       [&](Manifest& m) { training(m).buffers[10].role = Role::output_gradient; }},
      {"a section is no part of its phase, or of another section",
       [&](Manifest& m) { training(m).sections = {{Phase::loss, 0, 9, 128, 0, {}}}; }},
      {"a section is no part of its phase, or of another section",
       [&](Manifest& m) {
         training(m).sections = {{Phase::loss, 0, 1, 128, 0, {}}, {Phase::loss, 0, 1, 64, 0, {}}};
       }},
      {"a section has impossible chunks",
       [&](Manifest& m) { training(m).sections = {{Phase::loss, 0, 1, 0, 0, {}}}; }},
      {"a section has impossible chunks",
       [&](Manifest& m) { training(m).sections = {{Phase::loss, 0, 1, 128, 4, {}}}; }},
      {"a section has impossible chunks",
       [&](Manifest& m) { training(m).sections = {{Phase::loss, 0, 1, 128, 0, {}, {}, 0}}; }},
      {"buffer 'row_errors' is of an unknown section",
       [&](Manifest& m) { training(m).buffers[5].section = 0; }},
      {"buffer 'parameters' holds no rows of its section",
       [&](Manifest& m) {
         training(m).sections = {{Phase::loss, 0, 1, 128, 0, {}}};
         training(m).buffers[2].section = 0;
       }},
      {"a section has impossible parts",
       [&](Manifest& m) {
         training(m).sections = {
             {.phase = Phase::loss, .first = 0, .count = 1, .parts = {{0, -1}}}};
       }},
      {"a slot is of parts and of others",
       [&](Manifest& m) {
         training(m).sections = {
             {.phase = Phase::loss, .first = 0, .count = 1, .parts = {{1, 0}}}};
         training(m).buffers[5].section = 0;
       }},
      {"kernel 'line_forward' has an argument of impossible parts",
       [&](Manifest& m) { training(m).phases[0][0].arguments[0].parts = 1; }},
      {"the accumulated gradients are not one flat buffer",
       [&](Manifest& m) { training(m).buffers[12].shape = {{32, -1}}; }},
      {"buffer 'accumulated' is used outside of the phase accumulate",
       [&](Manifest& m) { training(m).phases[3][0].arguments[2].buffer = 12; }},
      {"value 'fc' has an impossible shape",
       [&](Manifest& m) { training(m).values[0].shape[0].symbol = 4; }},
      {"value 'fc' has an impossible encoding",
       [&](Manifest& m) { training(m).values[0].encoding.scaling = kBlocks; }},
      {"value 'fc' has an unknown buffer", [&](Manifest& m) { training(m).values[0].buffer = 20; }},
      {"value 'fc' has an unknown buffer", [&](Manifest& m) { training(m).values[0].buffer = -2; }},
      {"value 'fc' has an unknown rule", [&](Manifest& m) { training(m).values[0].rule = 1; }},
      {"value 'fc' has an unknown rule", [&](Manifest& m) { training(m).values[0].beaten = {-1}; }},
      {"what rules said of rounding in layer 'fc' has an unknown rule",
       [&](Manifest& m) { m.decisions = {{"rounding", "fc", "", "", "toward_zero", 1, {}}}; }},
      {"what rules said of rounding in layer 'fc' has an unknown rule",
       [&](Manifest& m) { m.decisions = {{"rounding", "fc", "", "", "toward_zero", 0, {-1}}}; }},
      {"a cast has an unknown value", [&](Manifest& m) { training(m).casts[0].value = 1; }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) { training(m).casts[0].to = Element::f32; }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) { training(m).casts[0].from = Element::i32; }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) { training(m).casts[0].from.rounding = Rounding::toward_zero; }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) { training(m).casts[0].to = Element::f4e2m1; }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) {
         training(m).casts[0].from = Element::f16;
         training(m).casts[0].to = Element::f32;
         training(m).casts[0].to.saturate = true;
       }},
      {"the cast of value 'fc' has impossible encodings",
       [&](Manifest& m) { training(m).casts[0].to.scaling = kBlocks; }},
      {"the cast of value 'fc' has an unknown rule",
       [&](Manifest& m) { training(m).casts[0].rule = -2; }},
      {"the cast of value 'fc' has an unknown kernel",
       [&](Manifest& m) { training(m).casts[0].kernel = "fc"; }},
      {"it has probes", [&](Manifest& m) { training(m).probes = m.programs[2].probes; }},
      {"a probe of layer 'fc' belongs to no phase that is replayed",
       [](Manifest& m) { m.programs[2].probes[0].phase = Phase::update; }},
      {"a probe of layer 'fc' has an unknown launch",
       [](Manifest& m) { m.programs[2].probes[0].launch = 3; }},
      {"a probe of layer 'fc' has an unknown argument",
       [](Manifest& m) { m.programs[2].probes[0].argument = 4; }},
      {"a probe of layer 'fc' has an unknown argument",
       [](Manifest& m) { m.programs[2].probes[1].before = 2; }},
      {"a probe of layer 'fc' has an unknown first launch",
       [](Manifest& m) { m.programs[2].probes[1].first_launch = 1; }},
      {"a probe of layer 'fc' has an unknown first launch",
       [](Manifest& m) { m.programs[2].probes[0].first_launch = 5; }},
      {"a probe of layer 'fc' has an unknown rule",
       [](Manifest& m) { m.programs[2].probes[1].rule = 1; }},
      {"there is no program for training beside it",
       [](Manifest& m) { m.programs.erase(m.programs.begin()); }},
      {"two buffers share a slot",
       [](Manifest& m) {
         m.programs[2].slots[5].tenants = {5, 7};
         m.programs[2].slots[7].tenants = {11};
         m.programs[2].slots.pop_back();
         m.programs[2].buffers[7].slot = 5;
         m.programs[2].buffers[11].slot = 7;
       }},
      {"buffer 'target' is not what training has under that name",
       [](Manifest& m) { m.programs[2].buffers[1].shape = {{3, -1}}; }},
      {"buffer 'loss_scale' is not what training has under that name",
       [](Manifest& m) { m.programs[2].buffers[9].shape = {{2, -1}}; }},
  };
  check_refused(cases);
}
