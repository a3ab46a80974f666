// SPDX-License-Identifier: Apache-2.0
// Buffers and launches for the tests that run kernel texts on the host.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>
#include <string>

#include "doctest/doctest.h"
#include "emulated_cuda.hpp"

namespace emulation {

struct Launch {
  int threads;
  long long (*blocks)(long long symbol_batch);
};

inline long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

/// Every kernel by name, of the texts that the test runs.
inline const std::map<std::string, Launch>& launches() {
  static const std::map<std::string, Launch> all = {
#include "launches.inc"
  };
  return all;
}

/// For every batch, with blocks and threads in their order and in the reverse.
template <class Test>
void each_order(std::initializer_list<long long> batches, Test test) {
  for (long long batch : batches) {
    for (bool reversed : {false, true}) {
      CAPTURE(batch);
      CAPTURE(reversed);
      test(static_cast<std::size_t>(batch), reversed);
    }
  }
}

/// Elements that end where a page without access begins, so that reading or writing past the end is
/// a fault. The start is a multiple of 16 bytes only when the count is a multiple of four.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (count * sizeof(T) + page - 1) / page * page + page;
    base_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + bytes_ - page, page, PROT_NONE) == 0);
    data_ = reinterpret_cast<T*>(base_ + bytes_ - page) - count;
    std::memset(base_, 0xff, bytes_ - page);
  }
  ~Buffer() { munmap(base_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* get() { return data_; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::vector<T> values() const { return {data_, data_ + count_}; }

 private:
  std::size_t count_, bytes_;
  char* base_;
  T* data_;
};

/// Values of several magnitudes, with zeros of both signs among them.
inline void fill(Buffer<float>& buffer, unsigned int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    const unsigned int kind = random() % 16;
    buffer[i] = kind == 0   ? 0.0f
                : kind == 1 ? -0.0f
                : kind == 2 ? 1e-30f * normal(random)
                            : normal(random);
  }
}

inline std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
}  // N7
inline std::uint32_t bits(int value) { return static_cast<std::uint32_t>(value); }

template <class T>
void check_equal(const std::vector<T>& computed, const std::vector<T>& expected) {
  REQUIRE(computed.size() == expected.size());
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (bits(computed[i]) == bits(expected[i])) continue;
    CAPTURE(i);
    CAPTURE(computed[i]);
    CAPTURE(expected[i]);
    FAIL_CHECK("bits differ");
    return;
  }
}

/// Launches a kernel under its own plan; the last argument must be the batch.
template <class Kernel, class... Arguments>
void run(const char* name, Kernel kernel, bool reversed, long long batch, Arguments... arguments) {
  const Launch& launch = launches().at(name);
  emulated::launch(launch.blocks(batch), launch.threads, reversed,
                   [&] { kernel(arguments..., batch); });
}

}  // namespace emulation
