// SPDX-License-Identifier: Apache-2.0
// The five tasks: what each learns from, under which rules, and for how long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/artifact.hpp>
#include <halftone/dataset.hpp>
#include <halftone/device.hpp>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>
#include <string>
#include <string_view>
#include <vector>

struct RuleSet {
  std::string name;
  halftone::Artifact artifact;
};

struct Task {
  std::string name, learned, judged;  ///< files of text, without what they end in
  std::int64_t length = 0;            ///< bytes of a text
  std::int64_t batch = 0, steps = 0;
  std::vector<RuleSet> rules;             ///< where one of them fails, a run goes on under the next
  std::vector<std::string> classes = {};  ///< empty: the next byte is predicted
  std::string counted = {};               ///< of the next byte: what a Markov chain counts
  std::string begins_with = {};           ///< the task whose weights it begins with; empty: none
};

[[nodiscard]] const std::vector<Task>& tasks();
/// Throws std::runtime_error where there is none of that name.
[[nodiscard]] const Task& task(std::string_view name);

/// Inputs `text` and `label` of one of the files that make_genome wrote into a folder. Throws as
/// Dataset::tokens() and Dataset::npy() do.
[[nodiscard]] halftone::Dataset rows_of(const Task& task, const std::filesystem::path& folder,
                                        const std::string& name);

/// Of texts of `length` bytes, and told where their places are.
[[nodiscard]] halftone::Trainer trainer_of(const halftone::Artifact& artifact,
                                           const halftone::Device& device, std::int64_t length,
                                           std::int64_t batch, std::uint64_t seed);
[[nodiscard]] halftone::Predictor predictor_of(const halftone::Artifact& artifact,
                                               const halftone::Device& device, std::int64_t length,
                                               std::int64_t batch);
