// SPDX-License-Identifier: Apache-2.0
// Stages that a run enters for what roundings do to its values (P96 of docs/spec/precision.md): a
// layer leaves f16 for bf16 where it overflows, or 8 bits where they lose too much, as declared.
//
//   Adaptation adaptation(
//       {.moves = {{.from = "f16", .to = "head_bf16", .layers = "head", .most_flushed = 0.05},
//                  {.from = "head_bf16", .to = "f32", .most_skipped = 0.1}}});
//   for (...) {
//     trainer.step(features, target);
//     log.step(trainer);
//     adaptation.after_step(trainer, &log);
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/gradient_noise.hpp"
#include "halftone/stages.hpp"
#include "halftone/trainer.hpp"
#include "halftone/value_statistics.hpp"

namespace halftone {

/// When a run leaves a stage for another: when one of the limits was exceeded in as many windows in
/// a row. What is at its default is no limit.
struct StageMove {
  std::string from, to;
  /// A glob, as rules name layers (P3), or parameters by their layer (P5): whose values count.
  std::string layers = "**";
  /// Share of a window's steps that were skipped since a value of these layers was the first that
  /// is not finite, as Trainer::diagnose() finds it; with "**" all that were skipped.
  double most_skipped = 1.0;
  /// Of one rounding of the last step of a window: ValueStatistics::overflowed_share(),
  /// flushed_share() and error.
  double most_overflowed = 1.0, most_flushed = 1.0;
  double most_error = std::numeric_limits<double>::infinity();
  /// Of the gradients of the layers' parameters in a window's last steps: GradientNoise::share().
  /// Where it is small, errors of roundings show; where it is large, they hide in it.
  double least_noise = 0.0, most_noise = 1.0;
  std::int64_t windows = 1;
};

struct AdaptationOptions {
  std::vector<StageMove> moves;  ///< of several that hold the first is made
  std::int64_t window = 100;     ///< steps
  std::int64_t noise_steps = 8;  ///< the last ones of a window, where a move asks for noise
};

/// What the end of a window showed.
struct AdaptationWindow {
  std::optional<ValueSample> sample;  ///< where a move from the stage asks for one
  /// Of each move, where it asks for it and is from the stage, and two steps were applied.
  std::vector<std::optional<double>> noise;
  std::optional<StageSwitch> taken;  ///< the move that was made
};

/// Decides by values and skipped steps alone, so that the same data decide the same on devices that
/// compute the same bits, and the log of a run repeats it (stages_of_log).
class Adaptation final : public StageChooser {
 public:
  /// Throws Error where a move goes from a stage to itself, has no limit, or one that is none, or
  /// there is no move, the window is below 1, or noise is measured over less than 2 steps or more
  /// than the window's.
  explicit Adaptation(AdaptationOptions options);

  /// After every step; what the end of a window showed, after which a stage may have been entered.
  /// Other steps cost nothing, unless a move counts skipped steps of some layers: then it waits for
  /// each, and replays those that were skipped; or asks for noise: then it waits for the last ones
  /// of a window, and reads their gradients. Throws Error where a move names a stage that the
  /// model does not have, or layers of which no value is rounded in its stage, and as
  /// Trainer::inspect() does.
  std::optional<AdaptationWindow> step(Trainer& trainer);

  void after_step(Trainer& trainer, RunLog* log) override;
  [[nodiscard]] std::string state() const override;
  void restore(std::string_view state) override;

 private:
  struct Progress {
    std::int64_t blamed = 0;   ///< steps of the window that were skipped for the move's layers
    std::int64_t windows = 0;  ///< in a row that exceeded a limit
    GradientNoise noise = GradientNoise();
  };

  void begin(const Trainer& trainer);
  void blame(const Trainer& trainer);
  void measure_noise(const Trainer& trainer);
  [[nodiscard]] bool asks_for_values(const std::string& stage) const;
  [[nodiscard]] std::string why(const StageMove& move, std::int64_t skipped,
                                const std::optional<double>& noise,
                                const std::optional<ValueSample>& sample) const;

  AdaptationOptions options_;
  std::vector<Progress> progress_;  ///< of each move
  std::int64_t steps_ = 0;          ///< of the window at hand
  std::int64_t skipped_ = -1;       ///< Statistics::skipped_steps when it began; -1: unknown
};

/// The stages of a run, from the first step on, by its log (json_lines()): a run that follows them
/// with the same data computes the same. Throws Error where the file cannot be read, is no run log,
/// names no stage, or begins behind the first step.
[[nodiscard]] StageSchedule stages_of_log(const std::filesystem::path& file);

}  // namespace halftone
