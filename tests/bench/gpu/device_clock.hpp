// SPDX-License-Identifier: Apache-2.0
// Timing events and the profiler's range: calls of libcuda that the runtime has no use for.
// Names and signatures as the CUDA Driver API 13.0 documents them.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace halftone::tests {

/// The calls, of the library that the runtime has opened; null where the device is simulated.
struct TimingCalls {
  int (*create)(void**, unsigned) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*record)(void*, void*) = nullptr;
  int (*synchronise)(void*) = nullptr;
  int (*elapsed)(float*, void*, void*) = nullptr;
  int (*start_profiler)() = nullptr;
  int (*stop_profiler)() = nullptr;

  static const TimingCalls* open() {
    static const TimingCalls calls;
    return calls.elapsed ? &calls : nullptr;
  }

 private:
  TimingCalls() {
    const char* device = std::getenv("HALFTONE_DEVICE");
    if (device && std::string_view(device).starts_with("simulated:")) return;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
    };
    find(create, "cuEventCreate");
    find(destroy, "cuEventDestroy_v2");
    find(record, "cuEventRecord");
    find(synchronise, "cuEventSynchronize");
    find(elapsed, "cuEventElapsedTime_v2");
    if (!elapsed) find(elapsed, "cuEventElapsedTime");
    find(start_profiler, "cuProfilerStart");
    find(stop_profiler, "cuProfilerStop");
  }
};

/// Between two events on a stream, by the device. The calling thread has the device's context.
class DeviceClock {
 public:
  static bool is_there() { return TimingCalls::open() != nullptr; }

  explicit DeviceClock(std::uintptr_t stream) : stream_(reinterpret_cast<void*>(stream)) {
    check(calls_.create(&start_, 0), "cuEventCreate");
    check(calls_.create(&end_, 0), "cuEventCreate");
    check(calls_.record(start_, stream_), "cuEventRecord");
  }
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock() {
    for (void* event : {start_, end_})
      if (event) (void)calls_.destroy(event);
  }

  /// Seconds of all that was put on the stream since; waits for it.
  double stop() {
    float milliseconds = 0;
    check(calls_.record(end_, stream_), "cuEventRecord");
    check(calls_.synchronise(end_), "cuEventSynchronize");
    check(calls_.elapsed(&milliseconds, start_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  static void check(int result, const char* call) {
    if (result != 0)
      throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
  }

  const TimingCalls& calls_ = *TimingCalls::open();
  void* stream_;
  void *start_ = nullptr, *end_ = nullptr;
};

/// What `ncu --profile-from-start off` looks at.
class ProfiledRange {
 public:
  ProfiledRange() {
    if (calls_ && calls_->start_profiler) (void)calls_->start_profiler();
  }
  ProfiledRange(const ProfiledRange&) = delete;
  ProfiledRange& operator=(const ProfiledRange&) = delete;
  ~ProfiledRange() {
    if (calls_ && calls_->stop_profiler) (void)calls_->stop_profiler();
  }

 private:
  const TimingCalls* calls_ = TimingCalls::open();
};

}  // namespace halftone::tests
