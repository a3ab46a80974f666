// SPDX-License-Identifier: Apache-2.0
// Culprits that were planted among the rules of a model are found by training it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../runtime/files/scratch_folder.hpp"
#include "halftone/artifact.hpp"
#include "halftone/bisect.hpp"
#include "halftone/manifest/manifest.hpp"
#include "message_of.hpp"
#include "planted_data.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_planted;

namespace halftone::tests {
namespace {

using Verdict = BisectResult::Verdict;

BisectOptions options_in(const std::string& folder) {
  BisectOptions options;
  options.folder = folder;
  options.halftonec = HALFTONEC;
  options.linker = LINKER;
  options.seeds = 3;
  options.most_seeds = 6;
  options.check_seeds = 3;
  options.least = 0.05;
  return options;
}

TrainVariant training(std::int64_t batch, std::int64_t steps) {
  return train_on({.data = planted_data(), .sizes = {{"batch", batch}}, .steps = steps});
}

BisectResult search(const std::vector<std::string>& rules, const TrainVariant& train) {
  const ScratchFolder scratch;
  const Artifact artifact = Artifact::linked(halftone_artifact_planted);
  std::vector<manifest::Manifest> manifests(artifact.manifests().begin(),
                                            artifact.manifests().end());
  manifests.front().rules = rules;
  return bisect(manifests, options_in(scratch / "variants"), train);
}

const std::string kBf16 = "everywhere : store bf16 compute bf16";
const std::string kInF32 = "where class normalization|softmax|loss : compute f32";

TEST_CASE("a rule that overflows is named, with what of it and the layers where") {
  const ScratchFolder scratch;
  std::string lines;
  BisectOptions options = options_in(scratch / "variants");
  options.say = [&](const std::string& line) { lines += line + "\n"; };
  const BisectResult result =
      bisect(Artifact::linked(halftone_artifact_planted), options, training(64, 60));
  INFO(text_of(result) << lines);
  CHECK(result.verdict == Verdict::blamed);
  REQUIRE(result.blamed.size() == 1);
  CHECK(result.blamed[0].number == 3);
  CHECK(result.blamed[0].is_confirmed);
  CHECK(result.blamed[0].fields == std::vector<std::string>{"store f16", "compute f16"});
  CHECK(result.blamed[0].layers == std::vector<std::string>{"boost", "mix"});
  CHECK(result.remedy.size() == 4);
  CHECK(result.remedy_worse_by.failed == 0);
  CHECK(result.remedy_worse_by.high < result.reference_loss / 2);
  CHECK(std::ranges::count(lines, '\n') == static_cast<std::ptrdiff_t>(result.trials.size()));

  // The remedy is a file that halftonec takes, and bisect.json is there.
  CHECK(std::filesystem::exists(scratch / "variants/bisect.json"));
  const std::string command = std::string("'") + HALFTONEC + "' '" +
                              (scratch / "variants/model.halftone") + "' --rules '" +
                              (scratch / "variants/remedy.rules") + "' --targets cpu --object '" +
                              (scratch / "remedy.o") + "'";
  CHECK(std::system(command.c_str()) == 0);

  // The values of the run under all rules say where: what is infinite of boost and mix.
  bool has_overflow = false;
  for (const ValueStatistics& value : result.values) {
    const bool is_of_culprit = value.layer == "boost" || value.layer == "mix";
    if (value.overflowed > 0 && value.rule == result.rules[2]) has_overflow |= is_of_culprit;
  }
  CHECK(has_overflow);
  REQUIRE(result.curves.size() == 3);
  CHECK(result.curves[0].first == "reference");
  CHECK(result.curves[0].second.size() == 60);
}

TEST_CASE("a rule that loses small gradients is named, though every run ends in numbers") {
  // Gradients of logits are below 1/256, of which f8e4m3 has 2^-9 alone.
  const std::string lossy = "where layer \"head\" role gradient : store f8e4m3 saturate";
  const BisectResult result = search({kBf16, lossy, kInF32}, training(512, 80));
  INFO(text_of(result));
  CHECK(result.all_rules.failed == 0);
  CHECK(result.verdict == Verdict::blamed);
  REQUIRE(result.blamed.size() == 1);
  CHECK(result.blamed[0].number == 2);
  CHECK(result.remedy == std::vector<std::string>{kBf16, kInF32});
}

TEST_CASE("rules that do no harm are not blamed") {
  const BisectResult result = search({kBf16, kInF32}, training(64, 60));
  INFO(text_of(result));
  CHECK(result.verdict == Verdict::no_rule);
  CHECK(result.blamed.empty());
  CHECK(result.trials.size() == 2);
}

TEST_CASE("a callback of one's own gets variants and seeds, and what it throws comes out") {
  const ScratchFolder scratch;
  std::vector<std::uint64_t> seeds;
  const auto train = [&](const Artifact& variant, std::uint64_t seed) -> VariantRun {
    CHECK(variant.manifest().model == "planted");
    seeds.push_back(seed);
    if (seeds.size() == 3) throw 7;
    return 1.0;
  };
  const Artifact artifact = Artifact::linked(halftone_artifact_planted);
  CHECK_THROWS_AS((void)bisect(artifact, options_in(scratch / "variants"), train), int);
  CHECK(seeds == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("programs that are not there, and training that cannot be, are refused in a sentence") {
  const ScratchFolder scratch;
  const Artifact artifact = Artifact::linked(halftone_artifact_planted);
  const auto said = [&](const BisectOptions& options) {
    return message_of([&] { (void)bisect(artifact, options, training(64, 10)); });
  };
  BisectOptions options = options_in(scratch / "variants");
  options.halftonec = "/no/halftonec";
  CHECK(said(options) ==
        "bisect: the program '/no/halftonec' cannot be started: No such file or directory; name "
        "halftonec, of this version, by a path (BisectOptions::halftonec, --halftonec)");
  options = options_in(scratch / "variants");
  options.linker = "false";
  CHECK(said(options).starts_with("bisect: the program 'false' did not link "));
  options.linker = LINKER;
  options.folder = "/dev/null/variants";
  CHECK(
      said(options) ==
      "bisect: the folder '/dev/null/variants' cannot be made: Not a directory; name another one");
  options = options_in(scratch / "variants");
  options.reference = {"where layer \"nobody\" : store bf16"};
  CHECK(said(options).find("bisect: the variant 'reference' is refused: ") == 0);

  CHECK(message_of([] { (void)training(64, 0); }) ==
        "train_on: the number of steps is 0; give 1 or more");
  CHECK(message_of([] {
          (void)train_on({.data = planted_data(8), .sizes = {{"batch", 4}}, .last = 0.0});
        }) == "train_on: the share of last steps is 0; give one above 0 and at most 1");
  CHECK(message_of([] { (void)train_on({.data = planted_data(8), .sizes = {}, .steps = 3}); }) ==
        "train_on: the sizes have none of 'batch'; say how many rows a step takes: "
        "{\"batch\", 64}");
  const StageSchedule stages({{"warmup", 5}});
  const TrainVariant staged =
      train_on({.data = planted_data(8), .sizes = {{"batch", 4}}, .steps = 3, .stages = stages});
  CHECK(message_of([&] { (void)staged(artifact, 1); }) ==
        "train_on: stage 'warmup' is none of the model, which declares none; name a stage of the "
        "model, or leave the schedule out where it has none");
}

TEST_CASE("data that are not finite are blamed themselves, and so are classes that are none") {
  const ScratchFolder scratch;
  const auto said = [&](PlantedRows rows) {
    const Dataset data =
        Dataset::own({{"x", std::move(rows.x)}, {"class", std::move(rows.classes)}}, 256);
    const TrainVariant train = train_on({.data = data, .sizes = {{"batch", 64}}, .steps = 8});
    return message_of([&] {
      (void)bisect(Artifact::linked(halftone_artifact_planted), options_in(scratch / "variants"),
                   train);
    });
  };
  PlantedRows rows = planted_rows(256);
  rows.x[8 * 100 + 3] = std::nanf("");
  const std::string of_input = said(rows);
  CHECK(of_input.starts_with("train_on: the data are not finite: input 'x': element "));
  CHECK(of_input.ends_with(" is nan; mend such rows, or leave them out"));
  rows = planted_rows(256);
  rows.classes[9] = 4;
  CHECK(said(rows).starts_with("train_on: the data do not fit the model: label 'class': element "));
}

}  // namespace
}  // namespace halftone::tests
