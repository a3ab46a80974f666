// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum by which the runtime would read or write past the end of a
// buffer.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "line_artifact.hpp"
#include "manifest_failure.hpp"
#include "manifest_parts.hpp"

using namespace halftone::manifest;
using namespace manifest_parts;
using Kind = DecodeError::Kind;

namespace {

Program& training(Manifest& manifest) { return manifest.programs[0]; }
Program& diagnosis(Manifest& manifest) { return manifest.programs[2]; }

/// Adds a state in training and diagnosis, and what it was before a step in training alone.
Buffer& add_state(Manifest& manifest, std::vector<Dimension> before) {
  add(training(manifest), "mean", Role::state, {{4, -1}});
  add(diagnosis(manifest), "mean", Role::state, {{4, -1}});
  return add(training(manifest), "before=mean", Role::optimizer_state, std::move(before));
}

/// A program that decodes, with a cache and an output.
Program& make_decode(Manifest& manifest) {
  manifest.symbols = {"batch", "time", "capacity"};
  manifest.assumed = {1, 1, 1};
  manifest.losses.clear();
  manifest.outputs = {{"logits", "logits", ""}};
  manifest.inputs = {"tokens", "%start", "%count"};
  manifest.loss_scale.kind = LossScale::Kind::none;
  Program decode;
  decode.name = kDecode;
  add(decode, "tokens", Role::input, {{1, 0}, {1, 1}}, Element::i32);
  add(decode, "%start", Role::input, {{1, 0}}, Element::i32);
  add(decode, "%count", Role::input, {{1, 0}}, Element::i32);
  add(decode, "parameters", Role::parameters, {{hand_made::kParameterElements, -1}});
  add(decode, "keys", Role::cache, {{1, 0}, {1, 2}, {8, -1}});
  add(decode, "logits", Role::output, {{1, 0}, {5, -1}});
  manifest.programs = {decode};
  return manifest.programs[0];
}

/// The loss in chunks of rows; row_errors and the gradient in its place hold one.
Section& cut_loss(Manifest& manifest) {
  training(manifest).sections = {{Phase::loss, 0, 1, 128, 0, {}}};
  training(manifest).buffers[5].section = 0;
  return training(manifest).sections[0];
}

/// Or for every element of `parts`.
void cut_loss_in_parts(Manifest& manifest, std::vector<Dimension> parts) {
  training(manifest).sections = {
      {.phase = Phase::loss, .first = 0, .count = 1, .parts = std::move(parts)}};
}

std::vector<Argument>& arguments_of_loss(Manifest& manifest) {
  return launches_of(training(manifest), Phase::loss)[0].arguments;
}

}  // namespace

TEST_CASE("what these tests break is sound as it was") {
  const std::function<void(Manifest&)> sound[] = {
      [](Manifest& m) {
        add_state(m, {{4, -1}});
      },
      [](Manifest& m) { make_decode(m); },
      [](Manifest& m) { cut_loss(m); },
      [](Manifest& m) {
        add(training(m), "averaged.parameters", Role::optimizer_state, {{64, -1}});
      },
      [](Manifest& m) {  // which the runtime does not read as parameters
        add(training(m), "averaged.parameters", Role::optimizer_state, {{64, -1}}, Element::bf16);
      },
      [](Manifest& m) {
        add(training(m), "before=nothing", Role::optimizer_state, {{4, -1}});
        add(training(m), "before=row_errors", Role::optimizer_state, {{4, -1}});
      },
      [](Manifest& m) { diagnosis(m).buffers[2].name = "weights"; },
      [](Manifest& m) {  // the last of six where every symbol is 1
        training(m).buffers[5].shape = {{1, 0}, {2, -1}, {3, -1}};
        arguments_of_loss(m)[2].offset = 5;
      },
      [](Manifest& m) {
        cut_loss(m);
        training(m).sections.push_back({Phase::loss_backward, 0, 1, 128, 0, {}});
      },
      [](Manifest& m) {
        cut_loss_in_parts(m, {{1, 0}});
        arguments_of_loss(m)[0].parts = 1;
      },
      [](Manifest& m) {  // in whichever order
        m.symbols = {"batch", "time"};
        m.assumed = {1, 1};
        cut_loss_in_parts(m, {{1, 0}, {1, 1}});
        training(m).buffers[5].shape = {{1, 1}, {1, 0}};
        arguments_of_loss(m)[2].parts = 2;
      },
      [](Manifest& m) {
        cut_loss_in_parts(m, {{1, 0}});
        add(training(m), "of a part", Role::activation, {{7, -1}}).section = 0;
      }};
  for (const auto& change : sound) {
    Manifest manifest = hand_made::manifest();
    change(manifest);
    Kind kind{};
    CHECK(failure(encode(manifest), kind).empty());
  }
}

TEST_CASE("a manifest by which the runtime would leave a buffer is refused with the culprit") {
  const BrokenManifest cases[] = {
      {"kernel 'line_forward' is given what lies behind the end of buffer 'parameters'",
       [](Manifest& m) { launches_of(training(m), Phase::forward)[0].arguments[2].offset = 64; }},
      {"kernel 'line_forward' is given what lies behind the end of buffer 'features'",
       [](Manifest& m) {  // of fewer rows than it may be bound to
         launches_of(training(m), Phase::forward)[0].arguments[0].offset = hand_made::kFeatures;
       }},
      {"kernel 'line_loss' is given other arguments by one launch than another",
       [](Manifest& m) { launches_of(training(m), Phase::loss)[0].arguments.pop_back(); }},
      {"kernel 'line_check' is given other arguments by one launch than another",
       [](Manifest& m) {
         auto& check = launches_of(training(m), Phase::check);
         check.push_back(check[0]);
         check[1].arguments.resize(2);
       }},
      {"kernel 'line_loss' is given other arguments by one launch than another",
       [](Manifest& m) { training(m).buffers[5].encoding = Element::bf16; }},
      {"kernel 'line_loss_backward' is given buffer '%prediction.gradient' outside of the section",
       [](Manifest& m) {  // whose first rows alone it holds
         cut_loss(m);
         training(m).buffers[10].section = 0;
       }},
      {"kernel 'line_loss' is given buffer 'row_errors' outside of the section",
       [](Manifest& m) {
         launches_of(training(m), Phase::loss).push_back(launches_of(training(m), Phase::loss)[0]);
         cut_loss(m);
       }},
      {"kernel 'line_loss' is given buffer '%prediction.gradient' outside of the section",
       [](Manifest& m) {  // in front of it
         auto& loss = launches_of(training(m), Phase::loss);
         loss.push_back(loss[0]);
         arguments_of_loss(m)[0].buffer = 10;
         training(m).sections = {{Phase::loss, 1, 1, 128, 0, {}}};
         training(m).buffers[10].section = 0;
       }},
      {"kernel 'line_loss_backward' has an entry of another kernel",
       [](Manifest& m) { m.kernels[2].cpu_entry = m.kernels[1].cpu_finish; }},
      {"kernel 'line_forward' has an entry of another kernel",
       [](Manifest& m) { m.kernels[0].cpu_finish = 0; }},
      {"kernel 'line_loss' has an impossible task axis",
       [](Manifest& m) {
         m.kernels[1].tasks = {{{}, kMostColumns}};
       }},
      {"kernel 'line_loss' has an argument of impossible parts",
       [](Manifest& m) {  // more elements than can be counted
         cut_loss(m).parts = {{2, -1}};
         training(m).buffers[5].section = -1;
         training(m).buffers[4].shape = {{1LL << 40, -1}, {1LL << 40, -1}};
         training(m).buffers[11].shape = training(m).buffers[4].shape;
         diagnosis(m).buffers[4].shape = training(m).buffers[4].shape;
         launches_of(training(m), Phase::loss)[0].arguments[0].parts = 1;
       }},
      {"kernel 'line_loss' has an argument of impossible parts",
       [](Manifest& m) {  // along more dimensions than those have
         cut_loss_in_parts(m, {{1, 0}});
         arguments_of_loss(m)[0].parts = 2;
       }},
      {"kernel 'line_loss' has an argument of impossible parts",
       [](Manifest& m) {  // three of two columns
         cut_loss_in_parts(m, {{3, -1}});
         arguments_of_loss(m)[0].parts = 1;
       }},
      {"kernel 'line_loss' has an argument of impossible parts",
       [](Manifest& m) {  // one of a scalar for every row
         cut_loss_in_parts(m, {{1, 0}});
         arguments_of_loss(m)[3].parts = 1;
       }},
      {"a section is no part of its phase, or of another section",
       [](Manifest& m) { cut_loss(m).count = 0; }},
      {"a section has impossible chunks",
       [](Manifest& m) {
         cut_loss(m).inner = {{0, -1}};
       }},
      {"buffer 'prediction' holds no rows of its section",
       [](Manifest& m) {  // but all of the batch
         cut_loss(m);
         training(m).buffers[4].section = 0;
       }},
      {"buffer '%inverse' holds no rows of its section",
       [](Manifest& m) {
         cut_loss(m);
         training(m).buffers[19].section = 0;
       }},
      {"buffer 'row_errors' holds no rows of its section",
       [](Manifest& m) {
         cut_loss(m);
         training(m).buffers[5].shape = {{4, -1}};
       }},
      {"buffer 'row_errors' holds no rows of its section",
       [](Manifest& m) {
         cut_loss(m);
         training(m).buffers[5].shape = {{1, 0, 2}};
       }},
      {"buffer 'row_errors' holds no rows of its section",
       [](Manifest& m) {
         cut_loss(m);
         training(m).buffers[5].shape = {{1, 0, 1, 2}};
       }},
      {"buffer 'of a part' holds no rows of its section",
       [](Manifest& m) {
         cut_loss_in_parts(m, {{1, 0}});
         add(training(m), "of a part", Role::optimizer_state, {{7, -1}}).section = 0;
       }},
      {"buffer 'averaged.parameters' is not laid out as the trained parameters",
       [](Manifest& m) {
         add(training(m), "averaged.parameters", Role::optimizer_state, {{32, -1}});
       }},
      {"buffer 'gradients' is not laid out as the trained parameters",
       [](Manifest& m) {
         add(m.programs[1], "gradients", Role::gradients, {{32, -1}});
       }},
      {"buffer 'before=mean' is not laid out as the state that it was",
       [](Manifest& m) {
         add_state(m, {{5, -1}});
       }},
      {"buffer 'before=mean' is not laid out as the state that it was",
       [](Manifest& m) {
         add_state(m, {{4, -1}}).encoding = Element::bf16;
       }},
      {"output 'prediction' has no gradient buffer of its shape",
       [](Manifest& m) {
         launches_of(training(m), Phase::backward).clear();
         training(m).buffers[3].role = Role::activation;
         m.outputs[0].gradient = "nothing";
         launches_of(diagnosis(m), Phase::backward).clear();
         diagnosis(m).buffers[3].role = Role::activation;
         diagnosis(m).probes.resize(7);
       }},
      {"loss 'error' has no buffer",
       [](Manifest& m) {
         launches_of(m.programs[1], Phase::loss) = launches_of(m.programs[1], Phase::forward);
       }},
      {"it runs launches together, which a replay tells apart",
       [](Manifest& m) {
         diagnosis(m).sections = {{Phase::loss, 0, 1, 128, 0, {}}};
       }},
      {"buffer 'parameters' is not laid out as training's",
       [](Manifest& m) {
         training(m).buffers[2].encoding = Element::bf16;
         add(training(m), "remainders", Role::remainders, {{64, -1}}, Element::i16);
       }},
      {"buffer 'rest' is not laid out as training's",
       [](Manifest& m) {
         for (Program* program : {&training(m), &diagnosis(m)}) {
           program->buffers[2].encoding = Element::bf16;
           const bool is_first = program == &training(m);
           add(*program, is_first ? "remainders" : "rest", Role::remainders, {{64, -1}},
               Element::i16);
         }
       }},
      {"a probe of layer 'fc' has a first launch without operands",
       [](Manifest& m) {
         diagnosis(m).probes[1].first_launch = 0;
         launches_of(diagnosis(m), Phase::forward)[0].arguments.clear();
         diagnosis(m).probes.erase(diagnosis(m).probes.begin());
       }},
      {"buffer 'keys' is no cache of sequences and their rows",
       [](Manifest& m) { make_decode(m).buffers[4].shape.clear(); }},
      {"buffer 'keys' is no cache of sequences and their rows",
       [](Manifest& m) {
         make_decode(m).buffers[4].shape[1] = {1, 1};
       }},
      {"buffer 'keys' is no cache of sequences and their rows",
       [](Manifest& m) {
         make_decode(m).buffers[4].shape[0] = {1, -1};
       }},
      {"buffer 'logits' has no row for every sequence",
       [](Manifest& m) {
         make_decode(m).buffers[5].shape = {{1, 0}};
       }},
      {"buffer 'logits' has no row for every sequence",
       [](Manifest& m) {
         make_decode(m).buffers[5].shape = {{5, -1}};
       }},
      {"buffer 'logits' has no row for every sequence",
       [](Manifest& m) {
         make_decode(m).buffers[5].shape = {{1, -1}, {5, -1}};
       }},
  };
  check_refused(cases);
}
