// SPDX-License-Identifier: Apache-2.0
// A driver that lacks a function that is needed is named as too old; the CPU goes on.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "generated_example.hpp"
#include "halftone/device.hpp"
#include "message_of.hpp"

using halftone::Device;

TEST_CASE("a driver that is too old is refused by name, and the CPU is chosen with the reason") {
  setenv("STUB_GPUS", "NVIDIA H200:90:139", 1);
  unsetenv("HALFTONE_DEVICE");
  REQUIRE(dlopen(STUB_CUDA, RTLD_NOW | RTLD_LOCAL));
  const std::string why = "the driver is too old: it has no cuGraphInstantiateWithFlags";
  CHECK(message_of([] { (void)Device::cuda(0); }) ==
        "device: device 'cuda:0' cannot be used, since " + why +
            "; choose another device, or install the driver and the GPU");
  std::string no_gpu;
  CHECK(Device::list(&no_gpu).size() == 1);
  CHECK(no_gpu == why);
  CHECK(message_of([] { (void)Device::cuda({.name = "H200"}); }) ==
        "device: a GPU with 'H200' in its name is not there: " + why + "; choose another device");
  const Device device = Device::best(models::line::artifact());
  CHECK(device.name() == "cpu");
  CHECK(device.description().ends_with("; no GPU, since " + why));
}
