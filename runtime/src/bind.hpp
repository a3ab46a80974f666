// SPDX-License-Identifier: Apache-2.0
// A program made ready to run: sizes fixed, memory there, kernels found, values by name. What
// trainer and predictor have in common.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "execution.hpp"
#include "program_plan.hpp"

namespace halftone {

class BoundProgram {
 public:
  /// `who` ("trainer", "predictor") opens the errors. Memory holds the first values of everything
  /// afterwards.
  BoundProgram(const char* who, const Artifact& artifact, const Device& device,
               std::string_view program, const Setup& setup);

  /// Another program of the same artifact, bound to the same sizes on the same device. Parameters
  /// stay zero.
  BoundProgram(const char* who, const BoundProgram& like, std::string_view program);

  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;

  [[nodiscard]] const ProgramPlan& plan() const { return plan_; }
  [[nodiscard]] const manifest::Manifest& manifest() const { return plan_.manifest(); }
  [[nodiscard]] const manifest::Program& program() const { return plan_.program(); }
  [[nodiscard]] Execution& execution() const { return *execution_; }

  /// Of the runs from here on: 1 to the planned ones. 0 where runs have no rows of their own.
  void use_rows(std::int64_t rows) {
    if (rows != sizes_.rows) change(plan_.with_rows(rows));
  }
  /// Likewise of all symbols.
  void use_symbols(const std::vector<std::int64_t>& symbols) {
    if (symbols != sizes_.symbols) change(plan_.with_symbols(symbols));
  }
  /// Of the last run, or of the one that is being prepared; first the planned ones.
  [[nodiscard]] std::int64_t rows() const { return sizes_.rows; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] std::int64_t elements(std::size_t buffer) const { return sizes_.elements[buffer]; }
  [[nodiscard]] std::size_t bytes(std::size_t buffer) const {
    return static_cast<std::size_t>(plan_.bytes(buffer, sizes_));
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
  void initialize_parameters(std::uint64_t seed);
  void require_same_parameters(const char* operation, const BoundProgram& from) const;
  void copy_kept_states(const char* operation, const BoundProgram& from);
  void change(Sizes sizes);
  [[nodiscard]] const manifest::Parameter& find_parameter(const char* operation,
                                                          std::string_view name) const;
  [[nodiscard]] std::vector<std::size_t> states() const;
  [[nodiscard]] std::size_t find_state(const char* operation, std::string_view name) const;

  ProgramPlan plan_;
  std::unique_ptr<Execution> execution_;
  Sizes sizes_;
  bool parameters_changed_ = true;  ///< since working copies were written
};

}  // namespace halftone
