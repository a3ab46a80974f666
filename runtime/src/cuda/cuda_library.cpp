// SPDX-License-Identifier: Apache-2.0
#include "cuda_library.hpp"

#include <dlfcn.h>

#include "../shared_library.hpp"

namespace halftone {
namespace {

struct Opened {
  CudaLibrary library;
  std::string reason;  ///< why it cannot be used; empty when it can
};

Opened open_once() {
  Opened opened;
  std::string refusal;
  void* handle = open_library("libcuda.so.1", RTLD_NOW | RTLD_LOCAL, refusal);
  if (!handle) {
    opened.reason = refusal.empty() ? "there is no libcuda.so.1, NVIDIA's driver, on this machine"
                                    : "libcuda.so.1, NVIDIA's driver, is not loaded: " + refusal;
    return opened;
  }
  CudaLibrary& library = opened.library;
#define HALFTONE_CUDA_LOAD(name, parameters)                                \
  library.name = reinterpret_cast<int(*) parameters>(dlsym(handle, #name)); \
  if (!library.name && #name != kOptionalCudaCall)                          \
    opened.reason = "the driver is too old: it has no " #name;
  HALFTONE_CUDA_CALLS(HALFTONE_CUDA_LOAD)
#undef HALFTONE_CUDA_LOAD
  if (!opened.reason.empty()) return opened;
  if (const int result = library.cuInit(0); result != 0) {
    opened.reason = "the driver does not start: " + library.text_of(result);
  }
  return opened;
}

}  // namespace

const CudaLibrary* CudaLibrary::open(std::string& reason) {
  static const Opened opened = open_once();
  reason = opened.reason;
  return reason.empty() ? &opened.library : nullptr;
}

std::string CudaLibrary::text_of(int result) const {
  const char *name = nullptr, *words = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &words);
  return std::string(name ? name : "CUDA_ERROR") + " (" + std::to_string(result) + ")" +
         (words ? ": " + std::string(words) : "");
}

}  // namespace halftone
