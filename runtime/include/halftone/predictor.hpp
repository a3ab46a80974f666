// SPDX-License-Identifier: Apache-2.0
// Inference, type-erased: the class that a model's generated Predictor derives from. It has an
// arena of its own, of the forward pass and the losses alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/calibration.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "halftone/trainer.hpp"
#include "halftone/values.hpp"
#include "halftone/weights.hpp"

namespace halftone {

/// Every method throws Error on misuse, and when the predictor was moved from. One thread at a time
/// may use a predictor, as it may a trainer.
class Predictor {
 public:
  /// Parameters start at the values that a trainer with the same seed starts from.
  Predictor(const Artifact& artifact, const Device& device, const Setup& setup);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// Takes every parameter, by name, as the trainer has it at this moment; all or, where one does
  /// not fit, none. What batch_norm keeps of batches goes with them; the model's states are another
  /// matter: copy_states().
  void copy_parameters(const Trainer& trainer);
  void copy_parameters(const Predictor& other);
  /// Likewise the averages of trained parameters, and the frozen ones as they are. Throws Error
  /// where the model states no average() or before the trainer's first update.
  void copy_averages(const Trainer& trainer);
  /// Of weights that rules quantize with `least_error`, those that are given from here on have
  /// scales by what products multiplied them by on data (P103); call it before what gives them. An
  /// empty calibration takes it back. Throws Error, and changes nothing, where a parameter of the
  /// calibration is none of this model's, or of another size.
  void calibrate(const Calibration& calibration);

  [[nodiscard]] std::vector<std::string> parameter_names() const;
  /// Values are row-major; empty for a scalar.
  [[nodiscard]] std::span<const std::int64_t> parameter_shape(std::string_view name) const;
  void set_parameter(std::string_view name, std::span<const float> values);
  /// Of a weight that rules quantize what its codes and scales stand for (P82), until the next
  /// call; a predictor's weights are saved so, too.
  [[nodiscard]] std::span<const float> parameter(std::string_view name) const;

  /// The states that outputs and losses depend on. They begin at their first values, to which
  /// reset_states() returns but for those that layers keep, and predict() reads them and changes
  /// none: assignments belong to training steps (S5). To carry a state on from one prediction to
  /// the next, make its new value an output and give that to set_state().
  [[nodiscard]] std::vector<std::string> state_names() const;
  [[nodiscard]] std::span<const float> state(std::string_view name) const;
  void set_state(std::string_view name, std::span<const float> values);
  void reset_states();

  /// Takes every state as the trainer has it at this moment; all or, where one has another shape,
  /// as with `batch` in it and another batch, none.
  void copy_states(const Trainer& trainer);

  /// As Trainer's; also from a trainer's checkpoint.
  void save_weights(const std::filesystem::path& file,
                    const SaveWeightsOptions& options = {}) const;
  LoadedWeights load_weights(const std::filesystem::path& file, const LoadOptions& options = {});

  /// Computes the outputs; takes exactly the inputs that the forward pass reads, of as many rows as
  /// the predictor was made for or fewer (D14, see Trainer). Outputs have as many.
  void predict(std::span<const NamedValues> inputs);

  /// Computes outputs and losses, metrics among them, as a trainer's forward() does but with
  /// nothing drawn; takes every input that they read.
  void evaluate(std::span<const NamedValues> inputs);

  /// Valid while the predictor lives; has the values of the latest predict() or evaluate(), and 0
  /// before there was one. On a GPU they are copied by this call, so call it again after that.
  [[nodiscard]] std::span<const float> output(std::string_view name) const;

  /// Of the latest evaluate(), and 0 before there was one.
  [[nodiscard]] float loss(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> loss_names() const;

  /// See Statistics::variant.
  [[nodiscard]] std::string variant() const;

  [[nodiscard]] std::int64_t peak_bytes_predicted() const;
  [[nodiscard]] std::int64_t peak_bytes_measured() const;

 private:
  friend class Generator;
  struct State;
  [[nodiscard]] InUse<State> use(const char* operation) const;
  [[nodiscard]] const State& held(const char* operation) const;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
