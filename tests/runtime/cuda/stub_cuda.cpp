// SPDX-License-Identifier: Apache-2.0
// The GPUs of the environment: STUB_GPUS is "NVIDIA L4:89:24,NVIDIA H200:90:139", name, compute
// capability and GiB; STUB_CUDA the version of CUDA, 13000 unless it is set. A GPU named "broken"
// cannot be described.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Gpu {
  std::string name;
  int capability = 0, gib = 0;
};

std::vector<Gpu> gpus() {
  const char* text = std::getenv("STUB_GPUS");
  std::vector<Gpu> all;
  std::istringstream entries(text ? text : "");
  for (std::string entry; std::getline(entries, entry, ',');) {
    std::istringstream parts(entry);
    std::string name, capability, gib;
    std::getline(parts, name, ':');
    std::getline(parts, capability, ':');
    std::getline(parts, gib, ':');
    all.push_back({name, std::atoi(capability.c_str()), std::atoi(gib.c_str())});
  }
  return all;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  const char* text = std::getenv("STUB_CUDA");
  return *version = text ? std::atoi(text) : 13000, 0;
}
int cuDeviceGetCount(int* count) { return *count = static_cast<int>(gpus().size()), 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int, int device) {
  const Gpu gpu = gpus().at(static_cast<std::size_t>(device));
  if (gpu.name == "broken") return 999;
  return std::strcpy(name, gpu.name.c_str()), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const int capability = gpus().at(static_cast<std::size_t>(device)).capability;
  return *value = attribute == 75 ? capability / 10 : capability % 10, 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return *bytes = static_cast<std::size_t>(gpus().at(static_cast<std::size_t>(device)).gib) << 30,
         0;
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_UNKNOWN", 0; }
int cuGetErrorString(int, const char** words) { return *words = "unknown error", 0; }

}  // extern "C"
