// SPDX-License-Identifier: Apache-2.0
// A program made ready to run: sizes fixed, memory there, kernels found, values by name. What
// trainer and predictor have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "execution.hpp"
#include "halftone/calibration.hpp"
#include "program_plan.hpp"

namespace halftone {

class BoundProgram {
 public:
  /// Of a model's stages: the one that the setup says, or all of them, in which runs take turns.
  enum class Stages : std::uint8_t { one, all };

  /// `who` ("trainer", "predictor") opens the errors. Memory holds the first values of everything
  /// afterwards.
  BoundProgram(const char* who, const Artifact& artifact, const Device& device,
               std::string_view program, const Setup& setup, Stages stages = Stages::one);

  /// Another program of the same artifact, bound to the same sizes on the same device. Parameters
  /// stay zero.
  BoundProgram(const char* who, const BoundProgram& like, std::string_view program);

  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;

  /// Those of the stage it is in.
  [[nodiscard]] const ProgramPlan& plan() const { return turn_.load()->plan; }
  [[nodiscard]] const manifest::Manifest& manifest() const { return plan().manifest(); }
  [[nodiscard]] const manifest::Program& program() const { return plan().program(); }
  [[nodiscard]] Execution& execution() const { return *turn_.load()->execution; }

  /// Goes on in another stage of the model's, of all of which it is, with the planned sizes. All
  /// runs are done. What outlasts them stays where it is; working copies are written before the
  /// next. Where it throws it is in the stage that it was in.
  void enter(std::string_view stage);
  /// Empty where the model declares none.
  [[nodiscard]] const std::string& stage() const { return stage_; }
  /// Of a stage that enter() takes.
  [[nodiscard]] const ProgramPlan& plan_of(std::string_view stage) const {
    return find_turn(stage)->plan;
  }

  /// A stage's program, or that of several which rules do not tell apart.
  struct Turn {
    ProgramPlan plan;
    std::unique_ptr<Execution> execution = nullptr;
  };
  [[nodiscard]] const std::vector<std::unique_ptr<Turn>>& turns() const { return turns_; }

  /// Of the runs from here on: 1 to the planned ones. 0 where runs have no rows of their own.
  void use_rows(std::int64_t rows) {
    if (rows != sizes_.rows) change(plan().with_rows(rows));
  }
  /// Likewise of all symbols.
  void use_symbols(const std::vector<std::int64_t>& symbols) {
    if (symbols != sizes_.symbols) change(plan().with_symbols(symbols));
  }
  /// Of the last run, or of the one that is being prepared; first the planned ones.
  [[nodiscard]] std::int64_t rows() const { return sizes_.rows; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] std::int64_t elements(std::size_t buffer) const { return sizes_.elements[buffer]; }
  [[nodiscard]] std::size_t bytes(std::size_t buffer) const {
    return static_cast<std::size_t>(plan().bytes(buffer, sizes_));
  }

  /// Runs the kernels of these phases; working copies are written before when parameters were
  /// changed.
  void run(std::span<const manifest::Phase> phases);
  void run(std::initializer_list<manifest::Phase> phases) {
    run(std::span(phases.begin(), phases.size()));
  }

  /// The same for one launch of a phase.
  void run(manifest::Phase phase, std::size_t launch);

  /// Writes working copies when parameters were changed.
  void refresh();

  /// The buffer's elements; throws Error when its format is not f32. See Execution::read.
  [[nodiscard]] std::span<const float> floats(const char* operation, std::size_t buffer) const;

  /// Masters, from the element `first` of their flat buffer on; in one buffer or in two (P69).
  [[nodiscard]] std::span<const float> masters(const char* operation, std::int64_t first,
                                               std::size_t count) const;
  void set_masters(std::int64_t first, std::span<const float> values);

  /// Part of a buffer, from byte `at` on.
  void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes);

  /// The value of a scalar, and a new one for it; nothing happens when it has that value already.
  [[nodiscard]] float scalar(std::size_t buffer) const;
  void set_scalar(std::size_t buffer, float value);

  /// The values of a parameter, or of its gradient, in their flat buffers. Throws Error for unknown
  /// names.
  [[nodiscard]] std::span<const float> parameter(const char* operation,
                                                 std::string_view name) const;
  [[nodiscard]] std::span<const float> gradient(const char* operation, std::string_view name) const;
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::span<const std::int64_t> parameter_shape(const char* operation,
                                                              std::string_view name) const;
  void set_parameter(std::string_view name, std::span<const float> values);
  /// What scales of weights are sought by that are given from here on. Throws Error, and changes
  /// nothing, where a parameter of it is another here.
  void calibrate(const Calibration& calibration);
  /// Every parameter as the other program has it. Throws Error, and copies none, where one differs.
  void copy_parameters(const BoundProgram& from);
  /// The average of a trained parameter, and all of them in the parameters' place, likewise.
  [[nodiscard]] std::span<const float> average(const char* operation, std::string_view name) const;
  void copy_averages(const BoundProgram& from);

  /// The user's states, likewise.
  [[nodiscard]] std::vector<std::string> state_names() const;
  [[nodiscard]] std::span<const float> state(const char* operation, std::string_view name) const;
  void set_state(std::string_view name, std::span<const float> values);
  void reset_states();
  void copy_states(const BoundProgram& from);
  /// Those that layers keep (D17): they are copied with parameters, and reset_states() leaves them.
  [[nodiscard]] std::vector<std::string> kept_states() const;

  /// The value of a loss. Throws Error for unknown names.
  [[nodiscard]] float loss(std::string_view name) const;

  /// The readable values of an output. Throws Error for unknown names.
  [[nodiscard]] std::span<const float> output(std::string_view name) const;

 private:
  void plan_turns();
  [[nodiscard]] Turn* find_turn(std::string_view stage) const;
  void initialize_parameters(std::uint64_t seed);
  void require_same_parameters(const char* operation, const BoundProgram& from) const;
  void change(Sizes sizes);
  [[nodiscard]] const manifest::Parameter& find_parameter(const char* operation,
                                                          std::string_view name) const;
  /// How the program holds the parameter's codes (P84); null where it has a master.
  [[nodiscard]] const manifest::QuantizedWeight* find_codes(
      const manifest::Parameter& parameter) const;
  [[nodiscard]] std::int64_t master_offset(const manifest::Parameter& parameter) const;
  void put(const manifest::Parameter& parameter, std::span<const float> values);
  /// Whether both programs hold the parameter as codes of one kind, which are copied then.
  bool copy_codes(const BoundProgram& from, std::string_view name);
  [[nodiscard]] std::vector<std::size_t> states() const;
  [[nodiscard]] std::size_t find_state(const char* operation, std::string_view name) const;

  std::vector<std::unique_ptr<Turn>> turns_;
  std::atomic<Turn*> turn_ = nullptr;  ///< whose names may be asked for at any time
  std::string stage_;
  Sizes sizes_;
  Calibration calibration_;
  bool parameters_changed_ = true;     ///< since working copies were written
  mutable std::vector<float> joined_;  ///< what callers read of two buffers
};

}  // namespace halftone
