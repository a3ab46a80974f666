// SPDX-License-Identifier: Apache-2.0
// Training of the U-Net under any of its rule sets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/artifact.hpp>
#include <halftone/device.hpp>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>
#include <string>
#include <string_view>
#include <vector>

struct RuleSet {
  std::string name;
  halftone::Artifact artifact;
  /// From the first to the last resort: where the rules of one fail, a run goes on under those of
  /// the next. Empty: the model has none.
  std::vector<std::string> stages = {};
};

/// f32, bf16 and f16; with equal seeds all start from equal weights.
[[nodiscard]] const std::vector<RuleSet>& rule_sets();
/// Throws std::runtime_error where there is none of that name.
[[nodiscard]] const RuleSet& rule_set(std::string_view name);
/// f16 on sm_75, whose tensor cores have nothing else of 16 bits; bf16, which needs no loss scale,
/// on all others and on CPUs.
[[nodiscard]] const RuleSet& rule_set_for(const halftone::Device& device);

[[nodiscard]] halftone::Trainer trainer_of(const RuleSet& rules, const halftone::Device& device,
                                           std::int64_t clips, std::uint64_t seed);
[[nodiscard]] halftone::Predictor predictor_of(const RuleSet& rules, const halftone::Device& device,
                                               std::int64_t clips, std::string_view stage = {});

struct Plan {
  std::filesystem::path training, held_out;  ///< files of clips
  std::int64_t batch = 4;                    ///< clips of a step
  std::int64_t steps = 2000;
  std::uint64_t seed = 1;                    ///< of weights, order and noise
  std::int64_t look_every = 250;             ///< steps between looks at clips held out
  std::filesystem::path first_weights = {};  ///< a file of weights to begin with; empty: drawn
  /// Written after every look; where it is, training goes on from it; empty: none.
  std::filesystem::path checkpoint = {};
  std::filesystem::path weights = {};   ///< averages, written after every look; empty: none
  std::filesystem::path pictures = {};  ///< a folder for samples of every look; empty: none
  std::filesystem::path log = {};       ///< of JSON lines; empty: none
  bool progress = true;                 ///< unless HALFTONE_LOG says otherwise
};

struct Run {
  double training_loss = 0.0;      ///< of the last step
  double held_out_loss = 0.0;      ///< of the averages of weights, each clip at one level
  double seconds = 0.0;            ///< in steps of this process
  std::int64_t first_step = 0;     ///< where it went on
  std::string rules;               ///< that it ended under, by its stage where they have some
  std::int64_t fell_back_at = -1;  ///< the step; -1: it did not
  halftone::Statistics statistics;
};

/// Rules have failed where so many steps in a row were skipped: the loss scale is then at its
/// floor. A run goes on in the next of their stages from the weights and moments that it has, and
/// says so, also in its log; where there is none, it ends.
inline constexpr int kFailed = 20;

[[nodiscard]] Run train(const RuleSet& rules, const halftone::Device& device, const Plan& plan);
