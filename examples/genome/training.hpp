// SPDX-License-Identifier: Apache-2.0
// Training of a task: halftone::fit(), which goes on under other rules where those of a task fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/device.hpp>
#include <halftone/trainer.hpp>
#include <string>

#include "tasks.hpp"

struct Plan {
  std::filesystem::path folder;  ///< with what make_genome wrote; checkpoints and logs go there
  std::int64_t steps = 0, batch = 0;  ///< 0: as the task says
  std::uint64_t seed = 1;             ///< of weights and order
  bool fresh = false;    ///< begins with weights that are drawn, whatever the task begins with
  bool progress = true;  ///< unless HALFTONE_LOG says otherwise
  std::filesystem::path first_weights = {};  ///< in place of those that the task begins with
};

struct Run {
  std::int64_t first_step = 0;     ///< where it went on
  std::string rules;               ///< that it ended under
  std::string why_not_before;      ///< the rules before that were not, where it fell back
  std::int64_t scale_updates = 0;  ///< steps of this process that changed the loss scale
  double seconds = 0.0;            ///< of this process, looks at what is held out among them
  halftone::Statistics statistics;
};

/// FOLDER/TASK_RULES, of a run with fresh weights FOLDER/TASK_fresh_RULES, and an ending.
[[nodiscard]] std::filesystem::path file_of(const std::filesystem::path& folder, const Task& task,
                                            bool fresh, const RuleSet& rules, const char* ending);
/// The last rules of the task of which there is a checkpoint; null where there is none.
[[nodiscard]] const RuleSet* trained_rules(const std::filesystem::path& folder, const Task& task,
                                           bool fresh);

/// Rules have failed where so many steps in a row were skipped: the loss scale is then at its
/// floor. The run goes on under the next ones from the weights and moments that it has, and says
/// so.
inline constexpr int kFailed = 20;

/// Goes on where there is a checkpoint. Throws as fit() does, and std::runtime_error where the last
/// rules fail or the task that this one begins with is not trained.
[[nodiscard]] Run train(const Task& task, const halftone::Device& device, const Plan& plan);
