// SPDX-License-Identifier: Apache-2.0
// driver.hpp over libcuda: one GPU, through its primary context.
#pragma once

#include "../driver.hpp"
#include "cuda_library.hpp"

namespace halftone {

class CudaDriver final : public Driver {
 public:
  /// `status` says whether the GPU could be opened; nothing else may be called when not.
  CudaDriver(const CudaLibrary& cuda, int index, DriverStatus& status);
  ~CudaDriver() override;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

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
  [[nodiscard]] DriverStatus status(int result) const;
  /// Calls with this GPU's context current for the thread.
  template <class Call>
  [[nodiscard]] DriverStatus run(Call call) const;

  const CudaLibrary& cuda_;
  int device_ = 0;
  CudaContext context_ = nullptr;
  DriverProperties properties_;
};

}  // namespace halftone
