// SPDX-License-Identifier: Apache-2.0
// One table of calls to a device with memory of its own: everything that the runtime asks of a GPU.
// Backends: cuda/ (libcuda), ../simulator (the interpreter), and in tests one that records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// What a call came to.
struct [[nodiscard]] DriverStatus {
  enum class Kind : std::uint8_t {
    ok,
    out_of_memory,
    failed,
    sticky,  ///< work on the device went wrong; nothing that follows can be trusted
  };
  Kind kind = Kind::ok;
  std::string text = {};    ///< the backend's own words: "CUDA_ERROR_INVALID_VALUE (1): ..."
  std::string kernel = {};  ///< the entry at fault, where the backend knows it

  [[nodiscard]] bool ok() const noexcept { return kind == Kind::ok; }
};

/// Of the device's memory; arithmetic inside an allocation is allowed.
using DeviceAddress = std::uint64_t;

// What a backend made, each given back by its own call. The numbers mean something to it alone.
enum class DriverModule : std::uintptr_t {};
enum class DriverFunction : std::uintptr_t {};  ///< lives as long as its module
enum class DriverStream : std::uintptr_t {};
enum class DriverEvent : std::uintptr_t {};
enum class DriverGraph : std::uintptr_t {};

struct DriverProperties {
  std::string name;      ///< "NVIDIA H200"
  std::string chip;      ///< "sm_90"
  std::string version;   ///< of the driver: "driver 13.0"
  int cuda_version = 0;  ///< the latest CUDA that it speaks: 13000; 0 when that means nothing
  std::int64_t memory_bytes = 0;     ///< of the whole device; 0 when nobody knows
  std::int64_t multiprocessors = 0;  ///< 0 when nobody knows
  bool takes_ptx = false;            ///< modules are PTX, not cubins
  bool encodes_maps = false;         ///< what manifest::TensorMap describes
  /// Every buffer is an allocation of its own, so that an access past its end is found.
  bool separate_buffers = false;
};

/// One launch; grid and blocks have one dimension.
struct DriverLaunch {
  std::uint32_t blocks = 1, threads = 32;
  std::uint32_t shared_bytes = 0;           ///< dynamic shared memory of a block
  std::span<const void* const> parameters;  ///< each points at one parameter's value; copied
};

/// What manifest::TensorMap describes, with its extents bound. Of 8 bits all elements are bytes, of
/// 32 words.
struct MapSource {
  DeviceAddress address = 0;
  enum class Element : std::uint8_t { f16, bf16, u8, u32 } element = Element::bf16;
  struct Dimension {
    std::uint64_t extent = 1;
    std::uint32_t box = 1;
  };
  std::vector<Dimension> dimensions;  ///< neighbours first: backwards, beside the manifest's
};

/// A parameter of a kernel, in words of the backend's own.
struct alignas(128) EncodedMap {
  std::array<std::byte, 128> bytes{};
};

/// Calls may come from any thread. What is put on a stream happens in the stream's order; an error
/// of it may be returned by any later call.
class Driver {
 public:
  virtual ~Driver() = default;

  [[nodiscard]] virtual const DriverProperties& properties() const noexcept = 0;

  /// `bytes` > 0, aligned to 256; contents are undefined. `name` is for a backend's reports.
  virtual DriverStatus allocate(std::int64_t bytes, std::string_view name,
                                DeviceAddress& address) = 0;
  virtual DriverStatus free(DeviceAddress address) = 0;
  /// What nobody holds of the device's memory; nothing where it is the host's.
  virtual DriverStatus free_memory(std::optional<std::int64_t>& bytes) = 0;

  /// `bytes` > 0 of the host's memory, page-locked, aligned to 64; contents are undefined.
  virtual DriverStatus allocate_host(std::int64_t bytes, std::byte*& address) = 0;
  virtual DriverStatus free_host(std::byte* address) = 0;

  /// `from` may change once the call returned.
  virtual DriverStatus copy_in(DeviceAddress to, std::span<const std::byte> from,
                               DriverStream stream) = 0;
  /// `from` lies in memory of allocate_host() and is read when the stream gets there, in a graph
  /// each time that it runs.
  virtual DriverStatus copy_in_staged(DeviceAddress to, std::span<const std::byte> from,
                                      DriverStream stream) = 0;
  /// `to` is written by the time the stream is synchronised; the call may wait for it unless `to`
  /// lies in memory of allocate_host(), as it does in a graph.
  virtual DriverStatus copy_out(std::span<std::byte> to, DeviceAddress from,
                                DriverStream stream) = 0;
  virtual DriverStatus copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes,
                            DriverStream stream) = 0;
  virtual DriverStatus fill(DeviceAddress to, std::byte value, std::int64_t bytes,
                            DriverStream stream) = 0;

  /// An image is PTX or a cubin, as properties() says; `name` is for reports.
  virtual DriverStatus load(const std::string& image, const std::string& name,
                            DriverModule& module) = 0;
  virtual DriverStatus unload(DriverModule module) = 0;
  /// An entry that will be launched with at most that much dynamic shared memory.
  virtual DriverStatus find(DriverModule module, const std::string& entry,
                            std::uint32_t shared_bytes, DriverFunction& function) = 0;
  virtual DriverStatus launch(DriverFunction function, const DriverLaunch& launch,
                              DriverStream stream) = 0;
  /// Where properties() say that it encodes maps. The address is a multiple of 16.
  virtual DriverStatus encode(const MapSource& source, EncodedMap& map) = 0;

  virtual DriverStatus create_stream(DriverStream& stream) = 0;
  virtual DriverStatus destroy_stream(DriverStream stream) = 0;
  /// Waits until all that was put on the stream is done.
  virtual DriverStatus synchronise(DriverStream stream) = 0;

  virtual DriverStatus create_event(DriverEvent& event) = 0;
  virtual DriverStatus destroy_event(DriverEvent event) = 0;
  virtual DriverStatus record(DriverEvent event, DriverStream stream) = 0;
  /// The host waits until the event's last record is reached.
  virtual DriverStatus synchronise(DriverEvent event) = 0;
  /// What is put on the stream from here on happens behind the event's last record, which was made
  /// before this call.
  virtual DriverStatus wait(DriverStream stream, DriverEvent event) = 0;

  /// From here to end_capture launches, copies, fills, records and waits on the stream are written
  /// down and not done. So are those on another stream from where it waits for an event that was
  /// written down; before the end the captured stream has waited for the last of them.
  virtual DriverStatus begin_capture(DriverStream stream) = 0;
  virtual DriverStatus end_capture(DriverStream stream, DriverGraph& graph) = 0;
  virtual DriverStatus launch(DriverGraph graph, DriverStream stream) = 0;
  virtual DriverStatus destroy_graph(DriverGraph graph) = 0;
};

}  // namespace halftone
