// SPDX-License-Identifier: Apache-2.0
// The usual loop in one call: epochs of a loader, validation, checkpoints, stopping early. Every
// part of it is there alone, too, for loops of a caller's own: loader.hpp, predictor.hpp,
// checkpoint.hpp, plateau.hpp, run_log.hpp.
//
//   halftone::Loader loader(data.training, {.batch = 64, .seed = 1});
//   halftone::fit(trainer, loader, {.epochs = 20, .checkpoint = "run.safetensors"});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "halftone/loader.hpp"
#include "halftone/plateau.hpp"
#include "halftone/predictor.hpp"
#include "halftone/run_log.hpp"
#include "halftone/stages.hpp"
#include "halftone/trainer.hpp"

namespace halftone {

/// Losses over held-out rows, as `validation/NAME`, after every epoch.
struct Validation {
  Predictor* predictor = nullptr;
  Loader* loader = nullptr;  ///< whose rows are looked at once each; shuffling is of no use
  bool averages = false;     ///< of the averages in place of the parameters
};

struct FitProgress {
  std::int64_t epochs = 0;  ///< that are over
  std::int64_t steps = 0;   ///< Statistics::steps
  /// Of the latest validation, in the order of the model's losses; empty before there was one, but
  /// never in a result where there is a validation.
  Metrics metrics = {};
};

struct FitOptions {
  std::int64_t epochs = 1;  ///< of the loader, those before a resumed run included
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  ///< likewise; the first ends it
  std::optional<Validation> validation = {};
  /// The loss that says what is best; empty: the first.
  std::string monitor = {};
  std::optional<PlateauOptions> stop_early = {};
  /// What the learning rate is multiplied by when the monitored loss no longer falls.
  std::optional<PlateauOptions> reduce_on_plateau = {};
  float reduce_by = 0.1f;
  /// Written after every epoch and at the end; where it is there already, training goes on from it.
  /// What was done of an epoch, the loader's place and the plateaus are in it, too.
  std::filesystem::path checkpoint = {};
  int keep = 0;                     ///< SaveOptions::keep
  std::filesystem::path best = {};  ///< a checkpoint of the best validation
  std::int64_t save_every = 0;      ///< steps; 0: after epochs alone
  /// Which stage each step is in, by Statistics::steps.
  std::optional<StageSchedule> stages = {};
  /// In its place what decides by the run: a StageLadder, or an Adaptation (adaptation.hpp), whose
  /// state goes into checkpoints.
  StageChooser* chooser = nullptr;
  RunLog* log = nullptr;  ///< gets every step and validation, but not its end
  std::function<bool(const FitProgress&)> after_step = {};   ///< false ends the run
  std::function<bool(const FitProgress&)> after_epoch = {};  ///< likewise, after its validation
};

struct FitResult : FitProgress {
  enum class End : std::uint8_t { epochs, steps, plateau, caller };
  End end = End::epochs;  ///< why it ended
  double best = 0.0;      ///< the monitored loss; infinite without validation
};

/// Trains until one of the ends. What is read or decided between steps is that of the host; steps
/// themselves wait for nothing but what `log` and `after_step` ask. Throws Error on options that do
/// not fit together, and as its parts do; a checkpoint is then that of the last epoch.
FitResult fit(Trainer& trainer, Loader& loader, const FitOptions& options = {});

/// Means over the loader's rows of the predictor's losses, as validation takes them; the loader
/// stands at the beginning of an epoch before and after.
[[nodiscard]] Metrics evaluate(Predictor& predictor, Loader& loader);

}  // namespace halftone
