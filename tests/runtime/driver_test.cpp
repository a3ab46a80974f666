// SPDX-License-Identifier: Apache-2.0
// What the runtime asks of a driver: the calls of a step, one graph for each way of use, memory as
// planned, values as on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "changed_artifact.hpp"
#include "fake_driver.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/texts.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Predictor, models::line::Trainer;
using Calls = std::vector<std::string>;

namespace {

Trainer trainer_on(const halftone::Device& device, std::int64_t batch = 2) {
  return {device, {.batch = batch, .seed = 1}};
}

/// The calls that an action makes.
template <class Action>
Calls calls_of(fake::Log& log, const Action& action) {
  log.calls.clear();
  action();
  return std::exchange(log.calls, {});
}

Floats parameters_of(const Trainer& trainer) {
  Floats values = copy(trainer.parameter("fc.weight"));
  for (float bias : trainer.parameter("fc.bias")) values.push_back(bias);
  return values;
}

}  // namespace

TEST_CASE("a step is its inputs, one graph, two numbers for later, and no wait") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log, {.steps_in_flight = 3}));
  trainer.step(kFeatures, kTarget);
  const Calls expected = {"copy_in_staged 24", "copy_in_staged 16", "launch_graph",
                          "copy_out 4",        "copy_out 4",        "record"};
  for (int step = 1; step < 3; ++step) {
    CHECK(calls_of(*log, [&] { trainer.step(kFeatures, kTarget); }) == expected);
  }
  // Three are in flight: the oldest is waited for, and nothing else ever.
  Calls waiting = expected;
  waiting.insert(waiting.begin(), "synchronise_event");
  for (int step = 3; step < 10; ++step) {
    CHECK(calls_of(*log, [&] { trainer.step(kFeatures, kTarget); }) == waiting);
  }
  CHECK(calls_of(*log, [&] { trainer.wait(); }) == Calls{"synchronise"});
  CHECK(calls_of(*log, [&] { trainer.step(kFeatures, kTarget); }) == expected);
  // The graph, captured by the first step: what a diagnosis will ask for, then every kernel, two
  // rows in two blocks.
  CHECK(log->graph == Calls{"copy 4", "launch line_forward 2 x 32", "launch line_loss 2 x 32",
                            "launch line_loss_backward 2 x 32", "launch line_backward 2 x 32",
                            "launch line_check 1 x 32", "launch line_update 2 x 32"});
}

TEST_CASE("what a diagnosis may ask of micro-batches is kept without a wait") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log, {.steps_in_flight = 16}));
  const auto waits = [&](const auto& action) {
    const Calls calls = calls_of(*log, action);
    return std::ranges::any_of(calls, [](auto& call) { return call.starts_with("synchronise"); });
  };
  for (int step = 0; step < 2; ++step) {
    CHECK_FALSE(waits([&] {
      trainer.accumulate(kFeatures, kTarget);
      trainer.step(kFeatures, kTarget);
    }));
  }
  const auto part = [&] {
    trainer.forward(kFeatures);
    trainer.backward(kPredictionGradient);
    trainer.accumulate_gradients();
  };
  CHECK(waits(part));  // the first one reads its inputs back
  CHECK_FALSE(waits(part));
}

TEST_CASE("every way of use is captured once") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log));
  const auto captures = [&](const auto& action) {
    return std::ranges::count(calls_of(*log, action), "begin_capture");
  };
  const auto use_all = [&] {
    trainer.step(kFeatures, kTarget);
    trainer.accumulate(kFeatures, kTarget);
    trainer.step(kFeatures, kTarget);
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    trainer.accumulate_gradients();
    trainer.forward(kFeatures);
    trainer.backward(kPredictionGradient);
    trainer.check();
    trainer.update();
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    trainer.check();
    trainer.update();
  };
  // Steps without and with a sum, a micro-batch, forward with and without losses, backward from
  // losses and from the caller, the sum alone, check after a sum and without one, update.
  CHECK(captures(use_all) == 11);
  CHECK(captures(use_all) == 0);
}

TEST_CASE("a host's number is written when it changes, and only then") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log));
  trainer.step(kFeatures, kTarget);
  CHECK(calls_of(*log, [&] { trainer.set_learning_rate(0.25f); }) == Calls{"copy_in 4"});
  CHECK(calls_of(*log, [&] { trainer.set_learning_rate(0.25f); }).empty());
  CHECK(calls_of(*log, [&] { CHECK(trainer.learning_rate() == 0.25f); }).empty());
  CHECK(calls_of(*log, [&] { trainer.set_parameter("fc.bias", kBias); }) == Calls{"copy_in 8"});
}

TEST_CASE("values are copied out when they are asked for, once a step") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log));
  trainer.step(kFeatures, kTarget);
  const auto look = [&] { (void)trainer.parameter("fc.weight"); };
  const Calls whole_buffer = {"copy_out 256", "synchronise"};
  CHECK(calls_of(*log, look) == whole_buffer);
  CHECK(calls_of(*log, look).empty());
  CHECK(calls_of(*log, [&] { (void)trainer.parameter("fc.bias"); }).empty());
  trainer.step(kFeatures, kTarget);
  CHECK(calls_of(*log, look) == whole_buffer);
}

TEST_CASE("every text is compiled once for a device, and loaded for each program") {
  const auto log = std::make_shared<fake::Log>();
  const halftone::Device device = fake::device(log);
  const auto loads = [&](const auto& action) {
    const Calls calls = calls_of(*log, action);
    return std::ranges::count_if(calls, [](auto& call) { return call.starts_with("load "); });
  };
  CHECK(loads([&] { trainer_on(device); }) == 8);
  CHECK(log->compiled.size() == 8);  // all but the two of the diagnosis
  CHECK(loads([&] { trainer_on(device, 5); }) == 8);
  CHECK(log->compiled.size() == 8);
  CHECK(std::ranges::count(log->compiled, "line_forward for sm_80") == 1);
  CHECK(loads([&] { trainer_on(fake::device(log, {.chip = "sm_86"})); }) == 8);
  CHECK(std::ranges::count(log->compiled, "line_forward for sm_86") == 1);
}

TEST_CASE("kernels that were compiled ahead of time are loaded, as HALFTONE_JIT allows") {
  halftone::manifest::ArtifactImage image = halftone_artifact_line;
  std::vector<std::string> texts;
  halftone::manifest::DecodeError error;
  REQUIRE(halftone::manifest::unpack_texts({image.texts, image.text_bytes}, texts, error));
  const std::size_t count = texts.size();
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(halftone::manifest::entry_of(
        {static_cast<std::int32_t>(i), "sm_80", "13.0", "cubin of " + texts[i]}));
  }
  const std::vector<std::byte> packed = halftone::manifest::pack_texts(texts);
  image.texts = packed.data();
  image.text_bytes = packed.size();
  const auto artifact = halftone::Artifact::linked(image);
  const auto start = [&](const fake::Options& options) {
    const auto log = std::make_shared<fake::Log>();
    Trainer(artifact, fake::device(log, options), {.batch = 2}).step(kFeatures, kTarget);
    return log;
  };
  using halftone::Jit;
  for (const char* chip : {"sm_80", "sm_86"}) {
    for (const Jit jit : {Jit::missing, Jit::never}) {
      const auto log = start(
          {.chip = chip, .jit = jit, .toolchain = []() -> halftone::Toolchain {
             throw halftone::Error(
                 {.operation = "compile", .object = "NVRTC", .cause = "is not here", .hint = ""});
           }});
      CHECK(log->compiled.empty());
      CHECK(log->loaded.size() == 8);
      CHECK(std::ranges::count(log->loaded, "cubin of text of line_forward") == 1);
    }
  }
  const auto compiled = start({.jit = Jit::first});
  CHECK(compiled->compiled.size() == 8);
  CHECK(std::ranges::count(compiled->loaded, "text of line_forward") == 1);
  CHECK(start({.chip = "sm_90"})->compiled.size() == 8);  // not sm_80's major
  CHECK(message_of([&] { (void)start({.chip = "sm_90", .jit = Jit::never}); }) ==
        "trainer: model 'line' has kernels for 'sm_80', so that none runs on 'sm_90', which the "
        "device 'fake:0' is: the artifact holds nothing compiled for it, and HALFTONE_JIT is "
        "never; unset HALFTONE_JIT, or make the artifact with halftonec --aot");
}

TEST_CASE("a chip that NVRTC does not know runs PTX, and says so") {
  const auto log = std::make_shared<fake::Log>();
  const Trainer trainer =
      trainer_on(fake::device(log, {.chip = "sm_100", .toolchain = [] {
                                      return halftone::Toolchain{{12, 4}, {75, 80, 90}, {12, 4}};
                                    }}));
  CHECK(std::ranges::count(log->compiled, "line_forward for compute_90") == 1);
  CHECK(trainer.stats().variant == "sm_80 on sm_100 as compute_90");
}

TEST_CASE("the artifact's target that runs is named") {
  CHECK(trainer_on(fake::device()).stats().variant == "sm_80");
  const auto log = std::make_shared<fake::Log>();
  CHECK(trainer_on(fake::device(log, {.chip = "sm_89"})).stats().variant == "sm_80 on sm_89");
  CHECK(message_of([&] { trainer_on(fake::device(log, {.chip = "sm_75"})); }) ==
        "trainer: model 'line' has kernels for 'sm_80', so that none runs on 'sm_75', which "
        "the device 'fake:0' is: none of them is for it; make the artifact with sm_75 among its "
        "targets, or take Device::best(artifact)");
}

TEST_CASE("of several targets the chip's own runs, from the manifest that holds for it") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.targets.push_back("sm_86");
    manifest.cuda.push_back(manifest.cuda[0]);
    manifest.cuda[1].chip = "sm_86";
    for (auto& kernel : manifest.cuda[1].kernels) kernel.threads = 64;
  });
  for (const auto& [chip, threads] : {std::pair{"sm_80", " x 32"}, {"sm_86", " x 64"}}) {
    CAPTURE(chip);
    const auto log = std::make_shared<fake::Log>();
    Trainer trainer(changed.artifact(), fake::device(log, {.chip = chip}), {.batch = 2});
    trainer.step(kFeatures, kTarget);
    CHECK(trainer.stats().variant == chip);
    CHECK(log->graph.back().ends_with(threads));
  }
}

TEST_CASE("predicted and measured bytes are what the driver handed out") {
  for (bool separate : {false, true}) {
    CAPTURE(separate);
    const auto log = std::make_shared<fake::Log>();
    {
      Trainer trainer = trainer_on(fake::device(log, {.separate_buffers = separate}), 5);
      const auto agree = [&](std::int64_t bytes) {
        CHECK(log->held_bytes == bytes);
        CHECK(trainer.stats().peak_bytes_predicted == bytes);
        CHECK(trainer.stats().peak_bytes_measured == bytes);
      };
      // In one piece: the arena of memory_test.cpp, the kept loss scale, and for the workspaces
      // 512 zeroed bytes and 256 for all. Apart: 60, 40, 256, 256, 40, 20, 40, 40 bytes and eleven
      // scalars, the kept one, and workspaces of 256 + 256 and 512 + 256 bytes.
      const std::int64_t bytes = separate ? 752 + 44 + 4 + 512 + 768 : 1536 + 4 + 768;
      agree(bytes);
      trainer.accumulate(Floats(15), Floats(10));
      agree(bytes + 256);
      trainer.accumulate(Floats(15), Floats(10));
      agree(bytes + 256);
      CHECK_FALSE(trainer.diagnose());
      agree(bytes + 256);
    }
    CHECK(log->is_clean());
  }
}

TEST_CASE("a run on a driver has the bits of the run on the CPU") {
  auto noise = [state = 1u](std::size_t count) mutable {
    Floats values(count);
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    return values;
  };
  for (const fake::Options& options :
       {fake::Options{}, fake::Options{.separate_buffers = true},
        fake::Options{.checks_launches = true}, fake::Options{.late = true},
        fake::Options{.steps_in_flight = 1, .late = true}}) {
    Trainer driven = trainer_on(fake::device(std::make_shared<fake::Log>(), options), 7);
    Trainer cpu = trainer_on(halftone::Device::cpu(), 7);
    for (int step = 0; step < 30; ++step) {
      CAPTURE(step);
      const Floats features = noise(21), target = noise(14);
      for (Trainer* trainer : {&driven, &cpu}) {
        if (step % 3 == 1) trainer->accumulate(features, target);
        if (step % 5 == 2) trainer->set_learning_rate(0.1f * static_cast<float>(step % 4));
        if (step % 7 == 3) trainer->set_parameter("fc.bias", Floats{features[0], target[0]});
        if (step % 2 == 0) {
          trainer->step(features, target);
        } else {
          trainer->forward(features, target);
          trainer->backward();
          trainer->check();
          trainer->update();
        }
      }
      CHECK(parameters_of(driven) == parameters_of(cpu));
      CHECK(driven.loss("error") == cpu.loss("error"));
      CHECK(driven.stats().grad_norm == cpu.stats().grad_norm);
      CHECK(copy(driven.output("prediction")) == copy(cpu.output("prediction")));
    }
    Predictor a(fake::device(), {.batch = 3}), b(halftone::Device::cpu(), {.batch = 3});
    a.copy_parameters(driven);
    b.copy_parameters(cpu);
    const Floats features = noise(9);
    CHECK(copy(a.predict(features).prediction) == copy(b.predict(features).prediction));
  }
}

TEST_CASE("two devices train at once") {
  const auto run = [](const halftone::Device& device, std::uint64_t seed) {
    Trainer trainer(device, {.batch = 2, .seed = seed});
    for (int step = 0; step < 50; ++step) trainer.step(kFeatures, kTarget);
    return parameters_of(trainer);
  };
  const Floats first = run(halftone::Device::cpu(), 1), second = run(halftone::Device::cpu(), 2);
  const halftone::Device a = fake::device(), b = fake::device();
  for (int round = 0; round < 5; ++round) {
    Floats other;
    std::thread thread([&] { other = run(b, 2); });
    CHECK(run(a, 1) == first);
    thread.join();
    CHECK(other == second);
  }
}

TEST_CASE("a driven device has a name and a description, and memory of its own") {
  const halftone::Device device = fake::device().with_threads(2);
  CHECK(device.name() == "fake:0");
  CHECK(device.variants().empty());
  CHECK(device.description() ==
        "fake:0: a fake (sm_80, no driver), 2 threads; the test asks for it");
  CHECK(message_of([&] { (void)device.with_memory(halftone::host_memory()); }) ==
        "device: device 'fake:0' has memory of its own; give a memory source to the CPU alone");
  CHECK(message_of([&] { (void)device.with_packed(halftone::Packed::never); }) ==
        "device: device 'fake:0' packs no operands of matrix products; give with_packed to the CPU "
        "alone");
}

TEST_CASE("damaged kernel texts and impossible grids are refused") {
  halftone::manifest::ArtifactImage image = halftone_artifact_line;
  const auto refused = [&] {
    const auto artifact = halftone::Artifact::linked(image);
    return message_of([&] { Trainer(artifact, fake::device(), {.batch = 2}); });
  };
  std::vector<std::byte> texts(image.texts, image.texts + image.text_bytes);
  texts[texts.size() / 2] ^= std::byte{1};
  image.texts = texts.data();
  CHECK(refused().find("trainer: model 'line' has damaged kernel texts: the kernel texts were "
                       "altered: ") == 0);
  image.texts = nullptr;
  image.text_bytes = 0;
  CHECK(refused() ==
        "trainer: model 'line' has damaged kernel texts: their number is not the manifest's; make "
        "the artifact again with halftonec");
  const ChangedArtifact wide([](auto& manifest) {
    manifest.cuda[0].kernels[0].blocks = {{{{std::int64_t{1} << 31, -1}}, 1}};
  });
  CHECK(message_of([&] { Trainer(wide.artifact(), fake::device(), {.batch = 2}); }) ==
        "trainer: model 'line' with batch 2 has a kernel with more than 2^31 - 1 blocks, "
        "'line_forward'; bind smaller sizes");
}

TEST_CASE("what tensor copies fetch has 2^30 rows and columns at most, or bytes of packed codes") {
  namespace m = halftone::manifest;
  // Of batch * batch rows, or of 16 * batch * batch words in a row.
  const auto bound = [](std::int64_t batch, m::Element element) {
    const bool are_words = element == m::Element::i32;
    const ChangedArtifact copying([&](m::Manifest& manifest) {
      m::Program& program = manifest.programs[0];
      m::Launch& launch = program.phases[static_cast<std::size_t>(m::Phase::update)][0];
      const auto codes = static_cast<std::int32_t>(program.buffers.size());
      const auto slot = static_cast<std::int32_t>(program.slots.size());
      program.buffers.push_back({"codes", m::Role::activation, element, {{16, -1}}, slot, 0.0});
      program.slots.push_back({{codes}});
      const auto argument = static_cast<std::int32_t>(launch.arguments.size());
      launch.arguments.push_back({codes, 0});
      std::vector<m::Dimension> rows = {{16, -1}}, columns = {{16, -1}};
      for (int i = 0; i < 2; ++i) (are_words ? columns : rows).push_back({1, 0});
      if (!are_words) rows.erase(rows.begin());
      manifest.cuda[0].kernels[static_cast<std::size_t>(launch.kernel)].maps = {
          {argument, element, {{rows, 1}, {columns, 16}}}};
    });
    return message_of([&] {
      const auto device = fake::device(std::make_shared<fake::Log>(), {.encodes_maps = true});
      Trainer(copying.artifact(), device, {.batch = batch});
    });
  };
  const auto refused = [](const char* batch) {
    return std::string("trainer: model 'line' with batch ") + batch +
           " has an operand of more than 2^30 rows or columns, of kernel 'line_update'; bind "
           "smaller sizes";
  };
  CHECK(bound(32768, m::Element::bf16) == "no error");
  CHECK(bound(32769, m::Element::bf16) == refused("32769"));
  CHECK(bound(4096, m::Element::i32) == "no error");
  CHECK(bound(4097, m::Element::i32) == refused("4097"));
}

TEST_CASE("an image that a kernel gathers has at most 2^30 windows and 2^30 places") {
  // 4 * batch by batch of them, as where symbols say how long two sides are.
  const ChangedArtifact gathering([](auto& manifest) {
    manifest.cuda[0].kernels[0].blocks.push_back(
        {{{4, 0}, {1, 0}}, halftone::manifest::kMostOfImage});
  });
  const auto bound = [&](std::int64_t batch) {
    return message_of([&] { Trainer(gathering.artifact(), fake::device(), {.batch = batch}); });
  };
  CHECK(bound(16384) == "no error");
  CHECK(bound(16385) ==
        "trainer: model 'line' with batch 16385 has an image of more than 2^30 windows or places, "
        "which kernel 'line_forward' gathers; bind smaller sizes");
}
