// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <array>

#include "../text.hpp"
#include "cuda_driver.hpp"
#include "halftone/error.hpp"
#include "nvrtc.hpp"

namespace halftone {
namespace {

/// False with a reason when the driver fails.
bool describe(const CudaLibrary& library, CudaDevice& found, std::string& reason) {
  std::array<char, 256> name{};
  int device = 0, major = 0, minor = 0;
  int result = library.cuDeviceGet(&device, found.index);
  if (result == 0) result = library.cuDeviceGetName(name.data(), 255, device);
  if (result == 0) result = library.cuDeviceGetAttribute(&major, cuda::kMajor, device);
  if (result == 0) result = library.cuDeviceGetAttribute(&minor, cuda::kMinor, device);
  if (result != 0) reason = "the driver says " + library.text_of(result);
  found.name = name.data();
  found.chip = "sm_" + std::to_string(10 * major + minor);
  return result == 0;
}

}  // namespace

std::string list_cuda_devices(std::vector<CudaDevice>& devices) {
  devices.clear();
  std::string reason;
  const CudaLibrary* library = CudaLibrary::open(reason);
  if (!library) return reason;
  int count = 0;
  if (const int result = library->cuDeviceGetCount(&count); result != 0) {
    return "the driver says " + library->text_of(result);
  }
  for (int index = 0; index < count; ++index) {
    CudaDevice found{.index = index, .name = "", .chip = ""};
    if (describe(*library, found, reason)) devices.push_back(std::move(found));
  }
  if (!devices.empty()) return {};
  return reason.empty() ? "the driver finds no GPU" : reason;
}

std::shared_ptr<DriverContext> open_cuda_device(int index, bool checks_launches) {
  const std::string name = "cuda:" + std::to_string(index);
  const auto refuse = [&](std::string cause) {
    throw Error({.operation = "device",
                 .object = named("device", name),
                 .cause = std::move(cause),
                 .hint = "choose another device, or install the driver and the GPU"});
  };
  std::vector<CudaDevice> devices;
  if (const std::string why = list_cuda_devices(devices); !why.empty()) {
    refuse("cannot be used, since " + why);
  }
  if (index < 0 || index >= static_cast<int>(devices.size())) {
    refuse("does not exist: this machine has " + std::to_string(devices.size()) +
           " GPUs, counted from 0");
  }
  std::string reason;
  const CudaLibrary* library = CudaLibrary::open(reason);
  DriverStatus status;
  auto driver = std::make_unique<CudaDriver>(*library, index, status);
  if (!status.ok()) refuse("cannot be opened: " + status.text);
  return std::make_shared<DriverContext>(
      name, std::move(driver),
      [](const std::string& text, const std::string& kernel, const std::string& architecture) {
        return Nvrtc::instance().compile_cubin(text, kernel, architecture);
      },
      checks_launches);
}

}  // namespace halftone
