// SPDX-License-Identifier: Apache-2.0
// driver.hpp over the simulator: work is done when it is put on a stream, one piece after another.
// Of a graph other streams than the captured one go on as late as they may, or every second time as
// early.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../../src/simulated/captured_streams.hpp"
#include "../../src/simulated/simulator_library.hpp"
#include "halftone/simulator/device.hpp"

namespace halftone {

class SimulatedDriver final : public Driver {
 public:
  using Observe = ObserveLaunch;

  /// `chip` is one that the simulator knows.
  SimulatedDriver(std::string_view chip, const simulator::LaunchOptions& options,
                  Observe observe = {});

  const DriverProperties& properties() const noexcept override { return properties_; }

  DriverStatus allocate(std::int64_t bytes, std::string_view name, DeviceAddress& address) override;
  DriverStatus free(DeviceAddress address) override;
  DriverStatus free_memory(std::optional<std::int64_t>& bytes) override;
  DriverStatus allocate_host(std::int64_t bytes, std::byte*& address) override;
  DriverStatus free_host(std::byte* address) override;
  DriverStatus copy_in(DeviceAddress to, std::span<const std::byte> from,
                       DriverStream stream) override;
  DriverStatus copy_in_staged(DeviceAddress to, std::span<const std::byte> from,
                              DriverStream stream) override;
  DriverStatus copy_out(std::span<std::byte> to, DeviceAddress from, DriverStream stream) override;
  DriverStatus copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes,
                    DriverStream stream) override;
  DriverStatus fill(DeviceAddress to, std::byte value, std::int64_t bytes,
                    DriverStream stream) override;
  DriverStatus load(const std::string& image, const std::string& name,
                    DriverModule& module) override;
  DriverStatus unload(DriverModule module) override;
  DriverStatus find(DriverModule module, const std::string& entry, std::uint32_t shared_bytes,
                    DriverFunction& function) override;
  DriverStatus launch(DriverFunction function, const DriverLaunch& launch,
                      DriverStream stream) override;
  DriverStatus encode(const MapSource& source, EncodedMap& map) override;
  DriverStatus create_stream(DriverStream& stream) override;
  DriverStatus destroy_stream(DriverStream stream) override;
  DriverStatus synchronise(DriverStream stream) override;
  DriverStatus create_event(DriverEvent& event) override;
  DriverStatus destroy_event(DriverEvent event) override;
  DriverStatus record(DriverEvent event, DriverStream stream) override;
  DriverStatus synchronise(DriverEvent event) override;
  DriverStatus wait(DriverStream stream, DriverEvent event) override;
  DriverStatus begin_capture(DriverStream stream) override;
  DriverStatus end_capture(DriverStream stream, DriverGraph& graph) override;
  DriverStatus launch(DriverGraph graph, DriverStream stream) override;
  DriverStatus destroy_graph(DriverGraph graph) override;

 private:
  using Work = CapturedStreams::Work;

  struct Function {
    std::shared_ptr<const simulator::Module> module;
    simulator::Entry entry;
  };
  struct Graph {
    CapturedStreams streams;
    std::size_t runs = 0;
  };

  /// The capture that the stream is part of, or null; the lock is held.
  [[nodiscard]] CapturedStreams* capture_of(DriverStream stream);
  /// Does it, or writes it down.
  DriverStatus put(DriverStream stream, Work work);
  template <class Call>
  DriverStatus guarded(Call call, DriverStatus::Kind on_error = DriverStatus::Kind::failed);
  [[nodiscard]] std::uintptr_t next() { return ++last_; }
  DriverStatus run(const Function& function, const DriverLaunch& launch,
                   std::span<const std::vector<std::byte>> values);

  DriverProperties properties_;
  simulator::LaunchOptions options_;
  Observe observe_;
  simulator::Device device_;
  std::mutex mutex_;
  std::uintptr_t last_ = 0;  ///< handle that was given
  std::map<DriverModule, std::shared_ptr<const simulator::Module>> modules_;
  std::map<DriverFunction, std::shared_ptr<const Function>> functions_;
  std::map<DriverStream, CapturedStreams> captures_;  ///< by the stream that was asked for
  std::map<DriverGraph, Graph> graphs_;
};

}  // namespace halftone
