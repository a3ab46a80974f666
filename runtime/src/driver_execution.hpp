// SPDX-License-Identifier: Apache-2.0
// A program on a device behind a driver. What the host runs in one go is one graph, captured when
// it is first asked for, and again when kernels are exchanged; what the host reads is copied when
// it asks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "driver_memory.hpp"
#include "driver_modules.hpp"
#include "execution.hpp"
#include "runs_in_flight.hpp"
#include "specialisation.hpp"

namespace halftone {

class DriverExecution final : public Execution {
 public:
  explicit DriverExecution(const ProgramPlan& plan);
  ~DriverExecution() override;

  const std::byte* read(std::size_t buffer) override;
  void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) override;
  std::span<std::byte> staged(std::size_t buffer) override { return runs_.staged(buffer); }
  void wait() override { synchronise(); }
  std::vector<Outcome> outcomes(bool all) override;
  void run(std::span<const manifest::Phase> phases) override;
  void run(manifest::Phase phase, std::size_t launch) override;
  std::span<const std::byte> kept(std::size_t buffer) override;
  void prepare_accumulation() override;
  std::int64_t bytes_predicted() const override { return memory_.bytes_predicted(); }
  std::int64_t bytes_measured() const override { return memory_.bytes_measured(); }
  std::string variant() const override;

 private:
  struct BoundLaunch {
    DriverFunction function{};
    DriverLaunch shape;                 ///< without its parameters
    std::vector<std::uint64_t> values;  ///< of the parameters
    std::string kernel, entry;          ///< its names in the manifest and in the text
  };

  struct CapturedGraph {
    std::vector<manifest::Phase> phases;
    OwnedGraph graph;
  };

  /// Modules and all that refers to them, which goes before them.
  struct Loaded {
    DriverModules modules;
    std::vector<BoundLaunch> phases[manifest::kPhases] = {};
    std::map<std::uint32_t, CapturedGraph> graphs = {};  ///< by the set of phases, one bit each
  };

  /// What the host saw last of a buffer.
  struct Mirror {
    std::vector<std::byte> bytes;  ///< empty until the host asks
    bool stale = true;
  };

  [[nodiscard]] std::unique_ptr<Loaded> load(const KernelImages& images);
  void bind(Loaded& loaded, manifest::Phase phase) const;
  [[nodiscard]] BoundLaunch bind(const Loaded& loaded, const manifest::Launch& launch) const;
  void launch(const BoundLaunch& launch);
  [[nodiscard]] DriverGraph graph(std::span<const manifest::Phase> phases);
  void capture(Loaded& loaded, std::uint32_t set, std::span<const manifest::Phase> phases);
  void put_on_stream(const Loaded& loaded, std::span<const manifest::Phase> phases);
  void specialise();
  void exchange(const KernelImages& images);
  void keep();
  void copy_out(std::span<std::byte> to, DeviceAddress from, const std::string& what);
  void synchronise();
  void mark_stale();
  [[nodiscard]] static std::string text_of(std::span<const manifest::Phase> phases);

  const ProgramPlan& plan_;
  std::shared_ptr<DriverContext> context_;
  OwnedStream stream_;
  std::vector<std::size_t> kernels_;  ///< that the program launches
  DriverMemory memory_;
  std::unique_ptr<Loaded> loaded_;
  RunsInFlight runs_;
  std::vector<std::size_t> kept_buffers_;
  std::vector<Mirror> mirrors_;  ///< by buffer
  std::map<std::size_t, std::vector<std::byte>> kept_;
  std::string in_flight_;  ///< what an error of the stream is about
  std::unique_ptr<Specialisation> specialisation_;
  std::unique_ptr<Loaded> replaced_;  ///< while runs may be in flight that use it
  std::uint64_t replaced_after_ = 0;  ///< runs
};

}  // namespace halftone
