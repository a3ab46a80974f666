// SPDX-License-Identifier: Apache-2.0
// A driver whose own allocations are no faults: what NVIDIA's does is not the runtime's to survive.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "driver.hpp"
#include "faults.hpp"

namespace halftone::tests {

class SparedDriver final : public Driver {
 public:
  explicit SparedDriver(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}

  const DriverProperties& properties() const noexcept override { return driver_->properties(); }

#define HALFTONE_SPARED(name, parameters, arguments) \
  DriverStatus name parameters override {            \
    const Spared spared;                             \
    return driver_->name arguments;                  \
  }
  HALFTONE_SPARED(allocate, (std::int64_t bytes, std::string_view name, DeviceAddress& address),
                  (bytes, name, address))
  HALFTONE_SPARED(free, (DeviceAddress address), (address))
  HALFTONE_SPARED(free_memory, (std::optional<std::int64_t> & bytes), (bytes))
  HALFTONE_SPARED(allocate_host, (std::int64_t bytes, std::byte*& address), (bytes, address))
  HALFTONE_SPARED(free_host, (std::byte * address), (address))
  HALFTONE_SPARED(copy_in, (DeviceAddress to, std::span<const std::byte> from, DriverStream stream),
                  (to, from, stream))
  HALFTONE_SPARED(copy_in_staged,
                  (DeviceAddress to, std::span<const std::byte> from, DriverStream stream),
                  (to, from, stream))
  HALFTONE_SPARED(copy_out, (std::span<std::byte> to, DeviceAddress from, DriverStream stream),
                  (to, from, stream))
  HALFTONE_SPARED(copy,
                  (DeviceAddress to, DeviceAddress from, std::int64_t bytes, DriverStream stream),
                  (to, from, bytes, stream))
  HALFTONE_SPARED(fill,
                  (DeviceAddress to, std::byte value, std::int64_t bytes, DriverStream stream),
                  (to, value, bytes, stream))
  HALFTONE_SPARED(load, (const std::string& image, const std::string& name, DriverModule& module),
                  (image, name, module))
  HALFTONE_SPARED(unload, (DriverModule module), (module))
  HALFTONE_SPARED(find,
                  (DriverModule module, const std::string& entry, std::uint32_t shared_bytes,
                   DriverFunction& function),
                  (module, entry, shared_bytes, function))
  HALFTONE_SPARED(launch,
                  (DriverFunction function, const DriverLaunch& launched, DriverStream stream),
                  (function, launched, stream))
  HALFTONE_SPARED(encode, (const MapSource& source, EncodedMap& map), (source, map))
  HALFTONE_SPARED(create_stream, (DriverStream & stream), (stream))
  HALFTONE_SPARED(destroy_stream, (DriverStream stream), (stream))
  HALFTONE_SPARED(synchronise, (DriverStream stream), (stream))
  HALFTONE_SPARED(create_event, (DriverEvent & event), (event))
  HALFTONE_SPARED(destroy_event, (DriverEvent event), (event))
  HALFTONE_SPARED(record, (DriverEvent event, DriverStream stream), (event, stream))
  HALFTONE_SPARED(synchronise, (DriverEvent event), (event))
  HALFTONE_SPARED(wait, (DriverStream stream, DriverEvent event), (stream, event))
  HALFTONE_SPARED(begin_capture, (DriverStream stream), (stream))
  HALFTONE_SPARED(end_capture, (DriverStream stream, DriverGraph& graph), (stream, graph))
  HALFTONE_SPARED(launch, (DriverGraph graph, DriverStream stream), (graph, stream))
  HALFTONE_SPARED(destroy_graph, (DriverGraph graph), (graph))
#undef HALFTONE_SPARED

 private:
  std::unique_ptr<Driver> driver_;
};

}  // namespace halftone::tests
