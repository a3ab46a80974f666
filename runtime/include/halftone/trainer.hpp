// SPDX-License-Identifier: Apache-2.0
// Training, type-erased: the class that a model's generated Trainer derives from. One step is
// forward, backward, check and update; the parts can be called alone, in that order, by those with
// a loop of their own.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/values.hpp"

namespace halftone {

/// What a trainer has done and what it uses.
struct Statistics {
  struct Loss {
    std::string name;
    float value = 0.0f;  ///< of the last forward pass that computed it
  };

  std::int64_t steps = 0;          ///< updates asked for, skipped ones included
  std::int64_t skipped_steps = 0;  ///< updates that changed nothing since a gradient was not finite
  float grad_norm = 0.0f;          ///< of the last check, before clipping
  std::vector<Loss> losses;
  std::int64_t peak_bytes_predicted = 0;  ///< of the arena, planned before anything was allocated
  std::int64_t peak_bytes_measured = 0;   ///< really obtained from the device's memory
  /// Kernel launches of forward, loss, loss_backward, backward, check, update.
  std::array<std::int64_t, 6> kernels_per_phase{};
  std::string variant;  ///< of the code that runs
};

/// Every method throws Error on misuse, naming culprit and remedy. One thread at a time may use a
/// trainer. Spans stay valid while the trainer lives and show the values of the latest call.
class Trainer {
 public:
  Trainer(const Artifact& artifact, const Device& device, const Setup& setup);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  /// forward, backward, check, update. True when the parameters were updated, false when the step
  /// was skipped: some gradient was not finite, as after a label that is no class.
  bool step(std::span<const NamedValues> inputs);

  /// Computes the outputs. The losses follow when the inputs that they need are given too.
  void forward(std::span<const NamedValues> inputs);

  /// The gradients of the objective. Needs a forward() that was given the inputs of the losses.
  void backward();

  /// The gradients of an objective of the caller's, from d objective / d output for every output.
  /// The model's own losses are left out.
  void backward(std::span<const NamedValues> output_gradients);

  /// The norm of all gradients, and whether it is finite. True when it is. Gradients carry no loss
  /// scale in f32, so there is nothing to unscale before.
  bool check();

  /// Applies the gradients, unless check() found them not finite; then no bit of parameters or
  /// optimizer state changes.
  void update();

  [[nodiscard]] float loss(std::string_view name) const;
  [[nodiscard]] std::span<const float> output(std::string_view name) const;
  [[nodiscard]] std::span<const float> parameter(std::string_view name) const;
  [[nodiscard]] std::span<const float> gradient(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  void set_parameter(std::string_view name, std::span<const float> values);

  /// Of the updates that follow.
  void set_learning_rate(float learning_rate);
  [[nodiscard]] float learning_rate() const;

  [[nodiscard]] Statistics stats() const;

 private:
  friend class Predictor;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
