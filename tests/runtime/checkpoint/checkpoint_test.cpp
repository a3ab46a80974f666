// SPDX-License-Identifier: Apache-2.0
// save() and resume(): what follows a resumed step is what follows it in a trainer that never
// stopped, to the bit; and files that are no checkpoints of the model change nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "../changed_artifact.hpp"
#include "../files/scratch_folder.hpp"
#include "../worked_example.hpp"
#include "checkpoint/file_checksum.hpp"
#include "message_of.hpp"
#include "safetensors/header.hpp"

using namespace models;
using namespace worked_example;
using halftone::tests::bytes_of_file, halftone::tests::ScratchFolder, halftone::tests::write_file;

namespace {

constexpr std::int64_t kBatch = 5;

/// The inputs of a step: some of them overflow, so that the loss scale moves.
struct Inputs {
  explicit Inputs(int step) {
    std::mt19937 random(static_cast<unsigned>(step) + 1);
    for (Floats* values : {&features, &target}) {
      values->resize(static_cast<std::size_t>(kBatch * (values == &features ? 3 : 2)));
      for (float& value : *values)
        value = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    }
    if (step % 5 == 3) target[0] = INFINITY;
  }
  Floats features, target;
};

void train(line::Trainer& trainer, int first, int last) {
  for (int step = first; step < last; ++step) {
    const Inputs inputs(step);
    trainer.step(inputs.features, inputs.target);
  }
}

line::Trainer fresh(std::uint64_t seed = 1) {
  return line::Trainer(test_device(), {.batch = kBatch, .seed = seed});
}

/// All that a trainer shows of what it will do.
std::vector<float> shown(line::Trainer& trainer) {
  std::vector<float> values;
  for (const std::string& name : trainer.parameter_names())
    for (const float value : trainer.parameter(name)) values.push_back(value);
  const halftone::Statistics stats = trainer.stats();
  values.insert(values.end(), {stats.loss_scale, trainer.learning_rate(), float(stats.steps),
                               float(stats.skipped_steps), float(stats.floored)});
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// As the file says.
std::size_t header_bytes(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return length;
}

/// Refused with this sentence, and nothing changed.
void check_refused(line::Trainer& trainer, const std::string& file, const std::string& sentence,
                   const halftone::ResumeOptions& options = {}) {
  const std::vector<float> before = shown(trainer);
  CHECK(message_of([&] { trainer.resume(file, options); }) == sentence);
  CHECK(same_bits(shown(trainer), before));
}

}  // namespace

TEST_CASE("a resumed trainer goes on as one that never stopped") {
  const ScratchFolder scratch;
  const auto file = scratch / "line.safetensors";
  line::Trainer straight = fresh();
  for (int stop = 0; stop < 25; ++stop) {
    CAPTURE(stop);
    straight.set_learning_rate(0.01f + 0.001f * float(stop));
    const halftone::SaveOptions options{.background = stop % 2 == 0};
    straight.save(file, options);
    line::Trainer resumed = fresh(99);
    train(resumed, 41, 44);  // all of it is replaced, and that its last step is skipped
    straight.finish_saving();
    CHECK(resumed.resume(file).steps == stop);
    CHECK(same_bits(shown(resumed), shown(straight)));
    train(resumed, stop, stop + 7);
    line::Trainer other = fresh(7);
    other.resume(file);
    train(other, stop, stop + 7);
    CHECK(same_bits(shown(resumed), shown(other)));
    train(straight, stop, stop + 1);
  }
  // From the last checkpoint, made before step 24, on.
  line::Trainer resumed = fresh(5);
  resumed.resume(file);
  train(resumed, 24, 40);
  train(straight, 25, 40);
  CHECK(straight.stats().skipped_steps == 8);
  CHECK(same_bits(shown(resumed), shown(straight)));
}

TEST_CASE("a checkpoint holds every parameter under its name, and notes") {
  const ScratchFolder scratch;
  line::Trainer trainer = fresh();
  train(trainer, 0, 4);
  trainer.save(scratch / "a", {.notes = {{"epoch", "3"}, {"who", "\u20ac \"quoted\"\n"}}});
  const std::string bytes = bytes_of_file(scratch / "a");
  halftone::safetensors::Header header;
  std::uint64_t at = 0;
  std::string why;
  REQUIRE(halftone::safetensors::parse(std::as_bytes(std::span(bytes)), header, at, why));
  const auto find = [&](const std::string& name) {
    for (const auto& tensor : header.tensors)
      if (tensor.name == name) return tensor;
    FAIL("no tensor ", name);
    return header.tensors[0];
  };
  for (const std::string& name : trainer.parameter_names()) {
    const auto tensor = find(name);
    const std::span<const float> values = trainer.parameter(name);
    CHECK(tensor.type == "F32");
    REQUIRE(tensor.end - tensor.begin == values.size_bytes());
    CHECK(std::memcmp(bytes.data() + at + tensor.begin, values.data(), values.size_bytes()) == 0);
  }
  CHECK(find("fc.weight").shape == std::vector<std::int64_t>{2, 3});
  CHECK(find("halftone/loss_scale").shape.empty());
  line::Trainer other = fresh();
  const halftone::Resumed resumed = other.resume(scratch / "a");
  CHECK(resumed.steps == 4);
  CHECK(resumed.notes == halftone::Notes{{"epoch", "3"}, {"who", "\u20ac \"quoted\"\n"}});
  CHECK_FALSE(other.updated());  // step 3 was skipped
  CHECK(message_of([&] {
          (void)other.save(scratch / "b", {.notes = {{"halftone.x", ""}}});
        }) ==
        "save: note 'halftone.x' begins as the trainer's own do; name it without 'halftone.'");
  CHECK(message_of([&] { (void)other.save(scratch / "b", {.keep = -1}); }) ==
        "save: the number of files to keep is -1; give 0 or more");
}

TEST_CASE("a file that was changed or cut anywhere is refused, and nothing changes") {
  const ScratchFolder scratch;
  line::Trainer saved = fresh();
  train(saved, 0, 2);
  saved.save(scratch / "a");
  const std::string good = bytes_of_file(scratch / "a"), bad = scratch / "b";
  line::Trainer trainer = fresh(3);
  const std::vector<float> before = shown(trainer);
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const bool cut : {false, true}) {
      std::string bytes = good.substr(0, cut ? at : good.size());
      if (!cut) bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      write_file(bad, bytes);
      refused +=
          message_of([&] { trainer.resume(bad); }).starts_with("resume: file '" + bad + "' ");
    }
  }
  CHECK(refused == 2 * static_cast<int>(good.size()));
  CHECK(same_bits(shown(trainer), before));
  write_file(bad, good + '\0');
  check_refused(trainer, bad,
                "resume: file '" + bad + "' is no sound safetensors file: it has " +
                    std::to_string(good.size() - 8 - header_bytes(good) + 1) +
                    " bytes behind its header, but its tensors take " +
                    std::to_string(good.size() - 8 - header_bytes(good)) +
                    "; give a file that save() wrote");
  std::string changed = good;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  write_file(bad, changed);
  check_refused(trainer, bad,
                "resume: file '" + bad +
                    "' is damaged, or another program changed it: its checksum is not that of its "
                    "bytes; take an earlier file");
  write_file(bad, std::string("\2\0\0\0\0\0\0\0{}", 10));
  check_refused(trainer, bad,
                "resume: file '" + bad +
                    "' is a safetensors file, but no checkpoint of a trainer; give a file that "
                    "save() wrote");
}

TEST_CASE("other models and other rules are refused, rules unless asked for") {
  const ScratchFolder scratch;
  const std::string file = scratch / "a";
  line::Trainer saved = fresh();
  train(saved, 0, 4);
  saved.save(file);
  const auto changed = [&](auto change) { return ChangedArtifact(change); };
  const ChangedArtifact rules = changed(
      [](halftone::manifest::Manifest& manifest) { manifest.rules = {"everywhere : store bf16"}; });
  line::Trainer other(rules.artifact(), test_device(), {.batch = 3, .seed = 2});
  const std::string mine = "'everywhere : store bf16'";
  const std::string message = message_of([&] { other.resume(file); });
  CHECK(
      message.starts_with("resume: file '" + file + "' was trained under other precision rules: "));
  CHECK(message.ends_with("but the trainer's are " + mine +
                          "; say ResumeOptions{.other_rules = true} to go on under the trainer's"));
  const halftone::Resumed resumed = other.resume(file, {.other_rules = true});
  CHECK(resumed.steps == 4);
  CHECK(resumed.kept.empty());
  CHECK(resumed.left_out.empty());
  CHECK(same_bits(shown(other), shown(saved)));

  const ChangedArtifact named =
      changed([](halftone::manifest::Manifest& manifest) { manifest.model = "curve"; });
  halftone::Trainer curve(named.artifact(), test_device(),
                          {.model = "", .bindings = std::array{halftone::Binding{"batch", 3}}});
  CHECK(message_of([&] { curve.resume(file); }) ==
        "resume: file '" + file +
            "' is of model 'line', but the trainer's is 'curve'; give a "
            "checkpoint of this model");
  CHECK(curve.resume(file, {.other_rules = true}).steps == 4);
  for (const std::string& name : saved.parameter_names())
    CHECK(std::ranges::equal(curve.parameter(name), saved.parameter(name)));
  const ChangedArtifact formed =
      changed([](halftone::manifest::Manifest& manifest) { manifest.structure += 1; });
  halftone::Trainer form(formed.artifact(), test_device(),
                         {.model = "", .bindings = std::array{halftone::Binding{"batch", 3}}});
  CHECK(message_of([&] { form.resume(file); }) ==
        "resume: file '" + file +
            "' is of another form of model 'line': its layers, parameters or "
            "optimizer differ; resume with the program that saved it");
}

/// The line, with a decay that a caller may set.
void add_weight_decay(halftone::manifest::Manifest& manifest) {
  halftone::manifest::Program& training = manifest.programs[0];
  const auto slot = static_cast<std::int32_t>(training.slots.size());
  training.slots.push_back({{static_cast<std::int32_t>(training.buffers.size())}});
  training.buffers.push_back({"weight_decay",
                              halftone::manifest::Role::hyperparameter,
                              halftone::manifest::Element::f32,
                              {},
                              slot,
                              0.5});
}

TEST_CASE("a checkpoint holds what callers set") {
  const ScratchFolder scratch;
  const ChangedArtifact decaying(add_weight_decay);
  line::Trainer trainer(decaying.artifact(), test_device(), {.batch = kBatch, .seed = 2});
  trainer.set_weight_decay(0.25f);
  trainer.save(scratch / "file");
  line::Trainer other(decaying.artifact(), test_device(), {.batch = kBatch, .seed = 3});
  CHECK(other.weight_decay() == 0.5f);
  CHECK(other.resume(scratch / "file").kept.empty());
  CHECK(other.weight_decay() == 0.25f);
}

/// The line with one parameter, a vector, of which the optimizer keeps squares (U18).
ChangedArtifact of_one_vector(double squares) {
  return ChangedArtifact([=](halftone::manifest::Manifest& manifest) {
    using halftone::manifest::Element, halftone::manifest::Role;
    manifest.parameters.resize(1);
    manifest.parameters[0].name = "w";
    manifest.parameters[0].shape = {hand_made::kParameterElements};
    halftone::manifest::Program& training = manifest.programs[0];
    const auto slot = static_cast<std::int32_t>(training.slots.size());
    training.slots.push_back({{static_cast<std::int32_t>(training.buffers.size())}});
    training.buffers.push_back({"adafactor.squares/w",
                                Role::optimizer_state,
                                Element::f32,
                                {{hand_made::kParameterElements, -1}},
                                slot,
                                squares});
  });
}

TEST_CASE("a state of the only parameter is named once, and read where it was named twice") {
  const ScratchFolder scratch;
  const std::string file = scratch / "a", former = scratch / "former";
  const ChangedArtifact first = of_one_vector(0.75), second = of_one_vector(0.25);
  line::Trainer(first.artifact(), test_device(), {.batch = kBatch}).save(file);
  const std::string bytes = bytes_of_file(file);
  halftone::safetensors::Header header;
  std::uint64_t at = 0;
  std::string why;
  REQUIRE(halftone::safetensors::parse(std::as_bytes(std::span(bytes)), header, at, why));
  int named = 0;
  for (halftone::safetensors::Tensor& tensor : header.tensors) {
    if (tensor.name != "halftone/adafactor.squares/w") continue;
    CHECK(tensor.shape == std::vector<std::int64_t>{hand_made::kParameterElements});
    tensor.name += "/w";
    ++named;
  }
  CHECK(named == 1);
  for (auto& [key, text] : header.metadata)
    if (key == halftone::kChecksumKey) text = halftone::no_checksum();
  halftone::Snapshot snapshot;
  snapshot.header = halftone::safetensors::print(header);
  const auto tensors = std::as_bytes(std::span(bytes)).subspan(at);
  snapshot.tensors.assign(tensors.begin(), tensors.end());
  halftone::set_checksum(snapshot);
  write_file(former, snapshot.header + bytes.substr(at));
  line::Trainer other(second.artifact(), test_device(), {.batch = kBatch, .seed = 9});
  const halftone::Resumed resumed = other.resume(former);
  CHECK(resumed.kept.empty());
  CHECK(resumed.left_out.empty());
  other.save(scratch / "again");
  CHECK(bytes_of_file(scratch / "again") == bytes);
}

TEST_CASE("a checkpoint without what callers set is refused, or on request leaves it") {
  const ScratchFolder scratch;
  const std::string file = scratch / "file";
  line::Trainer saved = fresh();
  train(saved, 0, 4);
  saved.save(file);
  const ChangedArtifact decaying(add_weight_decay);
  line::Trainer trainer(decaying.artifact(), test_device(), {.batch = kBatch, .seed = 2});
  trainer.set_weight_decay(0.25f);
  CHECK(message_of([&] { trainer.resume(file); }) ==
        "resume: file '" + file +
            "' lacks tensor 'halftone/weight_decay'; give a checkpoint of this model");
  CHECK(trainer.resume(file, {.other_rules = true}).kept ==
        std::vector<std::string>{"halftone/weight_decay"});
  CHECK(trainer.weight_decay() == 0.25f);
  CHECK(same_bits(shown(trainer), shown(saved)));
}

TEST_CASE("save keeps earlier files, and refuses inside a step") {
  const ScratchFolder scratch;
  line::Trainer trainer = fresh();
  for (int step = 0; step < 4; ++step) {
    trainer.save(scratch / "a", {.keep = 2, .background = true});
    train(trainer, step, step + 1);
  }
  trainer.finish_saving();
  for (const auto& [name, steps] : {std::pair("a", 3), {"a.1", 2}, {"a.2", 1}}) {
    line::Trainer other = fresh();
    CHECK(other.resume(scratch / name).steps == steps);
  }
  CHECK_FALSE(std::filesystem::exists(scratch / "a.3"));
  const Inputs inputs(0);
  trainer.accumulate(inputs.features, inputs.target);
  CHECK(message_of([&] { trainer.save(scratch / "b"); }) ==
        "save: the trainer holds the gradients of micro-batches that no step followed; call step() "
        "with the last one first");
  trainer.step(inputs.features, inputs.target);
  trainer.forward(inputs.features, inputs.target);
  trainer.backward();
  (void)trainer.check();
  CHECK(message_of([&] { trainer.save(scratch / "b"); }) ==
        "save: the trainer has done check() and not update(), which belongs to it; call update() "
        "first; where gradients are not finite it changes nothing");
  trainer.update();
  trainer.save(scratch / "b");
  // What was done of a step is forgotten by a trainer that resumes.
  trainer.accumulate(inputs.features, inputs.target);
  trainer.resume(scratch / "b");
  line::Trainer other = fresh();
  other.resume(scratch / "b");
  train(trainer, 5, 7);
  train(other, 5, 7);
  CHECK(same_bits(shown(trainer), shown(other)));
}

TEST_CASE("what goes wrong in the background is thrown by the next call that saves") {
  const ScratchFolder scratch;
  line::Trainer trainer = fresh();
  const std::string nowhere = scratch / "no/a";
  const std::string sentence = "save: file '" + nowhere +
                               "' cannot be written, since its folder cannot be opened: No such "
                               "file or directory; check the path, and make its folder first";
  trainer.save(nowhere, {.background = true});
  CHECK(message_of([&] { trainer.finish_saving(); }) == sentence);
  trainer.finish_saving();
  trainer.save(nowhere, {.background = true});
  CHECK(message_of([&] { trainer.save(scratch / "a"); }) == sentence);
  CHECK_FALSE(std::filesystem::exists(scratch / "a"));
  trainer.save(nowhere, {.background = true});  // nobody asks
}
