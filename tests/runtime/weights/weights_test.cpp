// SPDX-License-Identifier: Apache-2.0
// save_weights(), load_weights() and copy_parameters(): what goes where, in which type, and that a
// fault changes nothing.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "../changed_artifact.hpp"
#include "../files/scratch_folder.hpp"
#include "../worked_example.hpp"
#include "message_of.hpp"
#include "tensors_file.hpp"

using namespace models;
using namespace worked_example;
using halftone::LoadedWeights, halftone::LoadOptions, halftone::WeightType;
using halftone::tests::bytes_of_file, halftone::tests::ScratchFolder, halftone::tests::write_file;
using weights_tests::file_of, weights_tests::TensorOf;
using Names = std::vector<std::string>;

namespace {

/// A folder, a file in it, and a trainer whose parameters are kWeight and kBias.
struct Fixture {
  ScratchFolder scratch;
  std::string file = scratch / "weights.safetensors";
  line::Trainer trainer = make_trainer();

  /// The parameters are `weight` and `bias`.
  void check_has(const Floats& weight, const Floats& bias) const {
    CHECK(copy(trainer.parameter("fc.weight")) == weight);
    CHECK(copy(trainer.parameter("fc.bias")) == bias);
  }

  LoadedWeights load(const std::vector<TensorOf>& tensors, const LoadOptions& options = {}) {
    write_file(file, file_of(tensors));
    return trainer.load_weights(file, options);
  }

  /// Refused with this sentence behind the file's name, and nothing changed.
  void check_refused(const std::vector<TensorOf>& tensors, const std::string& sentence,
                     const LoadOptions& options = {}) {
    CHECK(message_of([&] { (void)load(tensors, options); }) ==
          "load_weights: file '" + file + "' " + sentence);
    check_has(kWeight, kBias);
  }
};

const Floats kOther = {7, -8, 9, 0.5f, 11, 12}, kOtherBias = {-3, 0.25f};
const TensorOf kOtherWeight("fc.weight", {2, 3}, kOther), kOtherBiasOf("fc.bias", {2}, kOtherBias);

}  // namespace

TEST_CASE("weights that are saved load into another trainer and into a predictor") {
  Fixture f;
  f.trainer.step(kFeatures, kTarget);
  f.trainer.save_weights(f.file);
  line::Trainer other(test_device(), {.batch = 5, .seed = 3});
  const halftone::Statistics before = other.stats();
  CHECK(other.load_weights(f.file).kept.empty());
  CHECK(copy(other.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(other.parameter("fc.bias")) == kNewBias);
  CHECK(other.stats().steps == before.steps);
  line::Predictor predictor(test_device(), {.batch = 2});
  CHECK(predictor.load_weights(f.file).left_out.empty());
  CHECK(copy(predictor.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(predictor.parameter("fc.bias")) == kNewBias);
  // The working copies, or what else is made of parameters, follow.
  line::Predictor copied(test_device(), {.batch = 2});
  copied.copy_parameters(f.trainer);
  CHECK(copy(predictor.predict(kFeatures).prediction) ==
        copy(copied.predict(kFeatures).prediction));
  predictor.save_weights(f.scratch / "again");
  CHECK(bytes_of_file(f.scratch / "again") == bytes_of_file(f.file));
}

TEST_CASE("the file holds every parameter under its name, as f32, f16 or bf16") {
  Fixture f;
  // 1 + 2^-9 and 3 + 2^-7 + 2^-10, by hand: f16 holds the first, and bf16, whose codes there lie
  // 2^-7 apart, rounds it to 1; the other is halfway between codes of f16, of which 3 + 2^-7 is
  // even, and nearest to 3 + 2^-6 in bf16.
  f.trainer.set_parameter("fc.bias", Floats{1.001953125f, 3.0087890625f});
  const struct {
    WeightType type;
    const char* word;
    Floats bias;
  } cases[] = {{WeightType::f32, "F32", {1.001953125f, 3.0087890625f}},
               {WeightType::f16, "F16", {1.001953125f, 3.0078125f}},
               {WeightType::bf16, "BF16", {1.0f, 3.015625f}}};
  for (const auto& c : cases) {
    CAPTURE(c.word);
    f.trainer.save_weights(f.file, {.as = c.type});
    const std::string bytes = bytes_of_file(f.file);
    halftone::safetensors::Header header;
    std::uint64_t at = 0;
    std::string why;
    REQUIRE(halftone::safetensors::parse(std::as_bytes(std::span(bytes)), header, at, why));
    REQUIRE(header.tensors.size() == 2);
    CHECK(header.metadata == halftone::safetensors::Metadata{{"halftone.model", "line"}});
    CHECK(header.tensors[0].name == "fc.weight");
    CHECK(header.tensors[0].shape == std::vector<std::int64_t>{2, 3});
    CHECK(header.tensors[1].name == "fc.bias");
    CHECK(header.tensors[1].type == c.word);
    line::Predictor predictor(test_device(), {.batch = 2});
    predictor.load_weights(f.file);
    CHECK(copy(predictor.parameter("fc.weight")) == kWeight);
    CHECK(copy(predictor.parameter("fc.bias")) == c.bias);
  }
  const std::string before = bytes_of_file(f.file);
  f.trainer.set_parameter("fc.bias", Floats{1.0f, -65520.0f});
  CHECK(message_of([&] { f.trainer.save_weights(f.file, {.as = WeightType::f16}); }) ==
        "save_weights: parameter 'fc.bias' has -65520 at element 1, which is infinite in F16; save "
        "it as F32");
  CHECK(bytes_of_file(f.file) == before);
  const float infinity = std::numeric_limits<float>::infinity();
  f.trainer.set_parameter("fc.bias", Floats{infinity, -65519.0f});
  f.trainer.save_weights(f.file, {.as = WeightType::f16});
  f.trainer.load_weights(f.file);
  CHECK(copy(f.trainer.parameter("fc.bias")) == Floats{infinity, -65504.0f});
}

TEST_CASE("a checkpoint loads as weights, and a damaged one does not") {
  Fixture f;
  f.trainer.step(kFeatures, kTarget);
  f.trainer.save(f.file, {.background = true});
  f.trainer.set_parameter("fc.weight", kWeight);
  CHECK(f.trainer.load_weights(f.file).left_out.empty());  // waits for the save
  f.check_has(kNewWeight, kNewBias);
  line::Predictor predictor(test_device(), {.batch = 2});
  const LoadedWeights loaded = predictor.load_weights(f.file);
  CHECK(loaded.kept.empty());
  CHECK(loaded.left_out.empty());
  CHECK(copy(predictor.parameter("fc.weight")) == kNewWeight);
  std::string bytes = bytes_of_file(f.file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(f.file, bytes);
  CHECK(message_of([&] { predictor.load_weights(f.file); }) ==
        "load_weights: file '" + f.file +
            "' is damaged, or another program changed it: its checksum is not that of its bytes; "
            "take an earlier file");
  CHECK(copy(predictor.parameter("fc.weight")) == kNewWeight);
}

TEST_CASE("tensors of other types, names and orders") {
  Fixture f;
  // kOther as [3, 2], and codes of -3 and 0.25.
  const Floats turned = {7, 0.5f, -8, 11, 9, 12};
  const std::vector<std::uint16_t> halves = {0xc200, 0x3400}, shorts = {0xc040, 0x3e80};
  const std::vector<double> doubles = {-3.0, 0.25 + 1e-12};
  for (const TensorOf& bias :
       {TensorOf("head.b", {2}, "F16", halves), TensorOf("head.b", {2}, "BF16", shorts),
        TensorOf("head.b", {2}, "F64", doubles), TensorOf("head.b", {1, 2, 1}, kOtherBias)}) {
    f.trainer.set_parameter("fc.weight", kWeight);
    f.trainer.set_parameter("fc.bias", kBias);
    const LoadedWeights loaded = f.load(
        {TensorOf("head.kernel", {3, 2}, turned), bias},
        {.names = {{"head.b", "fc.bias"}, {"*.kernel", "*.weight"}, {"*", "*"}}, .partial = true});
    CHECK(loaded.kept == Names{"fc.weight"});  // as 'head.weight' the tensor has no taker
    CHECK(loaded.left_out == Names{"head.kernel"});
    f.check_has(kWeight, kOtherBias);
    f.load({TensorOf("head.kernel", {3, 2}, turned), bias},
           {.names = {{"head.b", "fc.bias"}, {"head.kernel", "fc.weight", true}}});
    f.check_has(kOther, kOtherBias);
  }
  f.load({TensorOf("a.fc.kernel", {3, 2}, turned), kOtherBiasOf},
         {.names = {{"*.fc.kernel", ""}, {"*.kernel", "*.weight", true}}, .partial = true});
  const LoadedWeights loaded =
      f.load({TensorOf("fc.kernel", {3, 2}, turned), kOtherBiasOf,
              TensorOf("fc.steps", {}, "I64", std::vector<std::int64_t>{3})},
             {.names = {{"*.steps", ""}, {"*.kernel", "*.weight", true}}});
  CHECK(loaded.kept.empty());
  CHECK(loaded.left_out == Names{"fc.steps"});
  f.check_has(kOther, kOtherBias);
}

TEST_CASE("part of the parameters, where that is asked for") {
  Fixture f;
  const LoadedWeights loaded =
      f.load({kOtherBiasOf, TensorOf("more", {1}, Floats{1})}, {.partial = true});
  CHECK(loaded.kept == Names{"fc.weight"});
  CHECK(loaded.left_out == Names{"more"});
  f.check_has(kWeight, kOtherBias);
  f.trainer.set_parameter("fc.bias", kBias);
  f.check_refused({kOtherBiasOf},
                  "lacks parameter 'fc.weight'; give LoadOptions::names, or say .partial = true to "
                  "keep its values");
  f.check_refused({kOtherBiasOf, TensorOf("fc.weights", {2, 3}, kOther)},
                  "lacks parameter 'fc.weight'; the nearest is 'fc.weights': give "
                  "LoadOptions::names, or say .partial = true to keep its values");
  f.check_refused({},
                  "lacks parameter 'fc.weight' and 1 more; give LoadOptions::names, or say "
                  ".partial = true to keep its values");
  f.check_refused(
      {kOtherWeight, kOtherBiasOf, TensorOf("x", {1}, Floats{1}), TensorOf("y\n", {1}, Floats{1})},
      "has tensor 'x' and 1 more, which none of the trainer's parameters takes; leave "
      "it out with LoadOptions::names, or say .partial = true");
  f.check_refused({TensorOf("x", {1}, Floats{1})},
                  "has no tensor for any of the trainer's parameters; give LoadOptions::names; "
                  "they are 'fc.weight', 'fc.bias'",
                  {.partial = true});
}

TEST_CASE("what does not fit is refused in one sentence, and nothing changes") {
  Fixture f;
  f.check_refused({TensorOf("fc.weight", {3, 2}, kOther), kOtherBiasOf},
                  "has tensor 'fc.weight' as F32[3, 2], but parameter 'fc.weight' is F32[2, 3]; "
                  "say .transposed = true in LoadOptions::names");
  f.check_refused({TensorOf("w", {2, 3}, kOther), kOtherBiasOf},
                  "has tensor 'w' as F32[2, 3] to be transposed, but parameter 'fc.weight' is "
                  "F32[2, 3]; say .transposed = false in LoadOptions::names",
                  {.names = {{"w", "fc.weight", true}}});
  f.check_refused({TensorOf("fc.weight", {6}, kOther), kOtherBiasOf},
                  "has tensor 'fc.weight' as F32[6], but parameter 'fc.weight' is F32[2, 3]; give "
                  "weights of this model");
  f.check_refused({kOtherWeight, TensorOf("b", {2}, kOtherBias)},
                  "has tensor 'b' as F32[2], which cannot be transposed; transpose matrices",
                  {.names = {{"b", "fc.bias", true}}});
  f.check_refused(
      {kOtherWeight, TensorOf("fc.bias", {2}, "I32", std::vector<std::int32_t>{1, 2})},
      "has tensor 'fc.bias' as I32[2], whose elements are not read; write it as F32, F16, BF16 or "
      "F64");
  f.check_refused({kOtherWeight, TensorOf("fc.bias", {2}, "F64", std::vector<double>{1, -1e39})},
                  "has -1e+39 in tensor 'fc.bias', which is infinite in F32; give weights that "
                  "F32 holds");
  f.check_refused({kOtherWeight, kOtherBiasOf, TensorOf("b", {2}, kBias)},
                  "has tensors 'fc.bias' and 'b' for parameter 'fc.bias'; leave one out with "
                  "LoadOptions::names, as {\"NAME\", \"\"}",
                  {.names = {{"b", "fc.bias"}}});
  f.check_refused({kOtherWeight, TensorOf("b", {2}, kOtherBias)},
                  "has tensor 'b' for parameter 'fc.bais', which is none of the trainer's "
                  "parameters; the nearest is 'fc.bias'",
                  {.names = {{"b", "fc.bais"}}, .partial = true});
  f.check_refused({kOtherWeight, TensorOf("b", {2}, kOtherBias)},
                  "has tensor 'b' for parameter 'shift', which is none of the trainer's "
                  "parameters; they are 'fc.weight', 'fc.bias'",
                  {.names = {{"b", "shift"}}});
  write_file(f.file, "no safetensors");
  CHECK(message_of([&] { f.trainer.load_weights(f.file); })
            .starts_with("load_weights: file '" + f.file +
                         "' is no sound safetensors file: it says that its header has "));
  CHECK(message_of([&] {
          f.trainer.save_weights(f.scratch / "no/a");
        }).starts_with("save_weights: file '" + f.scratch / "no/a' cannot be written"));
  f.check_has(kWeight, kBias);
}

TEST_CASE("weights go into other rules, and between devices, batches and kinds of program") {
  Fixture f;
  const ChangedArtifact rules(
      [](halftone::manifest::Manifest& manifest) { manifest.rules = {"everywhere : store bf16"}; });
  f.trainer.save_weights(f.file);
  line::Trainer other(rules.artifact(), halftone::Device::cpu(), {.batch = 3, .seed = 2});
  other.load_weights(f.file);
  CHECK(copy(other.parameter("fc.weight")) == kWeight);
  other.set_parameter("fc.weight", kOther);
  f.trainer.copy_parameters(other);
  f.check_has(kOther, kBias);
  f.trainer.copy_parameters(f.trainer);
  f.check_has(kOther, kBias);
  line::Predictor first(test_device(), {.batch = 2}), second(halftone::Device::cpu(), {.batch = 7});
  first.copy_parameters(f.trainer);
  second.copy_parameters(first);
  CHECK(copy(second.parameter("fc.weight")) == kOther);
  CHECK(copy(second.parameter("fc.bias")) == kBias);
}

TEST_CASE("a copy from a trainer of another shape is refused and copies none") {
  Fixture f;
  const ChangedArtifact shaped(
      [](halftone::manifest::Manifest& manifest) { manifest.parameters[1].shape = {4}; });
  const line::Trainer other(shaped.artifact(), test_device(), {.batch = 2});
  CHECK(message_of([&] { f.trainer.copy_parameters(other); }) ==
        "copy_parameters: parameter 'fc.bias' is 2 in the trainer, but 4 in the other trainer; "
        "make both from one model");
  f.check_has(kWeight, kBias);
}

TEST_CASE("shapes of parameters") {
  const line::Trainer trainer = make_trainer();
  const line::Predictor predictor(test_device(), {.batch = 2});
  const auto shape = [](const auto& program, const char* name) {
    const std::span<const std::int64_t> extents = program.parameter_shape(name);
    return std::vector<std::int64_t>(extents.begin(), extents.end());
  };
  CHECK(shape(trainer, "fc.weight") == std::vector<std::int64_t>{2, 3});
  CHECK(shape(predictor, "fc.bias") == std::vector<std::int64_t>{2});
  CHECK(message_of([&] { (void)trainer.parameter_shape("fc"); }) ==
        "parameter_shape: parameter 'fc' is unknown; the model's parameters are 'fc.weight', "
        "'fc.bias'");
}
