// SPDX-License-Identifier: Apache-2.0
// What a machine says before anything of Halftone runs on it: its driver, its GPUs, and whether a
// kernel that NVRTC compiles for the first of them runs.
//   probe [NVRTC_HOME]      exit status 77, and why, where there is no GPU or no NVRTC
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr int kSkipped = 77, kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
constexpr int kWanted = 42;
constexpr const char* kText = "extern \"C\" __global__ void probe(int* out) { *out = 42; }";

[[noreturn]] void stop(int status, const std::string& why) {
  std::printf("probe: %s\n", why.c_str());
  std::exit(status);
}

/// The function `name` of a library, called; `what` went wrong where it does not give 0.
struct Library {
  void* handle;
  std::string name;

  template <class... Arguments>
  int ask(const char* function, Arguments... arguments) const {
    auto* const address = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, function));
    if (!address) stop(1, name + " has no " + function);
    return address(arguments...);
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const {
    if (const int code = ask(function, arguments...); code != 0)
      stop(1, std::string(function) + " gives error " + std::to_string(code));
  }
};

Library driver() {
  const Library cuda{dlopen("libcuda.so.1", RTLD_NOW), "libcuda.so.1"};
  if (!cuda.handle) stop(kSkipped, "there is no NVIDIA driver on this machine (libcuda.so.1)");
  if (const int code = cuda.ask("cuInit", 0u); code != 0)
    stop(kSkipped, "the driver sees no GPU: cuInit gives error " + std::to_string(code));
  return cuda;
}

/// Builtins first: NVRTC asks for them by name alone.
Library compiler(const std::string& home) {
  std::vector<std::string> paths = {"libnvrtc.so.13", "libnvrtc.so.12"};
  for (const char* folder : {"/lib", "/lib64"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(home + folder, error)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("libnvrtc-builtins.so."))
        dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (name == "libnvrtc.so.13" || name == "libnvrtc.so.12")
        paths.insert(paths.begin(), entry.path());
    }
  }
  for (const std::string& path : paths)
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW)) return {handle, path};
  stop(kSkipped,
       "there is no NVRTC on this machine; name a folder that has lib/libnvrtc.so.13 in "
       "NVRTC_HOME");
}

/// The number of the first GPU's chip, 90 for sm_90.
int describe(const Library& cuda) {
  int count = 0, version = 0, first = 0;
  cuda.call("cuDriverGetVersion", &version);
  cuda.call("cuDeviceGetCount", &count);
  if (count == 0) stop(kSkipped, "the driver sees no GPU");
  for (int device = 0; device < count; ++device) {
    char name[128] = {};
    int major = 0, minor = 0;
    std::size_t bytes = 0;
    cuda.call("cuDeviceGetName", &name[0], 127, device);
    cuda.call("cuDeviceGetAttribute", &major, kMajor, device);
    cuda.call("cuDeviceGetAttribute", &minor, kMinor, device);
    cuda.call("cuDeviceTotalMem_v2", &bytes, device);
    std::printf("probe: cuda:%d is %s (sm_%d%d), %.1f GiB, driver for CUDA %d.%d\n", device, name,
                major, minor, static_cast<double>(bytes) / (1 << 30), version / 1000,
                version % 1000 / 10);
    if (device == 0) first = 10 * major + minor;
  }
  return first;
}

std::string compile(const Library& nvrtc, int chip) {
  int major = 0, minor = 0;
  nvrtc.call("nvrtcVersion", &major, &minor);
  std::printf("probe: NVRTC %d.%d of %s\n", major, minor, nvrtc.name.c_str());
  const std::string option = "--gpu-architecture=sm_" + std::to_string(chip);
  const char* const options[] = {option.c_str()};
  void* program = nullptr;
  std::size_t bytes = 0;
  nvrtc.call("nvrtcCreateProgram", &program, kText, "probe.cu", 0, static_cast<void*>(nullptr),
             static_cast<void*>(nullptr));
  nvrtc.call("nvrtcCompileProgram", program, 1, &options[0]);
  nvrtc.call("nvrtcGetCUBINSize", program, &bytes);
  std::string image(bytes, '\0');
  nvrtc.call("nvrtcGetCUBIN", program, image.data());
  return image;
}

int run(const Library& cuda, const std::string& image) {
  int device = 0, got = 0;
  void *context = nullptr, *module = nullptr, *function = nullptr, *none = nullptr;
  unsigned long long address = 0;
  cuda.call("cuDeviceGet", &device, 0);
  cuda.call("cuDevicePrimaryCtxRetain", &context, device);
  cuda.call("cuCtxSetCurrent", context);
  cuda.call("cuModuleLoadData", &module, image.data());
  cuda.call("cuModuleGetFunction", &function, module, "probe");
  cuda.call("cuMemAlloc_v2", &address, sizeof got);
  void* parameters[] = {&address};
  cuda.call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, none, &parameters[0],
            static_cast<void**>(nullptr));
  cuda.call("cuMemcpyDtoH_v2", static_cast<void*>(&got), address, sizeof got);
  return got;
}

}  // namespace

int main(int count, char** values) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said is not lost with a process that dies
  const Library cuda = driver();
  const int chip = describe(cuda);
  const Library nvrtc = compiler(count > 1 ? values[1] : "");
  if (const int got = run(cuda, compile(nvrtc, chip)); got != kWanted)
    stop(1, "a kernel ran and wrote " + std::to_string(got) + ", not " + std::to_string(kWanted));
  std::printf("probe: a kernel that NVRTC compiled ran on cuda:0\n");
}
