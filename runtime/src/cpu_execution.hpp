// SPDX-License-Identifier: Apache-2.0
// A program on this processor: the artifact's native code on the device's threads.
#pragma once

#include <utility>
#include <vector>

#include "device_memory.hpp"
#include "execution.hpp"
#include "halftone/manifest/blocks.hpp"
#include "recent_rows.hpp"
#include "thread_pool.hpp"

namespace halftone {

/// Entries are described at manifest::Kernel.
using CpuEntry = void (*)(void* const* arguments, const std::int64_t* symbols,
                          std::int64_t first_task, std::int64_t last_task,
                          const manifest::CpuBlocks* blocks);

class CpuExecution final : public Execution {
 public:
  explicit CpuExecution(const ProgramPlan& plan);

  void use(const Sizes& sizes) override;
  const std::byte* read(std::size_t buffer) override { return address(buffer); }
  void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) override;
  std::span<std::byte> staged(std::size_t buffer) override;
  void wait() override {}
  std::vector<Outcome> outcomes(bool) override { return std::exchange(outcomes_, {}); }
  void run(std::span<const manifest::Phase> phases) override;
  void run(manifest::Phase phase, std::size_t launch) override;
  std::span<const std::byte> kept(std::size_t buffer) override { return kept_[buffer]; }
  void prepare_accumulation() override;
  std::int64_t bytes_predicted() const override;
  std::int64_t bytes_measured() const override { return memory_.bytes(); }
  std::string variant() const override { return plan_.manifest().variants[variant_]; }

 private:
  struct BoundLaunch {
    CpuEntry entry = nullptr, finish = nullptr;
    std::vector<void*> arguments;
    std::int64_t tasks = 0;
    manifest::BlockPlan blocks;  ///< of a contraction
    Work work = {};
    std::vector<std::int64_t> symbols = {};
  };

  /// Where a launch of a section stands; in a launch of none all of it is absent.
  struct Chunk {
    const manifest::Section* section = nullptr;
    std::int64_t begin = 0;  ///< element of the section's symbol
  };

  /// A program's launches with the sizes of its runs.
  struct BoundPhases {
    Sizes sizes;
    std::vector<BoundLaunch> phases[manifest::kPhases] = {};
  };

  void choose_variant();
  /// As the source has it; null where there is none.
  [[nodiscard]] std::byte* take(std::int64_t bytes);
  /// Zeros.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  void make_block_memory();
  [[nodiscard]] std::int64_t block_bytes() const;
  [[noreturn]] void refuse_tasks() const;
  [[nodiscard]] std::byte* address(std::size_t buffer) const;
  [[nodiscard]] BoundPhases bind(const Sizes& sizes) const;
  void bind(BoundPhases& bound, manifest::Phase phase) const;
  [[nodiscard]] BoundLaunch bind(const manifest::Launch& launch, const Sizes& sizes,
                                 const Chunk& chunk) const;
  void bind(std::vector<BoundLaunch>& launches, const manifest::Section& section,
            const Sizes& sizes) const;
  [[nodiscard]] manifest::BlockPlan blocks_of(const manifest::Kernel& kernel,
                                              const Sizes& sizes) const;
  void run(BoundLaunch& launch);

  const ProgramPlan& plan_;
  DeviceMemory memory_;
  std::size_t variant_ = 0;
  std::byte* arena_ = nullptr;
  std::byte* accumulated_ = nullptr;  ///< the piece beside the arena, once there are micro-batches
  bool accumulates_ = false;          ///< there are
  float* blocks_ = nullptr;           ///< what contractions work in, a part for each thread
  std::int64_t block_floats_ = 0;     ///< of a part
  BoundPhases planned_;
  RecentRows<BoundPhases> smaller_;
  BoundPhases* in_use_ = &planned_;
  OutcomeBuffers outcome_buffers_;
  std::vector<Outcome> outcomes_;
  std::vector<std::vector<std::byte>> kept_;  // by buffer; empty for those that are not kept
};

}  // namespace halftone
