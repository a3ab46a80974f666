// SPDX-License-Identifier: Apache-2.0
// Right operands of contractions that are packed before the tasks that read them
// (docs/decisions/0052), on the CPU. Of a program that only reads its weights those are packed once
// and stay so until they change; of any other launch rhs is packed each time that it runs, where
// that is faster, into memory that all launches share. What is packed is a copy: no bit depends on
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "halftone/manifest/blocks.hpp"
#include "program_plan.hpp"
#include "thread_pool.hpp"

namespace halftone {

class PackedOperands {
 public:
  PackedOperands(const ProgramPlan& plan, std::size_t variant);

  /// The plan has this launch; with the largest sizes that it runs with its tasks are cut so.
  /// Throws std::overflow_error past 2^62 bytes.
  void add(const manifest::Launch& launch, const Sizes& sizes, const manifest::BlockPlan& blocks);

  /// Of the weights that stay packed, and of what launches share at the most.
  [[nodiscard]] std::int64_t kept_bytes() const noexcept { return kept_bytes_; }
  [[nodiscard]] std::int64_t shared_bytes() const noexcept { return shared_bytes_; }

  /// Where they lie, aligned to manifest::kSlotAlignment; what launches share may be larger.
  void lie_in(std::byte* kept, std::byte* shared, std::int64_t shared_bytes) noexcept;

  /// How a launch's rhs is packed.
  struct Packing {
    manifest::CpuBlocks blocks;  ///< of the tasks that pack
    std::int64_t tasks = 0;
    bool* is_done = nullptr;  ///< of a weight: whether it is packed; null: pack it for every run
    Work work = {};
  };

  /// Of a launch with these sizes, or none: then its tasks pack.
  [[nodiscard]] std::optional<Packing> find(const manifest::Launch& launch, const Sizes& sizes,
                                            const manifest::BlockPlan& blocks);

  /// A buffer, or any of them, has other values.
  void forget(std::size_t buffer) noexcept;
  void forget() noexcept;

 private:
  struct Weight {
    std::int32_t kernel = 0, buffer = 0;
    std::int64_t offset = 0, at = 0;
    bool is_done = false;
  };

  [[nodiscard]] Sizes most_often(const Sizes& planned) const;
  [[nodiscard]] bool stays(const manifest::Launch& launch, const Sizes& sizes) const;
  [[nodiscard]] bool is_worth_keeping(const manifest::Launch& launch, const Sizes& sizes) const;
  [[nodiscard]] Weight* find(const manifest::Launch& launch);
  [[nodiscard]] bool is_wanted(const manifest::Kernel& kernel,
                               const manifest::BlockPlan& blocks) const;

  const ProgramPlan& plan_;
  std::size_t variant_;
  bool only_reads_weights_;
  std::list<Weight> weights_;  // flags that launches point at
  std::int64_t kept_bytes_ = 0, shared_bytes_ = 0;
  std::byte *kept_ = nullptr, *shared_ = nullptr;
};

}  // namespace halftone
