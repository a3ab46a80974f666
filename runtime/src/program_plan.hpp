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

/// What a program's runs come to with its symbols bound: as planned, or with fewer rows.
struct Sizes {
  std::int64_t rows = 0;  ///< what ProgramPlan::leading_symbol() stands for; 0 where there is none
  std::vector<std::int64_t> symbols = {};   ///< bound values, in the order of Manifest::symbols
  std::vector<std::int64_t> elements = {};  ///< of every buffer
};

/// Memory, offsets in it and what is refused hold for the planned sizes, the largest.
class ProgramPlan {
 public:
  /// `who` ("trainer", "predictor") opens the errors.
  ProgramPlan(const char* who, const Artifact& artifact, const Device& device,
              std::string_view program, const Setup& setup);

  /// Another program of the same artifact and stage, bound to the same sizes on the same device.
  ProgramPlan(const char* who, const ProgramPlan& like, std::string_view program);

  /// The same program under the rules of another of the model's stages (P66).
  [[nodiscard]] ProgramPlan in_stage(std::string_view stage) const;

  /// Whether it is that of the stage, too.
  [[nodiscard]] bool holds_in(std::string_view stage) const;

  /// Buffers lie where another layout says.
  void lie_in(manifest::ArenaPlan arena) { arena_ = std::move(arena); }

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

  [[nodiscard]] const Sizes& planned() const { return planned_; }
  [[nodiscard]] std::span<const std::int64_t> symbols() const { return planned_.symbols; }

  /// Index of the symbol whose size every run chooses anew, up to the planned one: that in front of
  /// the inputs' shapes. None where no input begins with a symbol, or two with different ones.
  [[nodiscard]] std::optional<std::size_t> leading_symbol() const { return leading_; }

  /// Values of a row of a buffer; 0 where its shape has the leading symbol not once.
  [[nodiscard]] std::int64_t row_elements(std::size_t buffer) const;

  /// The sizes of a run of 1 to planned().rows rows. All other symbols stay as they are bound.
  [[nodiscard]] Sizes with_rows(std::int64_t rows) const;

  /// The sizes of a run whose symbols are these, none larger than planned.
  [[nodiscard]] Sizes with_symbols(std::vector<std::int64_t> symbols) const;

  /// Whether the buffer lies in the host's memory, beside the device's (P91).
  [[nodiscard]] bool lies_in_host(std::size_t buffer) const {
    return target_ && this->buffer(buffer).in_host;
  }

  /// The section that a launch of a phase belongs to, or null.
  [[nodiscard]] const manifest::Section* section_of(manifest::Phase phase,
                                                    std::size_t launch) const;

  [[nodiscard]] std::span<const manifest::Launch> launches_of(
      const manifest::Section& section) const;

  /// A share of a section's symbol: `sizes` of a run with that many, which kernels are bound to,
  /// and the element that it begins with.
  struct Chunk {
    Sizes sizes;
    std::int64_t begin = 0;
  };
  /// Of a section that runs in chunks, in their order. The last one may be short.
  [[nodiscard]] std::vector<Chunk> chunks_of(const manifest::Section& section,
                                             const Sizes& sizes) const;

  /// How many bytes of an argument's buffer lie before element `begin` of the section's symbol:
  /// none of what the section alone uses, nor of what has no rows.
  [[nodiscard]] std::int64_t bytes_before(const manifest::Argument& argument,
                                          const manifest::Section& section, const Sizes& sizes,
                                          std::int64_t begin) const;

  /// How many parts a section that runs in parts has.
  [[nodiscard]] static std::int64_t count_parts(const manifest::Section& section,
                                                const Sizes& sizes);

  /// Where a kernel finds a part of what it sees parts of: element `part / each` of those
  /// `elements` long.
  struct PartOf {
    std::int64_t each = 1, elements = 0;
  };
  [[nodiscard]] PartOf part_of(const manifest::Argument& argument, const manifest::Section& section,
                               const Sizes& sizes) const;

  /// A state with the leading symbol in its shape, which holds all runs to the planned rows.
  [[nodiscard]] std::optional<std::size_t> state_of_rows() const;

  /// Index of the buffer with that name, or of the first with that role.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> find(manifest::Role role) const;

  [[nodiscard]] const manifest::Buffer& buffer(std::size_t index) const;
  [[nodiscard]] std::int64_t elements(std::size_t buffer) const {
    return planned_.elements[buffer];
  }
  [[nodiscard]] std::int64_t bytes(std::size_t buffer) const { return bytes(buffer, planned_); }
  [[nodiscard]] std::int64_t bytes(std::size_t buffer, const Sizes& sizes) const {
    return manifest::bytes_of(this->buffer(buffer).encoding, sizes.elements[buffer]);
  }

  /// How many elements of its buffer an argument of a launch stands for: of a flat buffer of
  /// gradients those of the parameter.
  [[nodiscard]] std::int64_t elements(const manifest::Argument& argument, const Sizes& sizes) const;

  /// Where in its buffer an argument begins.
  [[nodiscard]] std::int64_t first_byte(const manifest::Argument& argument) const;

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
  [[nodiscard]] std::string shape_text(std::size_t buffer, const Sizes& sizes) const;
  [[nodiscard]] std::string shape_text(std::size_t buffer) const {
    return shape_text(buffer, planned_);
  }

  [[noreturn]] void refuse_size(std::string cause) const;
  /// For want of memory.
  [[noreturn]] void refuse_bytes(std::int64_t bytes) const;
  /// For sizes past what numbers or launches hold.
  [[noreturn]] void refuse_launch(std::string cause) const;

 private:
  void choose_manifest(std::string_view stage);
  void choose_manifest_of(std::string_view stage);
  void check_model(const Setup& setup) const;
  void choose_program(std::string_view name, const Setup& setup);
  void bind_symbols(std::span<const Binding> bindings);
  void check_limits(std::span<const std::int64_t> symbols) const;
  void check_images(const manifest::Launch& launch) const;
  void check_rows(const manifest::Kernel& kernel) const;
  void plan();
  void find_leading_symbol();
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
  Sizes planned_;
  std::optional<std::size_t> leading_;
  manifest::ArenaPlan arena_;
};

/// Throws Error for a stage that the model does not have.
void require_stage(const char* operation, const manifest::Manifest& manifest,
                   std::string_view stage);

}  // namespace halftone
