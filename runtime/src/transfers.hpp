// SPDX-License-Identifier: Apache-2.0
// Launches that see parts of buffers in the host's memory (P91): each part comes to a place on the
// device before its launch and goes back behind it, on a stream for each direction, while other
// kernels run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver_context.hpp"

namespace halftone {

/// Of one buffer what a launch sees: where it lies for good, and while the launch runs.
struct HostPart {
  std::byte* host = nullptr;
  DeviceAddress device = 0;
  std::int64_t bytes = 0;
  std::string buffer = {};  ///< its name, for errors
};

class Transfers {
 public:
  /// Launches of a run whose parts may be on the device together: the n-th one's lie at place n mod
  /// kPlaces. With two one would wait for the other's way back.
  static constexpr std::size_t kPlaces = 3;

  /// `stream` is that of the kernels.
  Transfers(const char* who, DriverContext& context, DriverStream stream);
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// A run begins that has these launches with parts, in their order, among others; the first parts
  /// begin to come.
  void begin(std::vector<const std::vector<HostPart>*> launches);
  /// Around each of them, on the stream of the kernels.
  void before_launch();
  void after_launch();
  /// What is put on the stream of the kernels from here on finds all parts in the host's memory.
  void end();

 private:
  struct Place {
    OwnedEvent arrived, used, returned;
  };

  void fetch(std::size_t launch);
  void put_back(std::size_t launch);
  [[nodiscard]] Place& place_of(std::size_t launch) { return places_[launch % kPlaces]; }

  DriverContext& context_;
  DriverStream kernels_;
  OwnedStream in_, out_;
  OwnedEvent begun_;
  Place places_[kPlaces];
  std::vector<const std::vector<HostPart>*> launches_;
  std::size_t next_ = 0;  ///< of launches_ that which runs next
};

}  // namespace halftone
