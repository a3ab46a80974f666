// SPDX-License-Identifier: Apache-2.0
// A program's memory on a device: the arena, or on devices that look for faults one allocation per
// buffer; copies of what diagnosis needs as it was; the kernels' workspaces; what lies in the
// host's memory, and places on the device for the parts of it that launches see.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "host_stays.hpp"
#include "program_plan.hpp"
#include "transfers.hpp"

namespace halftone {

class DriverMemory {
 public:
  /// All but the accumulated buffers; filled with zeros where anything may be read before it is
  /// written. `kernels` are those that will run, `workspace_bytes` the least for them. What
  /// `shares` has for a plan that runs in turn with this one serves it, too.
  DriverMemory(const ProgramPlan& plan, DriverContext& context, DriverStream stream,
               std::span<const std::size_t> kernels, std::int64_t workspace_bytes = 0,
               const DriverMemory* shares = nullptr);

  /// The accumulated buffers, once.
  void allocate_accumulated();
  [[nodiscard]] bool accumulates() const { return accumulated_; }

  [[nodiscard]] DeviceAddress buffer(std::size_t index) const { return buffers_[index]; }
  /// Where a buffer lies in the host's memory; null of one that lies on the device (P91).
  [[nodiscard]] std::byte* host(std::size_t index) const { return host_[index]; }
  /// Whether any does.
  [[nodiscard]] bool has_host_parts() const {
    return plan_.arena().host_bytes > plan_.arena().stay_bytes;
  }
  /// What stays there between the passes (P98).
  [[nodiscard]] std::vector<HostStay> stays() const;
  /// What such an argument stands for, in a launch whose parts come to `place` of the device
  /// (Transfers::kPlaces).
  [[nodiscard]] HostPart part(const manifest::Argument& argument, std::size_t place) const;
  /// 0 for a buffer that is not kept.
  [[nodiscard]] DeviceAddress kept(std::size_t buffer) const { return kept_[buffer]; }
  /// Fills with zeros what kernels expect to be zero and another plan's may have left otherwise.
  void zero_workspaces(std::span<const std::size_t> kernels);

  /// Of a kernel that has one, for these sizes of the symbols.
  [[nodiscard]] DeviceAddress workspace(std::size_t kernel,
                                        std::span<const std::int64_t> symbols) const;

  [[nodiscard]] std::int64_t bytes_predicted() const { return pieces_->predicted; }
  [[nodiscard]] std::int64_t bytes_measured() const { return pieces_->measured; }

 private:
  struct Request {
    std::int64_t bytes = 0;
    std::string name;
    bool zero = true;
    std::vector<std::pair<DeviceAddress*, std::int64_t>> places = {};  ///< and their offsets in it
    std::string key = {};  ///< of what serves several plans; empty: the name
    [[nodiscard]] const std::string& shared_key() const { return key.empty() ? name : key; }
  };

  /// What was allocated, for all plans that run in turn.
  struct Pieces {
    struct Piece {
      OwnedMemory memory;
      std::int64_t bytes = 0;
    };
    std::multimap<std::string, Piece> by_key;
    OwnedHostMemory host;
    std::int64_t predicted = 0, measured = 0;

    /// One under that key with so many bytes, or null.
    [[nodiscard]] const Piece* find(const std::string& key, std::int64_t bytes) const;
  };

  [[nodiscard]] std::vector<Request> buffer_requests(bool accumulated);
  [[nodiscard]] std::vector<Request> kept_requests();
  [[nodiscard]] std::vector<Request> part_requests();
  void allocate_host();
  [[nodiscard]] std::vector<Request> workspace_requests(std::span<const std::size_t> kernels);
  [[nodiscard]] std::int64_t bytes_of_new(const std::vector<Request>& requests) const;
  void allocate(const std::vector<Request>& requests);
  void zero_workspace(std::size_t kernel);
  void fill(DeviceAddress address, std::int64_t bytes, const std::string& name);

  const ProgramPlan& plan_;
  DriverContext& context_;
  DriverStream stream_;
  std::vector<DeviceAddress> buffers_, kept_, workspaces_;
  std::vector<std::byte*> host_;
  std::vector<DeviceAddress> parts_[Transfers::kPlaces];  ///< by buffer
  std::shared_ptr<Pieces> pieces_;
  std::int64_t workspace_bytes_;
  bool accumulated_ = false;
};

}  // namespace halftone
