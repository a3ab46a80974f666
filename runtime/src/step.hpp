// SPDX-License-Identifier: Apache-2.0
// One step of training and its parts: which phases run when, and in which order the parts may be
// called.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bind.hpp"
#include "inputs.hpp"

namespace halftone {

/// What every update rule means happens inside the kernels (spec U1 to U7); this launches them.
class Step {
 public:
  explicit Step(BoundProgram& program);

  bool run(std::span<const NamedValues> inputs);
  void forward(const char* operation, std::span<const NamedValues> inputs);
  void backward();
  void backward(std::span<const NamedValues> output_gradients);
  bool check();
  void update();

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t skipped_steps() const { return skipped_steps_; }

 private:
  enum class Done { nothing, forward, backward, check };

  void require(const char* operation, Done needed, const char* first) const;
  [[nodiscard]] bool finite() const;

  BoundProgram& program_;
  std::vector<Place> forward_inputs_, all_inputs_, output_gradients_;
  Done done_ = Done::nothing;
  bool losses_computed_ = false;
  std::int64_t steps_ = 0, skipped_steps_ = 0;
};

}  // namespace halftone
