// SPDX-License-Identifier: Apache-2.0
// A program on this processor: the artifact's native code on the device's threads.
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "device_memory.hpp"
#include "execution.hpp"
#include "halftone/manifest/blocks.hpp"
#include "packed_operands.hpp"
#include "recent_rows.hpp"
#include "thread_pool.hpp"

namespace halftone {

/// Entries are described at manifest::Kernel.
using CpuEntry = void (*)(void* const* arguments, const std::int64_t* symbols,
                          std::int64_t first_task, std::int64_t last_task,
                          const manifest::CpuBlocks* blocks);

/// What programs lie in that run one at a time. Pieces are null until they are asked for.
struct CpuMemory {
  explicit CpuMemory(std::shared_ptr<MemorySource> from) : source(std::move(from)) {}

  DeviceMemory source;
  std::byte* arena = nullptr;
  std::byte* accumulated = nullptr;  ///< beside the arena, once there are micro-batches
  std::byte* parts = nullptr;        ///< what sections in parts use, a piece for each thread
  float* blocks = nullptr;           ///< what contractions work in, a part for each thread
  std::int64_t block_floats = 0;     ///< of a part
  std::byte* packed = nullptr;       ///< what launches pack for their own tasks, in turn
  std::int64_t packed_bytes = 0;
};

class CpuExecution final : public Execution {
 public:
  /// Other executions may lie in `memory`, too; start() follows when all of them are there.
  CpuExecution(const ProgramPlan& plan, std::shared_ptr<CpuMemory> memory);

  /// Takes memory, unless another did, and writes first values.
  void start();

  void use(const Sizes& sizes) override;
  const std::byte* read(std::size_t buffer) override { return address(buffer); }
  std::span<const std::byte> read_part(std::size_t buffer, std::int64_t at,
                                       std::int64_t bytes) override {
    return {address(buffer) + at, static_cast<std::size_t>(bytes)};
  }
  void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) override;
  void copy(std::size_t buffer, std::int64_t to, std::int64_t from, std::int64_t bytes) override;
  void clear(std::size_t buffer, std::int64_t at, std::int64_t bytes) override;
  std::span<std::byte> staged(std::size_t buffer) override;
  void wait() override {}
  std::vector<Outcome> outcomes(bool) override { return std::exchange(outcomes_, {}); }
  void run(std::span<const manifest::Phase> phases) override;
  void run(manifest::Phase phase, std::size_t launch) override;
  std::span<const std::byte> kept(std::size_t buffer) override { return kept_[buffer]; }
  void prepare_accumulation() override;
  void begin_turn() override {}
  void forget_what_was_read() override {}
  std::int64_t bytes_predicted() const override;
  std::int64_t bytes_measured() const override { return memory_->source.bytes(); }
  std::string variant() const override { return plan_.manifest().variants[variant_]; }

 private:
  struct BoundLaunch {
    CpuEntry entry = nullptr, finish = nullptr;
    std::vector<void*> arguments;
    std::int64_t tasks = 0;
    manifest::BlockPlan blocks;  ///< of a contraction
    Work work = {};
    std::vector<std::int64_t> symbols = {};
    std::optional<PackedOperands::Packing> packing = {};
  };

  /// Where an argument of a section in parts lies: `first`, which is a thread's own where `own`,
  /// and `stride` bytes further for every `each` parts.
  struct PartPlace {
    std::byte* first = nullptr;
    bool own = false;
    std::int64_t each = 1, stride = 0;
  };

  /// Launches that run once for every part: on one thread each, or with all threads on a launch
  /// where there are fewer parts than those.
  struct BoundParts {
    std::vector<BoundLaunch> launches;
    std::vector<std::vector<PartPlace>> places;  ///< by launch and argument
    std::int64_t count = 0;
    bool side_by_side = false;
    Work work = {};
    /// What a thread gives to kernels, by slot, launch and argument.
    std::vector<std::vector<std::vector<void*>>> arguments;
  };

  /// Where a launch of a section stands; in a launch of none all of it is absent.
  struct Chunk {
    const manifest::Section* section = nullptr;
    std::int64_t begin = 0;  ///< element of the section's symbol
  };

  using BoundStep = std::variant<BoundLaunch, BoundParts>;

  /// A program's launches with the sizes of its runs.
  struct BoundPhases {
    Sizes sizes;
    std::vector<BoundStep> phases[manifest::kPhases] = {};
  };

  void forget_runs() override { outcomes_.clear(); }
  [[nodiscard]] std::size_t choose_variant() const;
  /// As the source has it; null where there is none.
  [[nodiscard]] std::byte* take(std::int64_t bytes);
  /// Zeros.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  void count_block_floats();
  void find_packed(const manifest::Launch& launch, const manifest::Section* section);
  void make_block_memory();
  void make_packed_memory();
  [[nodiscard]] std::int64_t block_bytes() const;
  [[nodiscard]] std::int64_t part_bytes() const;
  [[noreturn]] void refuse_tasks() const;
  [[nodiscard]] std::byte* address(std::size_t buffer) const;
  [[nodiscard]] BoundPhases bind(const Sizes& sizes);
  void bind(BoundPhases& bound, manifest::Phase phase);
  [[nodiscard]] BoundLaunch bind(const manifest::Launch& launch, const Sizes& sizes,
                                 const Chunk& chunk);
  void bind(std::vector<BoundStep>& steps, const manifest::Section& section, const Sizes& sizes);
  [[nodiscard]] BoundParts bind_parts(const manifest::Section& section, const Sizes& sizes);
  [[nodiscard]] PartPlace place_of(const manifest::Argument& argument,
                                   const manifest::Section& section, const Sizes& sizes) const;
  /// Whether parts run on one thread each, which the planned sizes decide.
  [[nodiscard]] bool side_by_side(const manifest::Section& section) const;
  [[nodiscard]] int threads_of(const manifest::Section* section) const;
  [[nodiscard]] manifest::BlockPlan blocks_of(const manifest::Kernel& kernel, const Sizes& sizes,
                                              int threads) const;
  void pack(BoundLaunch& launch);
  void run(BoundLaunch& launch);
  void run(BoundParts& parts);
  void place(const BoundParts& parts, std::size_t launch, std::int64_t part, int slot,
             std::vector<void*>& arguments) const;
  /// The tasks of a launch from `first` to `last`, on one thread.
  void call(CpuEntry entry, const BoundLaunch& launch, void* const* arguments, std::int64_t first,
            std::int64_t last, int slot) const;

  const ProgramPlan& plan_;
  std::shared_ptr<CpuMemory> memory_;
  std::size_t variant_;
  PackedOperands packed_;
  bool accumulates_ = false;  ///< there were micro-batches
  BoundPhases planned_;
  RecentRows<BoundPhases> smaller_;
  BoundPhases* in_use_ = &planned_;
  OutcomeBuffers outcome_buffers_;
  std::vector<Outcome> outcomes_;
  std::vector<std::vector<std::byte>> kept_;  // by buffer; empty for those that are not kept
};

}  // namespace halftone
