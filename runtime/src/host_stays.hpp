// SPDX-License-Identifier: Apache-2.0
// Activations that stay in the host's memory between the passes (P98): each goes there behind the
// last launch of the forward pass that uses it, and comes back as soon as its place is free, on a
// stream for each direction, while other kernels run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver_context.hpp"

namespace halftone {

/// Where one lies: on the device in the forward pass, in between, and in the backward pass. Buffers
/// of one slot lie at one place.
struct HostStay {
  std::size_t buffer = 0, back = 0;  ///< of the program
  DeviceAddress from = 0, to = 0;
  std::byte* host = nullptr;
  std::string name = {};  ///< for errors
};

/// What a run does with them: launches and stays are numbered in their order.
struct StaySchedule {
  /// Behind each launch: those whose last launch it is.
  std::vector<std::vector<std::size_t>> leaving;
  /// In front of all launches, and behind each of them: those whose place is free from there on, or
  /// was before when one that is needed sooner had none.
  std::vector<std::vector<std::size_t>> coming;
  /// Before each launch: how many of those that come must be there, in the order of coming, and how
  /// many of those that leave must be gone.
  std::vector<std::size_t> arrived, gone;
  /// Before one comes, how many must be gone, and how many launches have run: by its number.
  std::vector<std::size_t> gone_before, run_before;
};

/// `launches`: the buffers that each uses. `slots`: by buffer.
[[nodiscard]] StaySchedule schedule_stays(std::span<const HostStay> stays,
                                          std::span<const std::span<const std::size_t>> launches,
                                          std::span<const std::int32_t> slots);

class HostStays {
 public:
  /// `stream` is that of the kernels; `slots`: of all buffers.
  HostStays(const char* who, DriverContext& context, DriverStream stream,
            std::vector<HostStay> stays, std::vector<std::int32_t> slots);
  ~HostStays();
  HostStays(const HostStays&) = delete;
  HostStays& operator=(const HostStays&) = delete;

  [[nodiscard]] std::span<const HostStay> stays() const { return stays_; }

  /// A run begins of launches that use these buffers; `bytes`: of each stay.
  void begin(std::span<const std::span<const std::size_t>> launches,
             std::vector<std::int64_t> bytes);
  /// Around each of them, on the stream of the kernels.
  void before_launch();
  void after_launch();
  /// What is put on the stream of the kernels from here on finds all copies done.
  void end();

 private:
  void leave(std::size_t stay);
  void come(std::size_t stay);
  void wait_for_place(std::size_t stay);

  DriverContext& context_;
  DriverStream kernels_;
  std::vector<HostStay> stays_;
  std::vector<std::int32_t> slots_;
  OwnedStream in_, out_;
  OwnedEvent used_, freed_;
  std::vector<OwnedEvent> left_, arrived_;  ///< by how many left or came before

  StaySchedule schedule_;
  std::vector<std::int64_t> bytes_;
  std::size_t next_ = 0;  ///< launch
  std::size_t leaves_ = 0, arrivals_ = 0;
  /// Of what is put on the stream of the kernels next how many that came and that left are done.
  std::size_t kernels_know_arrived_ = 0, kernels_know_gone_ = 0;
  /// Likewise on the stream of those that come, and how many launches; none knows even the run.
  std::size_t in_knows_gone_ = 0;
  std::optional<std::size_t> in_knows_run_;
  std::vector<std::size_t> run_with_;   ///< launches that have run when this one is gone
  std::vector<std::size_t> gone_with_;  ///< those that are gone when this one has arrived
};

}  // namespace halftone
