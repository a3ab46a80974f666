// SPDX-License-Identifier: Apache-2.0
#include "data/ring.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using halftone::data::Ring;

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_CASE("items come in order, and one in the caller's hands is left alone") {
  for (const int threads : {0, 1, 4}) {
    for (const int slots : {1, 2, 3, 7}) {
      if (threads > 0 && slots == 1) continue;
      std::vector<std::int64_t> held(static_cast<std::size_t>(slots), -1);
      Ring ring(threads, slots, [&](std::int64_t item, std::size_t slot) { held[slot] = item; });
      for (std::int64_t i = 0; i < 500; ++i) {
        const std::size_t slot = ring.take();
        REQUIRE(held[slot] == i);
        if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        REQUIRE(held[slot] == i);
      }
      ring.restart(3);
      REQUIRE(held[ring.take()] == 3);
    }
  }
}

TEST_CASE("no more items are made than there are slots for") {
  std::atomic<std::int64_t> made{0};
  Ring ring(3, 4, [&](std::int64_t, std::size_t) { ++made; });
  (void)ring.take();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(made == 4);
  (void)ring.take();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(made == 5);
}

TEST_CASE("what making an item throws, taking it throws, until the ring restarts") {
  for (const int threads : {0, 2}) {
    std::atomic<bool> fails{true};
    Ring ring(threads, 3, [&](std::int64_t item, std::size_t) {
      if (item == 2 && fails) throw std::runtime_error("item " + std::to_string(item));
    });
    (void)ring.take();
    (void)ring.take();
    for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH((void)ring.take(), "item 2");
    fails = false;
    CHECK_THROWS_WITH((void)ring.take(), "item 2");
    ring.restart(2);
    (void)ring.take();
    (void)ring.take();
  }
}

TEST_CASE("a ring that is full takes no processor, and ends at once") {
  Ring ring(4, 3, [](std::int64_t, std::size_t) {});
  (void)ring.take();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(processor_seconds() - before < 0.05);  // a thread that looked out would take 0.3
}
