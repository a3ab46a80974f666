// SPDX-License-Identifier: Apache-2.0
// Which precision rules make a run worse (docs/bisect.md): trains variants of a model, each under a
// part of its rules, from the same seeds on the same data, and blames rules where the difference is
// beyond what seeds make:
//
//   const auto result = halftone::bisect(models::letters::artifact(), {},
//       [&](const halftone::Artifact& variant, std::uint64_t seed) {
//         models::letters::Trainer trainer(variant, device, {.batch = 64, .seed = seed});
//         halftone::Loader loader(data, {.batch = 64, .seed = seed});
//         halftone::fit(trainer, loader, {.steps = 300});
//         return validation_loss(trainer);
//       });
//   std::puts(halftone::text_of(result).c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/dataset.hpp"
#include "halftone/device.hpp"
#include "halftone/stages.hpp"
#include "halftone/value_statistics.hpp"

namespace halftone {

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0.0;
};

/// What training a variant came to.
struct VariantRun {
  VariantRun(double loss) : loss(loss) {}  // NOLINT: implicit, for a callback that has no more

  double loss = 0.0;                         ///< lower is better; not finite: the run failed
  std::vector<LossPoint> curve = {};         ///< of the report's page
  std::vector<ValueStatistics> values = {};  ///< likewise
};

/// Trains a variant from a seed. Initial parameters, order of the data and draws should hang on the
/// seed alone, so that two variants of one seed differ by their rules.
using TrainVariant = std::function<VariantRun(const Artifact& variant, std::uint64_t seed)>;

struct BisectOptions {
  /// Rules that hold in the reference, and before those on trial in every variant; none: all is
  /// f32. As the text form spells them: "everywhere : store bf16 compute bf16".
  std::vector<std::string> reference = {};
  /// Seeds that a variant is trained with at first, at most where it cannot be told yet, and in the
  /// end, other ones, to check what was found.
  std::size_t seeds = 4, most_seeds = 12, check_seeds = 6;
  std::uint64_t first_seed = 1;  ///< the following ones are those behind it
  double confidence = 0.95;      ///< of every comparison of two variants
  /// What a loss must be worse by to count: a share of the reference's.
  double least = 0.01;
  bool narrow = true;               ///< look for the fields and layers of blamed rules, too
  std::size_t most_variants = 100;  ///< that are trained; then the search ends with what it has
  std::filesystem::path folder = "bisect";  ///< of the variants and bisect.json
  std::string halftonec = "halftonec";      ///< a path, or a name on PATH
  std::string linker = "c++";               ///< a compiler that links shared objects; likewise
  std::vector<std::string> targets = {};    ///< of halftonec; empty: those of the artifact
  std::function<void(const std::string&)> say = {};  ///< gets a line of text for each variant
};

/// By how much one variant's loss is above another's, seed by seed.
struct Difference {
  std::size_t seeds = 0;   ///< whose differences these are
  std::size_t failed = 0;  ///< of them, where the first variant's loss is not finite
  /// Of those that did not fail; the bounds are Student's, of the mean, each at the confidence.
  double mean = 0.0, low = 0.0, high = 0.0;
};

struct BisectTrial {
  enum class Outcome : std::uint8_t {
    reference,
    as_good,  ///< not worse, and most of the damage is gone
    worse,    ///< than the reference, by more than seeds make
    unclear,  ///< neither can be told of so many seeds
    refused   ///< by halftonec
  };
  std::string name;  ///< "all rules", "without rules 2, 3"
  std::vector<std::string> rules;
  Outcome outcome = Outcome::unclear;
  std::vector<std::uint64_t> seeds;
  std::vector<double> losses;  ///< for each of the seeds
  Difference worse_by;         ///< than the reference
  std::string refusal;         ///< halftonec's sentence
};

struct BlamedRule {
  std::size_t number = 0;  ///< from 1, as explain counts them
  std::string text;
  /// With it and all rules that are not blamed, against these alone, on the check's seeds.
  Difference worse_by;
  bool is_confirmed = false;  ///< by the check
  /// What of it does the harm, where less than all does: words as "compute bf16"; layers.
  std::vector<std::string> fields, layers;
};

struct BisectResult {
  enum class Verdict : std::uint8_t {
    no_rule,  ///< all rules together are not worse than the reference
    unclear,  ///< whether they are cannot be told of so many seeds
    blamed    ///< `blamed` has some
  };
  Verdict verdict = Verdict::unclear;
  std::string model;
  std::vector<std::string> rules, reference;
  double confidence = 0.0;
  double reference_loss = 0.0;  ///< mean
  double least = 0.0;           ///< in units of the loss
  Difference all_rules;         ///< against the reference
  std::vector<BlamedRule> blamed;
  /// The rules without what is to blame, no more left out of them than was found to do harm, and
  /// how they compare with the reference on the check's seeds.
  std::vector<std::string> remedy;
  Difference remedy_worse_by;
  std::vector<BisectTrial> trials;  ///< in the order in which they were first trained
  std::vector<std::string> notes;   ///< what the search left out, a sentence each
  /// Of the first seed: of the reference, of all rules and of the remedy; and the values of a run
  /// under all rules. Empty where the callback gives none.
  std::vector<std::pair<std::string, std::vector<LossPoint>>> curves;
  std::vector<ValueStatistics> values;
};

/// Looks for rules of the artifact without which its model trains as well as the reference: the
/// smallest set that the search comes to (delta debugging, Zeller and Hildebrandt 2002). Variants
/// are made by halftonec and the linker, in the folder, which also gets bisect.json (`halftone
/// report` makes a page of it) and remedy.rules. Throws Error where those programs or the folder
/// fail, where the model has no rules, where the reference itself fails to train, and what `train`
/// throws.
[[nodiscard]] BisectResult bisect(const Artifact& artifact, const BisectOptions& options,
                                  const TrainVariant& train);
/// The same of a program's manifests.
[[nodiscard]] BisectResult bisect(std::span<const manifest::Manifest> manifests,
                                  const BisectOptions& options, const TrainVariant& train);

/// Some lines of text.
[[nodiscard]] std::string text_of(const BisectResult& result);

/// bisect.json: keys are only added while its schema stays 1.
void save(const BisectResult& result, const std::filesystem::path& file);

/// Training on a dataset, whose inputs are called as the model's.
struct VariantTraining {
  Dataset data;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< of every symbol; "batch" is of rows
  std::int64_t steps = 300;
  std::string loss = {};  ///< empty: the model's first
  /// What counts is the mean loss over the last steps: this share of them.
  double last = 0.2;
  /// Whether runs have values, too: of the last step, or of the first where the loss ends not
  /// finite. Costs two steps of a run, and the memory of value_statistics().
  bool values = true;
  Device device = Device::cpu();
  /// Which stage each step is in, of a model that declares some (P66), which asks for it.
  std::optional<StageSchedule> stages = {};
};
[[nodiscard]] TrainVariant train_on(const VariantTraining& training);

}  // namespace halftone
