// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum that contradict themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "halftone/description/rule_faults.hpp"
#include "line_artifact.hpp"
#include "manifest_failure.hpp"

using namespace halftone::manifest;
using Kind = DecodeError::Kind;
using halftone::encoding::Rounding, halftone::encoding::Scaling;

constexpr Scaling kBlocks = {.kind = Scaling::Kind::block, .size = 32};

namespace {

/// A kernel that is cut as contractions are, with one thing wrong.
template <class Break>
void break_blocking(Manifest& manifest, Break break_it) {
  Kernel& kernel = manifest.kernels[1];
  kernel.tasks.resize(2, kernel.tasks[0]);
  kernel.blocking = {{{6, 16, 8}, {1, 4, 1}}, {{8, -1}}, 48, false};
  break_it(kernel.blocking);
}

/// The accumulated gradients become a state in the host's memory, which the update sees half of.
Argument& place_in_host(Manifest& manifest) {
  Program& program = manifest.programs[0];
  program.phases[static_cast<std::size_t>(Phase::accumulate)].clear();
  program.buffers[12].role = Role::optimizer_state;
  program.buffers[12].in_host = true;
  auto& arguments = program.phases[static_cast<std::size_t>(Phase::update)][0].arguments;
  return arguments.emplace_back(Argument{12, 32, 0, 32});
}

std::vector<Launch>& launches_of(Program& program, Phase phase) {
  return program.phases[static_cast<std::size_t>(phase)];
}

/// In a slot of its own.
Buffer& add(Program& program, std::string name, Role role, std::vector<Dimension> shape,
            Element element = Element::f32) {
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back({std::move(name), role, element, std::move(shape), slot});
  program.slots.push_back({{index}});
  return program.buffers.back();
}

/// The weight of inference as codes, where the bias is a matrix too and the second parameter.
void quantize(Manifest& manifest) {
  manifest.parameters[1].shape = {2, 1};
  Program& inference = manifest.programs[1];
  const auto codes = static_cast<std::int32_t>(inference.buffers.size());
  add(inference, "codes", Role::codes, {{8, -1}}, Element::i8);
  add(inference, "scales", Role::scales, {{8, -1}});
  inference.quantized = {{1, codes, 3, 2, 1, true}};
  inference.masters = {5, -1};
}

/// A cast from bf16 under a delayed scale, of the second of two values.
void delay(Manifest& manifest) {
  Program& training = manifest.programs[0];
  training.values.push_back(training.values[0]);
  Cast& cast = training.casts[0];
  cast.value = 1;
  cast.from = Element::bf16;
  cast.to = Element::f8e4m3;
  cast.to.saturate = true;
  cast.to.scaling = {
      .kind = Scaling::Kind::delayed, .scale = Element::f8e8m0, .history = 16, .margin = 3};
}

/// The errors of rows, which the loss writes, stay in the host's memory, and the backward pass
/// reads what comes back.
Program& stay_in_host(Manifest& manifest) {
  manifest.targets = {"sm_80"};
  CudaTarget target{"sm_80", {}};
  for (const Kernel& kernel : manifest.kernels) {
    CudaKernel& cuda = target.kernels.emplace_back();
    cuda.text = manifest.text_count++;
    cuda.entry = kernel.name;
    cuda.blocks = kernel.tasks;
  }
  manifest.cuda = {target};
  Program& program = manifest.programs[0];
  const auto back = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back(program.buffers[5]);
  program.buffers.back().name = "row_errors.back";
  program.buffers.back().slot = slot;
  program.slots.push_back({{back}});
  program.phases[static_cast<std::size_t>(Phase::backward)][0].arguments.push_back({back, 0});
  program.stays = {{5, back}};
  return program;
}

}  // namespace

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

TEST_CASE("what stays in the host's memory may be used in every phase on its side of the way") {
  for (const Phase before : {Phase::forward, Phase::loss})
    for (const Phase behind : {Phase::loss_backward, Phase::external, Phase::backward}) {
      CAPTURE(static_cast<int>(before));
      CAPTURE(static_cast<int>(behind));
      Manifest manifest = hand_made::manifest();
      Program& program = stay_in_host(manifest);
      const auto arguments_in = [&](Phase phase) -> std::vector<Argument>& {
        return program.phases[static_cast<std::size_t>(phase)][0].arguments;
      };
      const Argument back = arguments_in(Phase::backward).back();
      arguments_in(Phase::backward).pop_back();
      manifest.programs.resize(1);
      arguments_in(before).push_back({5, 0});
      arguments_in(behind).push_back(back);
      Kind kind{};
      CHECK(failure(encode(manifest), kind).empty());
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
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { m.kernels[1].blocking.stride = 16; }},  // of what is no contraction
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { m.kernels[1].blocking.tiles = {{6, 16, 8}, {1, 4, 1}}; }},  // one axis
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles.pop_back(); }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].rows = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[1].columns = 1 << 20; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].lanes = 5; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].depth = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].depth = 65; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = -1; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = 50; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = 1 << 17; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].lanes = 13; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].rows = b.tiles[0].lanes = 65; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[1].columns = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) {
         break_blocking(m, [&](Blocking&) { m.kernels[1].tasks[1].tile = 2; });
       }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.depth = {{1, 7}}; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs = -2; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.lhs_neighbours = -1; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs_neighbours = -1; }); }},
      {"kernel 'line_loss' packs no argument of its launch",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs = 4; }); }},
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
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) {
         m.loss_scale.kind = LossScale::Kind::fixed;
         training(m).buffers[15].name = "scale";
       }},
      {"training has no scalar buffer 'loss_scale'",
       [&](Manifest& m) { training(m).buffers[15].role = Role::activation; }},
      {"training has no scalar buffer 'loss_scale.floored'",
       [&](Manifest& m) { training(m).buffers[16].name = "floored"; }},
      {"training has no scalar buffer 'loss_scale.clean'",
       [&](Manifest& m) { training(m).buffers[17].shape = {{2, -1}}; }},
      {"training has no scalar buffer 'loss_scale.wait'",
       [&](Manifest& m) { training(m).buffers[18].name = "wait"; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 0.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.initial = 1e39; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.floor = 2.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.ceiling = 0.5; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.growth = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = 1.0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.backoff = std::nan(""); }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.interval = 0; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.hysteresis = -1; }},
      {"the loss scale is impossible", [](Manifest& m) { m.loss_scale.patience = 1 << 25; }},
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
      {"buffer 'accumulated' lies in the host's memory, where it may not",
       [&](Manifest& m) { training(m).buffers[12].in_host = true; }},
      {"buffer 'loss_scale' lies in the host's memory, where it may not",
       [&](Manifest& m) { training(m).buffers[15].in_host = true; }},
      {"buffer 'accumulated' lies in the host's memory, where it may not",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).buffers[12].shape = {{1, 0}};
       }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [](Manifest& m) { place_in_host(m).seen = 0; }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [](Manifest& m) { place_in_host(m).seen = 33; }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::update)][0].arguments.push_back(
             {12, 0, 0, 32});
       }},
      {"kernel 'line_update' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::update)][0].arguments[0].seen = 8;
       }},
      {"kernel 'line_check' sees an impossible part of the host's memory",
       [&](Manifest& m) {
         place_in_host(m);
         training(m).phases[static_cast<std::size_t>(Phase::check)][0].arguments.push_back(
             {12, 0, 0, 32});
       }},
      {"activations of no training stay in the host's memory",
       [](Manifest& m) {
         stay_in_host(m).stays.clear();
         m.programs[1].stays = {{5, 6}};
       }},
      {"activations stay in the host's memory of a program for the CPU",
       [](Manifest& m) {
         stay_in_host(m);
         m.targets = {"cpu", "sm_80"};
       }},
      {"an unknown buffer stays in the host's memory",
       [](Manifest& m) { stay_in_host(m).stays[0].back = 99; }},
      {"an unknown buffer stays in the host's memory",
       [](Manifest& m) { stay_in_host(m).stays[0].buffer = -1; }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.stays.push_back(program.stays[0]);
       }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) { stay_in_host(m).stays[0].back = 5; }},
      {"buffer 'row_errors' stays in the host's memory twice",
       [](Manifest& m) {  // and comes back to two places
         Program& program = stay_in_host(m);
         Buffer other = program.buffers.back();
         other.name = "row_errors.other";
         other.slot = static_cast<std::int32_t>(program.slots.size());
         const auto index = static_cast<std::int32_t>(program.buffers.size());
         program.buffers.push_back(other);
         program.slots.push_back({{index}});
         program.phases[static_cast<std::size_t>(Phase::backward)][0].arguments.push_back(
             {index, 0});
         program.stays.push_back({5, index});
       }},
      {"buffer 'prediction' stays in the host's memory, where it may not",
       [](Manifest& m) {  // as an output, which comes back as it was
         Program& program = stay_in_host(m);
         program.buffers.back().shape = program.buffers[4].shape;
         program.stays[0].buffer = 4;
       }},
      {"buffer 'row_errors' stays in the host's memory, where it may not",
       [](Manifest& m) { stay_in_host(m).buffers.back().role = Role::optimizer_state; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not",
       [](Manifest& m) {  // of which a chunk alone is there
         Program& program = stay_in_host(m);
         program.sections = {{Phase::loss, 0, 1, 128, 0, {}}};
         program.buffers[5].section = 0;
       }},
      {"buffer 'prediction' stays in the host's memory, where it may not",
       [](Manifest& m) { stay_in_host(m).stays[0].buffer = 4; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not, or comes back as another",
       [](Manifest& m) { stay_in_host(m).buffers.back().encoding = Element::bf16; }},
      {"buffer 'row_errors' stays in the host's memory, where it may not, or comes back as another",
       [](Manifest& m) { stay_in_host(m).buffers.back().shape.clear(); }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.phases[static_cast<std::size_t>(Phase::loss_backward)][0].arguments.push_back(
             {5, 0});
       }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         Program& program = stay_in_host(m);
         program.phases[static_cast<std::size_t>(Phase::loss)][0].arguments.push_back(
             {program.stays[0].back, 0});
       }},
      {"buffer 'row_errors' is in the host's memory while launches use it",
       [](Manifest& m) {
         stay_in_host(m).phases[static_cast<std::size_t>(Phase::backward)][0].arguments.pop_back();
       }},
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

TEST_CASE("P43: manifest and description judge a loss scale alike, in f32") {
  namespace hd = halftone::description;
  struct Case {
    bool possible;
    double floor, initial, ceiling;
    double growth = 2.0, backoff = 0.5;
  };
  const double largest = 3.4028235e38;  // above the largest f32, and rounds to it
  const double third = 1.0 / 3.0;
  const double third_in_f32 = 0x1.555556p-2;  // above a third
  const Case cases[] = {
      {true, 1, 65536, largest},
      {true, largest, largest, largest},
      {false, 1, 1, 0x1.ffffffp127},  // infinity in f32
      {false, 0x1.8p-150, 1, 1},      // 2^-149 in f32, whose reciprocal is infinite
      {false, 0x1p-128, 1, 1},        // so is this one's
      {true, 0x1.00001p-128, 1, 1},
      {false, 0x1p-150, 1, 1},             // 0 in f32
      {true, third_in_f32, third, third},  // equal in f32
      {true, third, third_in_f32, third},
      {false, 0x1.555558p-2, third, 1},  // the next f32
      {false, third, 0x1.555558p-2, third},
      {true, 1, 1, 1, 0x1.000002p0},
      {false, 1, 1, 1, 1 + 0x1p-24},  // 1 in f32
      {true, 1, 1, 1, largest},
      {false, 1, 1, 1, 0x1.ffffffp127},
      {true, 1, 1, 1, 2, 0x1.fffffep-1},
      {false, 1, 1, 1, 2, 1 - 0x1p-26},  // 1 in f32
      {false, 1, 1, 1, 2, 0x1p-150},
  };
  for (const Case& c : cases) {
    CAPTURE(c.floor);
    CAPTURE(c.initial);
    CAPTURE(c.ceiling);
    CAPTURE(c.growth);
    CAPTURE(c.backoff);
    Manifest manifest = hand_made::manifest();
    manifest.loss_scale = {
        LossScale::Kind::dynamic, c.initial, c.growth, c.backoff, 1, c.floor, c.ceiling};
    manifest.loss_scale.patience = 1;
    for (Program& program : manifest.programs) {
      for (Buffer& buffer : program.buffers) {
        if (buffer.name == "loss_scale") buffer.initial = c.initial;
      }
    }
    Kind kind{};
    const std::string message = failure(encode(manifest), kind);
    CHECK(message ==
          (c.possible ? "" : "the manifest is inconsistent: the loss scale is impossible"));
    const hd::LossScale same{.kind = hd::LossScale::Kind::dynamic,
                             .initial = c.initial,
                             .growth = c.growth,
                             .backoff = c.backoff,
                             .floor = c.floor,
                             .ceiling = c.ceiling};
    CHECK((hd::rules::loss_scale_fault(same).trouble == hd::rules::Trouble::none) == c.possible);
  }
}
