// SPDX-License-Identifier: Apache-2.0
// What it costs to share a kernel among threads. Prints, per pool, nanoseconds of an empty launch,
// and how much sooner launches of several lengths end than on the calling thread alone.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "executors.hpp"
#include "thread_pool.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using halftone::ThreadPool;
using halftone::Work;

constexpr int kTasks = 64, kRounds = 31;
constexpr std::array kMicroseconds = {1, 2, 4, 8, 16, 64, 256, 1024};

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

/// Multiplications, one after another.
void compute(std::int64_t multiplications) {
  volatile float sink = 1.0f;
  float value = sink;
  for (std::int64_t i = 0; i < multiplications; ++i) {
    value = value * 0.999f;
    asm volatile("" : "+x"(value));
  }
  sink = value;
}

/// Nanoseconds of a launch, median of rounds of launches that follow each other.
template <class Launch>
double time_of(int launches, const Launch& launch) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < launches; ++i) launch();
    times.push_back(nanoseconds_since(start) / launches);
  }
  return median(times);
}

void measure(const char* name, ThreadPool& pool, double per_multiplication) {
  const auto empty = [](std::int64_t, std::int64_t, int) {};
  const double alone = time_of(2000, [&] {
    Work brief{0};
    pool.run(kTasks, brief, empty);
  });
  std::printf("%-28s %8.0f %8.0f  ", name, time_of(2000, [&] { pool.run(kTasks, empty); }), alone);
  for (const int microseconds : kMicroseconds) {
    const auto each =
        static_cast<std::int64_t>(1000.0 * microseconds / kTasks / per_multiplication);
    const auto body = [&](std::int64_t first, std::int64_t last, int) {
      for (; first < last; ++first) compute(each);
    };
    const int launches = std::max(1, 2000 / microseconds);
    std::vector<double> ratios;
    for (int round = 0; round < kRounds; ++round) {  // side by side
      const auto start = Clock::now();
      for (int i = 0; i < launches; ++i) body(0, kTasks, 0);
      const double one = nanoseconds_since(start);
      const auto shared = Clock::now();
      for (int i = 0; i < launches; ++i) pool.run(kTasks, body);
      ratios.push_back(one / nanoseconds_since(shared));
    }
    std::printf(" %7.2f", median(ratios));
  }
  std::printf("\n");
}

}  // namespace

int main() {
  constexpr std::int64_t kMany = 1'000'000;
  const double per_multiplication = time_of(1, [] { compute(kMany); }) / kMany;
  std::printf(
      "%u processors; nanoseconds of an empty launch of %d tasks, shared and alone; then\n"
      "how many times sooner than on one thread shared launches of so many microseconds end\n",
      std::thread::hardware_concurrency(), kTasks);
  std::printf("%-28s %8s %8s  ", "threads", "shared", "alone");
  for (const int microseconds : kMicroseconds) std::printf(" %4d us", microseconds);
  std::printf("\n");
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    measure((std::to_string(threads) + " of the runtime").c_str(), pool, per_multiplication);
  }
  ThreadPool lent(2, std::make_shared<executors::Queue>(1));
  measure("2, one of an executor", lent, per_multiplication);
}
