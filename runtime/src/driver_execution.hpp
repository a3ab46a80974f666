// SPDX-License-Identifier: Apache-2.0
// A program on a device behind a driver. What the host runs in one go is one graph, captured when
// it is first asked for, and again when kernels are exchanged; what the host reads is copied when
// it asks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bound_launch.hpp"
#include "driver_context.hpp"
#include "driver_memory.hpp"
#include "driver_modules.hpp"
#include "execution.hpp"
#include "host_stays.hpp"
#include "recent_rows.hpp"
#include "runs_in_flight.hpp"
#include "specialisation.hpp"
#include "transfers.hpp"

namespace halftone {

class DriverExecution final : public Execution {
 public:
  /// `turns`: the plans that run in turn, this one among them; `first`: what runs the first of
  /// them, whose stream and memory the others use, null for itself.
  DriverExecution(const ProgramPlan& plan, std::span<const ProgramPlan* const> turns,
                  const DriverExecution* first);
  ~DriverExecution() override;

  void use(const Sizes& sizes) override;
  const std::byte* read(std::size_t buffer) override;
  std::span<const std::byte> read_part(std::size_t buffer, std::int64_t at,
                                       std::int64_t bytes) override;
  void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) override;
  void copy(std::size_t buffer, std::int64_t to, std::int64_t from, std::int64_t bytes) override;
  void clear(std::size_t buffer, std::int64_t at, std::int64_t bytes) override;
  std::span<std::byte> staged(std::size_t buffer) override {
    return runs_.staged(buffer, plan_.bytes(buffer, in_use_->sizes));
  }
  void wait() override { synchronise(); }
  std::vector<Outcome> outcomes(bool all) override;
  void run(std::span<const manifest::Phase> phases) override;
  void run(manifest::Phase phase, std::size_t launch) override;
  std::span<const std::byte> kept(std::size_t buffer) override;
  void prepare_accumulation() override;
  void begin_turn() override;
  void forget_what_was_read() override;
  std::int64_t bytes_predicted() const override { return memory_.bytes_predicted(); }
  std::int64_t bytes_measured() const override { return memory_.bytes_measured(); }
  std::string variant() const override;

 private:
  struct CapturedGraph {
    std::vector<manifest::Phase> phases;
    OwnedGraph graph;
  };

  /// A program's launches with the sizes of its runs, and what was captured of them.
  struct BoundPhases {
    const DriverModules* modules = nullptr;  ///< which go after it
    Sizes sizes = {};
    std::vector<BoundLaunch> phases[manifest::kPhases] = {};
    /// Which of them each of the program's launches is; of a section's, one in every chunk.
    std::vector<std::vector<std::size_t>> places[manifest::kPhases] = {};
    std::map<std::uint32_t, CapturedGraph> graphs = {};  ///< by the set of phases, one bit each
    std::uint64_t used = 0;  ///< how many runs had ended when it ran last
  };

  struct Loaded {
    DriverModules modules;
    BoundPhases planned = {};
  };

  /// What the host saw last of a buffer.
  struct Mirror {
    std::vector<std::byte> bytes;  ///< as many as planned; empty until the host asks
    bool stale = true;
  };

  [[nodiscard]] std::unique_ptr<Loaded> load(const KernelImages& images,
                                             std::span<const std::size_t> kernels);
  [[nodiscard]] BoundPhases bind(const DriverModules& modules, const Sizes& sizes) const;
  void bind(BoundPhases& bound, manifest::Phase phase) const;
  void forget_runs() override;
  void launch(const BoundLaunch& launch);
  void begin_copies(const BoundPhases& of, std::span<const BoundLaunch* const> launches);
  void launch_beside_copies(const BoundLaunch& launch);
  void end_copies();
  void put_on_stream(const BoundLaunch& launch, bool changes_what_persists);
  [[nodiscard]] DriverGraph graph(std::span<const manifest::Phase> phases);
  void capture(BoundPhases& bound, std::uint32_t set, std::span<const manifest::Phase> phases);
  void put_on_stream(const BoundPhases& bound, std::span<const manifest::Phase> phases);
  void specialise();
  void exchange(const KernelImages& images);
  void keep();
  void copy_out(std::span<std::byte> to, DeviceAddress from, const std::string& what);
  void synchronise();
  void mark_stale();
  [[nodiscard]] static std::string text_of(std::span<const manifest::Phase> phases);

  const ProgramPlan& plan_;
  std::shared_ptr<DriverContext> context_;
  std::shared_ptr<OwnedStream> stream_;
  std::vector<std::size_t> kernels_;  ///< that the program launches
  std::vector<std::size_t> whole_;    ///< of them those that no section launches
  DriverMemory memory_;
  std::unique_ptr<Loaded> general_;  ///< for all sizes
  std::unique_ptr<Loaded> special_;  ///< for the planned ones alone; null until it takes over
  RecentRows<BoundPhases> smaller_;  ///< of the general ones
  BoundPhases* in_use_;
  RunsInFlight runs_;
  std::optional<Transfers> transfers_;  ///< where buffers lie in the host's memory
  std::optional<HostStays> stays_;      ///< where activations stay there between the passes
  std::vector<std::size_t> kept_buffers_;
  std::vector<Mirror> mirrors_;  ///< by buffer
  std::vector<std::byte> part_;  ///< what read_part() gave last
  std::map<std::size_t, std::vector<std::byte>> kept_;
  std::string in_flight_;  ///< what an error of the stream is about
  std::unique_ptr<Specialisation> specialisation_;
};

}  // namespace halftone
