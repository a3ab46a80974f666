// SPDX-License-Identifier: Apache-2.0
// One step of training and its parts: which phases run when, and in which order the parts may be
// called.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bind.hpp"
#include "diagnose.hpp"
#include "halftone/diagnosis.hpp"
#include "inputs.hpp"
#include "micro_batches.hpp"

namespace halftone {

/// What every update rule means happens inside the kernels (spec U1 to U9, L1 to L5, M1 to M4);
/// this launches them.
class Step {
 public:
  Step(BoundProgram& program, std::uint64_t seed);

  void run(std::span<const NamedValues> inputs);
  void accumulate(std::span<const NamedValues> inputs);

  void forward(const char* operation, std::span<const NamedValues> inputs);
  void backward();
  void backward(std::span<const NamedValues> output_gradients);
  void accumulate_gradients();
  bool check();
  void update();

  /// Waits for all that was asked for; throws what an update would that went wrong.
  void wait();
  /// Whether the last update was applied; waits likewise.
  bool updated(const char* operation);

  [[nodiscard]] std::optional<NonFinite> diagnose();

  /// What ran last, or its last micro-batch. Waits for it.
  [[nodiscard]] Replay last_run();

  /// What the host knows of the steps so far that those to come depend on.
  struct Counters {
    std::int64_t steps = 0, skipped_steps = 0;
    bool was_applied = true;  ///< the last one
    std::uint64_t seed = 0;   ///< of draws
  };
  /// Waits for all steps. Throws Error inside of one: between check() and update(), and after
  /// micro-batches.
  [[nodiscard]] Counters counters(const char* operation);
  /// As if these steps had been done; what was done of the next one is forgotten.
  void restore(const Counters& counters);

  /// Goes on in another of the model's stages, between two steps; a pass that no update followed
  /// is forgotten. Throws Error as counters() does, and for a stage that the model does not have;
  /// where it throws, the step is in the stage that it was in.
  void enter(std::string_view stage);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::int64_t skipped_steps() {
    settle(true);
    return skipped_steps_;
  }
  /// Of the last backward pass. Throws Error for an input that wants none, and where a run of other
  /// rows came since.
  [[nodiscard]] std::span<const float> input_gradient(std::string_view name) const;
  [[nodiscard]] float loss_scale() const {
    return places_.loss_scale ? program_.scalar(*places_.loss_scale) : 1;
  }
  [[nodiscard]] std::int64_t floored() const;

 private:
  /// Where a stage's program takes what it is given.
  struct Places {
    std::vector<Place> counters;  ///< none where no layer draws
    std::vector<Place> forward_inputs, all_inputs, output_gradients;
    std::optional<std::size_t> loss_scale, floored;  // buffers
  };
  [[nodiscard]] static Places places_of(const ProgramPlan& plan);

  enum class Done { nothing, forward, backward, check };

  /// Nothing was left half done by a call that failed.
  void require_whole(const char* operation) const;
  void require(const char* operation, Done needed, const char* first) const;
  /// check() has counted the step and decided the next loss scale, so that its update must follow.
  void require_no_check(const char* operation) const;
  /// For a diagnosis of a micro-batch that is not the step's last one: keeps what its forward pass,
  /// which begins it, or its backward pass is given, and is staged or `in_place` already.
  void begin_micro_batch(std::span<const Place> inputs, bool in_place = false);
  void give_micro_batch(std::span<const Place> values, bool in_place = false);
  /// What the layers of the pass that comes draw by (D35). A pass that joins no step draws what the
  /// next one that does will.
  void stage_counters();
  /// What the host decides for the accumulate phase.
  void set_first_micro_batch();
  /// Runs the check phase alone or, up to the update, with all before it; after micro-batches the
  /// accumulate phase, too. Their sum is used up where that succeeded, and not before.
  void run_check(manifest::Phase last);
  void finish_update(const char* operation);
  /// Counts the outcomes of updates: those known, or all of them after waiting.
  void settle(bool all);
  /// Throws Error when an update reached the end of the patience and nobody was told.
  void report();
  void set(const char* hyperparameter, float value);
  [[nodiscard]] bool finite() const;
  /// For last_outcome_: where the device does not say it, the next step is waited for.
  [[nodiscard]] std::int64_t floored_or_waited_for() const noexcept;
  [[noreturn]] void stop_at_floor(std::int64_t floored);
  /// What a diagnosis runs again.
  [[nodiscard]] std::vector<Replay> replays(bool spoiled) const;

  BoundProgram& program_;
  std::uint64_t seed_;
  Places places_;
  Done done_ = Done::nothing;
  Outcome last_outcome_;             ///< of those that are known
  bool updated_last_ = false;        ///< an update is the last thing that ran
  std::int64_t patience_ended_ = 0;  ///< steps skipped at the floor, to be reported
  const char* updated_by_ = "step";  ///< the operation that errors of updates name
  Replay replay_;
  std::int64_t gradient_rows_;      ///< of the last backward pass
  std::int64_t micro_batches_ = 0;  ///< whose gradients are summed up already
  EarlierMicroBatches earlier_;     ///< of the step that comes, or was the last thing that ran
  bool sums_ = false;               ///< accumulate_gradients() was called
  std::int64_t steps_ = 0, skipped_steps_ = 0;
};

}  // namespace halftone
