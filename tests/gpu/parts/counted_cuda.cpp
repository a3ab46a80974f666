// SPDX-License-Identifier: Apache-2.0
#include "counted_cuda.hpp"

#include <atomic>
#include <stdexcept>

#include "cuda/cuda_driver.hpp"
#include "cuda/nvrtc.hpp"
#include "driver_context.hpp"

namespace halftone::tests {

namespace {

const CudaLibrary* counted_library = nullptr;

template <auto kMember>
struct Counting;

template <class... Parameters, int (*CudaLibrary::*kMember)(Parameters...)>
struct Counting<kMember> {
  static inline std::atomic<std::int64_t> calls = 0;
  static int call(Parameters... parameters) {
    ++calls;
    return (counted_library->*kMember)(parameters...);
  }
};

CudaLibrary counting_table() {
  CudaLibrary table;
#define HALFTONE_COUNT(name, parameters) table.name = Counting<&CudaLibrary::name>::call;
  HALFTONE_CUDA_CALLS(HALFTONE_COUNT)
#undef HALFTONE_COUNT
  return table;
}

}  // namespace

CallCounts counted_calls() {
  CallCounts counts;
#define HALFTONE_COUNT(name, parameters) \
  if (const auto calls = Counting<&CudaLibrary::name>::calls.load()) counts[#name] = calls;
  HALFTONE_CUDA_CALLS(HALFTONE_COUNT)
#undef HALFTONE_COUNT
  return counts;
}

void reset_counted_calls() {
#define HALFTONE_COUNT(name, parameters) Counting<&CudaLibrary::name>::calls = 0;
  HALFTONE_CUDA_CALLS(HALFTONE_COUNT)
#undef HALFTONE_COUNT
}

Device counted_device(const CudaLibrary& library, bool takes_ptx) {
  static const CudaLibrary table = counting_table();
  counted_library = &library;
  DriverStatus status;
  auto driver = std::make_unique<CudaDriver>(table, 0, status);
  if (!status.ok()) throw std::runtime_error("the device cannot be opened: " + status.text);
  const auto compile = [takes_ptx](const std::string& text, const std::string& kernel,
                                   const std::string& architecture) {
    const Nvrtc& nvrtc = Nvrtc::instance();
    return takes_ptx ? nvrtc.compile_ptx(text, kernel, architecture)
                     : nvrtc.compile_cubin(text, kernel, architecture);
  };
  return Device::driven(std::make_shared<DriverContext>("cuda:0", std::move(driver), compile),
                        "its calls are counted");
}

}  // namespace halftone::tests
