// SPDX-License-Identifier: Apache-2.0
// A program made ready to run: sizes fixed, arena allocated, kernels found. What trainer and
// predictor have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device_memory.hpp"
#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/values.hpp"

namespace halftone {

/// Entries are described at manifest::Kernel.
using CpuEntry = void (*)(void* const* arguments, const std::int64_t* symbols,
                          std::int64_t first_task, std::int64_t last_task);

class BoundProgram {
 public:
  /// `who` ("trainer", "predictor") opens the errors. Memory holds the first values of everything
  /// afterwards.
  BoundProgram(const char* who, const Artifact& artifact, const Device& device,
               std::string_view program, const Setup& setup);

  /// Another program of the same artifact, bound to the same sizes on the same device. Parameters
  /// stay zero.
  BoundProgram(const char* who, const BoundProgram& like, std::string_view program);

  /// Runs the kernels of a phase one after another, each on all threads; working copies are written
  /// before when parameters were changed.
  void run(manifest::Phase phase);

  /// The same for one launch of a phase.
  void run(manifest::Phase phase, std::size_t launch);

  /// Writes working copies when parameters were changed.
  void refresh();

  /// Allocates what the accumulate phase needs, once. Throws Error when there is no memory.
  void prepare_accumulation();

  [[nodiscard]] const manifest::Manifest& manifest() const { return artifact_.manifest(); }
  [[nodiscard]] const manifest::Program& program() const { return *program_; }
  [[nodiscard]] const std::string& variant() const { return manifest().variants[variant_]; }
  /// The buffer for micro-batches counts once it is there.
  [[nodiscard]] std::int64_t bytes_predicted() const {
    return plan_.bytes + (accumulated_ ? plan_.accumulated_bytes : 0);
  }
  [[nodiscard]] std::int64_t bytes_measured() const { return memory_.bytes(); }

  /// Index of the buffer with that name, or of the first with that role.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> find(manifest::Role role) const;

  [[nodiscard]] const manifest::Buffer& buffer(std::size_t index) const;
  [[nodiscard]] std::byte* address(std::size_t buffer) const;
  [[nodiscard]] std::int64_t elements(std::size_t buffer) const { return elements_[buffer]; }

  /// The buffer's elements; throws Error when its format is not f32.
  [[nodiscard]] std::span<float> floats(const char* operation, std::size_t buffer) const;

  /// The value of a scalar.
  [[nodiscard]] float scalar(std::size_t buffer) const;

  /// The values of a parameter, or of its gradient, in their flat buffers. Throws Error for unknown
  /// names.
  [[nodiscard]] std::span<float> parameter(const char* operation, std::string_view name) const;
  [[nodiscard]] std::span<float> gradient(const char* operation, std::string_view name) const;
  void set_parameter(std::string_view name, std::span<const float> values);

  /// How many elements of its buffer an argument of a launch stands for: of a flat buffer of
  /// gradients those of the parameter.
  [[nodiscard]] std::int64_t elements(const manifest::Argument& argument) const;

  /// The readable values of an output. Throws Error for unknown names.
  [[nodiscard]] std::span<const float> output(std::string_view name) const;

  /// The input buffers that a phase's kernels read, in the order of Manifest::inputs.
  [[nodiscard]] std::vector<std::size_t> inputs_of(manifest::Phase phase) const;

  /// "batch 32 x 64", for errors; "a scalar" for one.
  [[nodiscard]] std::string shape_text(std::size_t buffer) const;

 private:
  struct BoundLaunch {
    CpuEntry entry = nullptr, finish = nullptr;
    std::vector<void*> arguments;
    std::int64_t tasks = 0;
  };

  void choose_program(std::string_view name, const Setup& setup);
  void bind_symbols(std::span<const Binding> bindings);
  void choose_variant();
  void make_ready();
  void plan();
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  [[noreturn]] void refuse_size(std::string cause) const;
  void write_first_values();
  void initialize_parameters(std::uint64_t seed);
  void bind_launches(manifest::Phase phase);
  void bind_launch(const manifest::Launch& launch, std::vector<BoundLaunch>& launches);
  void run(const BoundLaunch& launch);
  [[nodiscard]] const manifest::Parameter& find_parameter(const char* operation,
                                                          std::string_view name) const;
  [[nodiscard]] std::string bindings_text() const;

  const char* who_;
  Artifact artifact_;
  Device device_;
  DeviceMemory memory_;
  const manifest::Program* program_ = nullptr;
  std::size_t variant_ = 0;
  std::vector<std::int64_t> symbols_;   // bound values, in the order of Manifest::symbols
  std::vector<std::int64_t> elements_;  // of every buffer
  manifest::ArenaPlan plan_;
  std::byte* arena_ = nullptr;
  std::byte* accumulated_ = nullptr;  ///< the piece beside the arena, once there are micro-batches
  bool parameters_changed_ = true;    ///< since working copies were written
  std::vector<BoundLaunch> phases_[manifest::kPhases];
};

}  // namespace halftone
