// SPDX-License-Identifier: Apache-2.0
// One step of training and its parts: which phases run when, and in which order the parts may be
// called.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bind.hpp"
#include "diagnose.hpp"
#include "halftone/diagnosis.hpp"
#include "inputs.hpp"

namespace halftone {

/// What every update rule means happens inside the kernels (spec U1 to U7, L1 to L5, M1 to M4);
/// this launches them.
class Step {
 public:
  explicit Step(BoundProgram& program);

  bool run(std::span<const NamedValues> inputs);
  void accumulate(std::span<const NamedValues> inputs);

  void forward(const char* operation, std::span<const NamedValues> inputs);
  void backward();
  void backward(std::span<const NamedValues> output_gradients);
  void accumulate_gradients();
  bool check();
  void update();

  [[nodiscard]] std::optional<NonFinite> diagnose() const;

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_steps_; }
  [[nodiscard]] float loss_scale() const { return loss_scale_ ? program_.scalar(*loss_scale_) : 1; }
  [[nodiscard]] std::int64_t floored() const;

 private:
  enum class Done { nothing, forward, backward, check };

  void require(const char* operation, Done needed, const char* first) const;
  /// What the host decides for the accumulate phase that follows.
  void add_micro_batch();
  /// The same for check; true when an accumulate phase goes before it.
  bool prepare_check();
  bool finish_update(const char* operation);
  void set(const char* hyperparameter, float value);
  [[nodiscard]] bool finite() const;
  void stop_at_floor(const char* operation) const;

  BoundProgram& program_;
  std::vector<Place> forward_inputs_, all_inputs_, output_gradients_;
  std::optional<std::size_t> loss_scale_, floored_;  // buffers
  Done done_ = Done::nothing;
  Replay replay_;
  std::int64_t micro_batches_ = 0;  ///< whose gradients are summed up already
  std::int64_t steps_ = 0, skipped_steps_ = 0;
};

}  // namespace halftone
