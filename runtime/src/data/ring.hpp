// SPDX-License-Identifier: Apache-2.0
// Items that threads make ahead of the one that takes them, in order, each in a slot of a ring.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halftone::data {

/// Items are numbered from 0 on; item i lies in slot i % slots(). Threads that have nothing to do
/// sleep. One thread at a time may call methods.
class Ring {
 public:
  /// make(item, slot) is called once for each item, by several threads at once for different slots.
  /// Without threads take() calls it.
  Ring(int threads, int slots, std::function<void(std::int64_t item, std::size_t slot)> make);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }

  /// Waits for the next item; its slot is the caller's until the next call. Throws what make()
  /// threw, and the next call again. Threads start with the first call; throws Error where the
  /// system has none.
  [[nodiscard]] std::size_t take();

  /// The next item is that one. Waits for threads that are inside of make().
  void restart(std::int64_t item);

 private:
  struct Slot {
    bool ready = false;
    std::exception_ptr failure;
  };

  void start();
  void stop() noexcept;
  void work();
  void make(std::int64_t item) noexcept;
  [[nodiscard]] std::size_t slot_of(std::int64_t item) const;

  const int threads_;
  const std::function<void(std::int64_t, std::size_t)> make_;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable has_room_, is_ready_;
  std::vector<Slot> slots_;
  std::int64_t next_to_make_ = 0, next_to_take_ = 0;
  std::int64_t oldest_in_use_ = 0;  ///< the one in the caller's hands, or the next one
  int making_ = 0;
  bool restarting_ = false, stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace halftone::data
