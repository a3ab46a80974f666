// SPDX-License-Identifier: Apache-2.0
// Training of the language model under any of its rule sets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <halftone/artifact.hpp>
#include <halftone/device.hpp>
#include <halftone/loader.hpp>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>
#include <string>
#include <string_view>
#include <vector>

inline constexpr std::int64_t kVocabulary = 4096;  ///< tokens that the model knows

struct RuleSet {
  std::string name;
  halftone::Artifact artifact;  ///< trains and predicts
  halftone::Artifact decoder;   ///< for a Generator
};

/// f32, bf16, f16 and tf32, in this order; with equal seeds all start from equal weights.
[[nodiscard]] const std::vector<RuleSet>& rule_sets();
/// Throws std::runtime_error where there is none of that name.
[[nodiscard]] const RuleSet& rule_set(std::string_view name);

/// Windows that a pass looks at together.
struct Sizes {
  std::int64_t batch = 8;
  std::int64_t window = 128;  ///< tokens of each
};

[[nodiscard]] halftone::Trainer trainer_of(const RuleSet& rules, const halftone::Device& device,
                                           const Sizes& sizes, std::uint64_t seed);
[[nodiscard]] halftone::Predictor predictor_of(const RuleSet& rules, const halftone::Device& device,
                                               const Sizes& sizes);

/// Windows of a file of tokens, each with its successors. Throws as Dataset::tokens() does.
[[nodiscard]] halftone::Dataset windows(const std::filesystem::path& tokens, std::int64_t window);

struct Plan {
  std::filesystem::path training, held_out;  ///< files of tokens
  Sizes sizes;
  std::int64_t steps = 1200;
  std::uint64_t seed = 1;                 ///< of weights and order
  std::int64_t look_every = 200;          ///< steps between looks at the held-out text
  std::filesystem::path checkpoint = {};  ///< written after every look; where it is, training goes
                                          ///< on from it; empty: none
  std::filesystem::path log = {};         ///< of JSON lines; empty: none
  bool progress = true;                   ///< unless HALFTONE_LOG says otherwise
  bool gradients = false;                 ///< norms of every block's gradient are in the log, too
};

struct Run {
  double training_loss = 0.0;   ///< of the last step
  double held_out_loss = 0.0;   ///< a mean over tokens, in nats
  double seconds = 0.0;         ///< in steps of this process
  std::int64_t first_step = 0;  ///< where it went on
  halftone::Statistics statistics;
};

[[nodiscard]] Run train(const RuleSet& rules, const halftone::Device& device, const Plan& plan);
