// SPDX-License-Identifier: Apache-2.0
// A program with its symbols bound and its device chosen, before it has any memory: sizes, offsets,
// which manifest and target hold, and the sentences about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/values.hpp"
#include "packed_kernels.hpp"

namespace halftone {

class ProgramPlan {
 public:
  /// `who` ("trainer", "predictor") opens the errors.
  ProgramPlan(const char* who, const Artifact& artifact, const Device& device,
              std::string_view program, const Setup& setup);

  /// Another program of the same artifact, bound to the same sizes on the same device.
  ProgramPlan(const char* who, const ProgramPlan& like, std::string_view program);

  [[nodiscard]] const char* who() const { return who_; }
  [[nodiscard]] const Artifact& artifact() const { return artifact_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const manifest::Manifest& manifest() const { return *manifest_; }
  [[nodiscard]] const manifest::Program& program() const { return *program_; }
  /// How kernels run on the device's chip; null on the CPU.
  [[nodiscard]] const manifest::CudaTarget* target() const { return target_; }
  /// The artifact's kernels; null on the CPU.
  [[nodiscard]] const std::shared_ptr<const PackedKernels>& packed() const { return packed_; }
  /// Whether what runs was compiled ahead of time.
  [[nodiscard]] bool ahead() const { return ahead_; }
  /// What their texts are compiled for: "sm_80", "compute_80".
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  [[nodiscard]] const manifest::ArenaPlan& arena() const { return arena_; }

  /// Bound values, in the order of Manifest::symbols.
  [[nodiscard]] std::span<const std::int64_t> symbols() const { return symbols_; }

  /// Index of the buffer with that name, or of the first with that role.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> find(manifest::Role role) const;

  [[nodiscard]] const manifest::Buffer& buffer(std::size_t index) const;
  [[nodiscard]] std::int64_t elements(std::size_t buffer) const { return elements_[buffer]; }
  [[nodiscard]] std::int64_t bytes(std::size_t buffer) const {
    return manifest::bytes_of(this->buffer(buffer).encoding, elements_[buffer]);
  }

  /// How many elements of its buffer an argument of a launch stands for: of a flat buffer of
  /// gradients those of the parameter.
  [[nodiscard]] std::int64_t elements(const manifest::Argument& argument) const;

  /// Where in its buffer an argument begins. Throws Error when that lies behind its end.
  [[nodiscard]] std::int64_t first_byte(const manifest::Argument& argument,
                                        const manifest::Kernel& kernel) const;

  [[nodiscard]] const manifest::Kernel& kernel(const manifest::Launch& launch) const;
  [[nodiscard]] std::span<const manifest::Launch> launches(manifest::Phase phase) const {
    return program_->phases[static_cast<std::size_t>(phase)];
  }

  /// The first values of a buffer that does not start at zero, as bytes; otherwise empty.
  [[nodiscard]] std::vector<std::byte> first_values(std::size_t buffer) const;

  /// The input buffers that a phase's kernels read, in the order of Manifest::inputs.
  [[nodiscard]] std::vector<std::size_t> inputs_of(manifest::Phase phase) const;

  /// With the symbols bound.
  [[nodiscard]] std::vector<std::int64_t> extents(std::size_t buffer) const;

  /// "batch 32 x 64", for errors; "a scalar" for one.
  [[nodiscard]] std::string shape_text(std::size_t buffer) const;

  [[noreturn]] void refuse_size(std::string cause) const;
  /// For want of memory.
  [[noreturn]] void refuse_bytes(std::int64_t bytes) const;
  /// For sizes past what numbers or launches hold.
  [[noreturn]] void refuse_launch(std::string cause) const;

 private:
  void choose_manifest();
  void check_model(const Setup& setup) const;
  void choose_program(std::string_view name, const Setup& setup);
  void bind_symbols(std::span<const Binding> bindings);
  void check_rows(const manifest::Kernel& kernel) const;
  void plan();
  [[nodiscard]] std::string model_text() const;

  const char* who_;
  Artifact artifact_;
  Device device_;
  const manifest::Manifest* manifest_ = nullptr;
  const manifest::Program* program_ = nullptr;
  const manifest::CudaTarget* target_ = nullptr;
  std::shared_ptr<const PackedKernels> packed_;
  std::string architecture_;
  bool ahead_ = false;
  std::vector<std::int64_t> symbols_;
  std::vector<std::int64_t> elements_;  // of every buffer
  manifest::ArenaPlan arena_;
};

}  // namespace halftone
