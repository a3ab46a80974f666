// SPDX-License-Identifier: Apache-2.0
// Inference, type-erased: the class that a model's generated Predictor derives from. It has an
// arena of its own, with the forward pass alone in it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/trainer.hpp"
#include "halftone/values.hpp"

namespace halftone {

/// Every method throws Error on misuse, and when the predictor was moved from. One thread at a time
/// may use a predictor.
class Predictor {
 public:
  /// Parameters start at the values that a trainer with the same seed starts from.
  Predictor(const Artifact& artifact, const Device& device, const Setup& setup);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// Takes every parameter and state, by name, as the trainer has them at this moment.
  void copy_parameters(const Trainer& trainer);
  void set_parameter(std::string_view name, std::span<const float> values);
  [[nodiscard]] std::span<const float> parameter(std::string_view name) const;

  /// Computes the outputs; takes exactly the inputs that the forward pass reads.
  void predict(std::span<const NamedValues> inputs);

  /// Valid while the predictor lives; has the values of the latest predict(), and 0 before there
  /// was one. On a GPU they are copied by this call, so call it again after that.
  [[nodiscard]] std::span<const float> output(std::string_view name) const;

  /// See Statistics::variant.
  [[nodiscard]] std::string variant() const;

  [[nodiscard]] std::int64_t peak_bytes_predicted() const;
  [[nodiscard]] std::int64_t peak_bytes_measured() const;

 private:
  struct State;
  [[nodiscard]] State& state(const char* operation) const;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
