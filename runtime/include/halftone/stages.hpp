// SPDX-License-Identifier: Apache-2.0
// When a run is in which of its model's stages (P66 of docs/spec/precision.md), and what each of
// them takes:
//
//   const StageSchedule schedule({{"warmup", 500}}, {{"full", 20}, {"predict", 70}});
//   for (std::int64_t step = 0; step < steps; ++step) {
//     trainer.enter(schedule.at(step));
//     trainer.step(features, target);
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/trainer.hpp"
#include "halftone/values.hpp"

namespace halftone {

class RunLog;

/// So many steps in a stage.
struct StageSteps {
  std::string stage;
  std::int64_t steps = 0;
};

/// Stages one after another, as a function of the number of steps alone, so that a run that resumes
/// goes on in it.
class StageSchedule {
 public:
  /// `once` from step 0 on, then `cycle` again and again; where that is empty, the last of `once`
  /// stays. Throws Error where there is no stage, or one with less than 1 step.
  explicit StageSchedule(std::vector<StageSteps> once, std::vector<StageSteps> cycle = {});

  /// The stage of a step, the first being 0.
  [[nodiscard]] const std::string& at(std::int64_t step) const;

  /// All that it names, each once.
  [[nodiscard]] std::vector<std::string> stages() const;

  /// Of the first `steps` steps the share that is in the stage, from 0 to 1. Throws Error for one
  /// that it does not name.
  [[nodiscard]] double share_of(const std::string& stage, std::int64_t steps) const;

 private:
  std::vector<StageSteps> once_, cycle_;
  std::int64_t once_steps_ = 0, cycle_steps_ = 0;
};

/// A stage that a run entered by its own decision.
struct StageSwitch {
  std::int64_t step = 0;  ///< Statistics::steps: behind this one
  std::string from, to;
  std::string why;  ///< in words: "12 of 100 steps were skipped, more than 10 %"
};

/// What decides after every step whether the run goes on in another stage.
class StageChooser {
 public:
  virtual ~StageChooser() = default;

  /// Enters it, and writes to `log`, where that is not null, why. Behind RunLog::step(), which
  /// names the stage that the step was made in.
  virtual void after_step(Trainer& trainer, RunLog* log) = 0;

  /// A line of text for SaveOptions::notes, and back. restore() throws Error, and changes nothing,
  /// where it is none.
  [[nodiscard]] virtual std::string state() const = 0;
  virtual void restore(std::string_view state) = 0;
};

struct StageLadderOptions {
  std::vector<std::string> stages;  ///< from the first to the last resort
  std::int64_t window = 100;        ///< steps, after which it is decided whether to go on
  double most_skipped = 0.1;        ///< share of a window's steps; with more, the next stage
};

/// Leaves a stage whose loss scale skips too many steps for the next of a declared list: f16, then
/// bf16, then f32. Skipped steps are those of Statistics, so that a run with the same data decides
/// the same, and a log says why.
///
///   StageLadder ladder({.stages = {"f16", "bf16", "f32"}});
///   for (...) {
///     trainer.step(features, target);
///     ladder.step(trainer);
///   }
class StageLadder final : public StageChooser {
 public:
  /// Throws Error for a list of less than two, a window below 1 or a share outside [0, 1).
  explicit StageLadder(StageLadderOptions options);

  /// After every step; true where the trainer entered the stage behind that which it was in. Reads
  /// the trainer's statistics, and so waits for a GPU, with the first and the last step of a
  /// window. Throws Error where the trainer is in a stage that is none of the list, and with the
  /// first step where one of the list is none of the model's.
  bool step(Trainer& trainer);
  /// What step() did when it was true last.
  [[nodiscard]] const StageSwitch& taken() const { return taken_; }

  void after_step(Trainer& trainer, RunLog* log) override;
  [[nodiscard]] std::string state() const override;
  void restore(std::string_view state) override;

 private:
  StageLadderOptions options_;
  StageSwitch taken_;
  std::int64_t steps_ = 0;     ///< of the window at hand
  std::int64_t skipped_ = -1;  ///< Statistics::skipped_steps when it began; -1: unknown
};

/// What training in a stage takes of the device's memory, in bytes.
struct StageMemory {
  std::string stage;
  std::int64_t kept = 0;     ///< parameters, masters, gradients, states: the same in every stage
  std::int64_t working = 0;  ///< activations and working copies, of which stages share one place
  std::int64_t host = 0;     ///< of the host's memory, which bytes() does not count (P91, P98)
  [[nodiscard]] std::int64_t bytes() const { return kept + working; }
};

/// Of every stage, in the order of the model, before anything is allocated: the arena of a trainer
/// that is made so, which takes the largest of them. Without a kernel's workspace. One entry
/// without a name for a model that declares no stages. Throws Error as Trainer does.
[[nodiscard]] std::vector<StageMemory> plan_stages(const Artifact& artifact, const Device& device,
                                                   const Setup& setup);

}  // namespace halftone
