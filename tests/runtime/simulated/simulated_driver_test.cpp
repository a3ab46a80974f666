// SPDX-License-Identifier: Apache-2.0
// The simulator behind the driver's table: memory, streams, graphs, and findings as errors.
#include "simulator/src/simulated_driver.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/nvrtc.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "message_of.hpp"

using namespace halftone;

namespace {

/// Adds `by` to every element but the last block's; `past` makes a thread leave the buffer.
const std::string kText = R"(
extern "C" __global__ void add(int* values, long long by, long long count, long long past) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count + past) values[i] += (int)by;
}
)";

struct Fixture {
  Fixture() {
    CHECK(driver.create_stream(stream).ok());
    CHECK(driver.allocate(256, "values", values).ok());
    CHECK(driver.fill(values, std::byte{0}, 256, stream).ok());
    DriverModule module{};
    REQUIRE(driver.load(Nvrtc::instance().compile_ptx(kText, "add", "sm_80"), "add", module).ok());
    REQUIRE(driver.find(module, "add", 0, add).ok());
  }

  DriverStatus launch(std::int64_t by, std::int64_t past = 0) {
    const std::int64_t count = 64;
    const void* parameters[] = {&values, &by, &count, &past};
    return driver.launch(add, {.blocks = 2, .threads = 64, .parameters = parameters}, stream);
  }

  std::vector<int> contents() {
    std::vector<int> result(64);
    CHECK(driver.copy_out(std::as_writable_bytes(std::span(result)), values, stream).ok());
    CHECK(driver.synchronise(stream).ok());
    return result;
  }

  SimulatedDriver driver{"sm_80", {}};
  DriverStream stream{};
  DeviceAddress values = 0;
  DriverFunction add{};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "launches happen in the stream's order, and copies between addresses") {
  CHECK(launch(3).ok());
  CHECK(launch(4).ok());
  CHECK(contents() == std::vector<int>(64, 7));
  DeviceAddress other = 0;
  CHECK(driver.allocate(256, "other", other).ok());
  CHECK(driver.copy(other, values, 256, stream).ok());
  CHECK(launch(1).ok());
  CHECK(driver.copy(values, other, 128, stream).ok());
  std::vector<int> expected(64, 8);
  std::fill_n(expected.begin(), 32, 7);
  CHECK(contents() == expected);
  CHECK(driver.free(other).ok());
  CHECK_FALSE(driver.free(other).ok());
}

TEST_CASE_FIXTURE(Fixture, "a captured stream does nothing until its graph is launched") {
  REQUIRE(driver.begin_capture(stream).ok());
  CHECK_FALSE(driver.begin_capture(stream).ok());
  CHECK(launch(5).ok());
  CHECK(launch(6).ok());
  DriverGraph graph{};
  REQUIRE(driver.end_capture(stream, graph).ok());
  CHECK_FALSE(driver.end_capture(stream, graph).ok());
  CHECK(contents() == std::vector<int>(64, 0));
  for (int i = 0; i < 3; ++i) CHECK(driver.launch(graph, stream).ok());
  CHECK(contents() == std::vector<int>(64, 33));
  CHECK(driver.destroy_graph(graph).ok());
}

TEST_CASE_FIXTURE(Fixture, "events order what is in order anyway") {
  DriverEvent event{};
  REQUIRE(driver.create_event(event).ok());
  CHECK(launch(2).ok());
  CHECK(driver.record(event, stream).ok());
  CHECK(driver.synchronise(event).ok());
  CHECK(contents() == std::vector<int>(64, 2));
  CHECK(driver.destroy_event(event).ok());
}

TEST_CASE_FIXTURE(Fixture, "a finding is a fault that names kernel, buffer and line") {
  const DriverStatus status = launch(1, 1);
  CHECK(status.kind == DriverStatus::Kind::sticky);
  CHECK(status.kernel == "add");
  CHECK(status.text.find("out of bounds") != std::string::npos);
  CHECK(status.text.find("values") != std::string::npos);
  CHECK(status.text.find("line 4") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "wrong calls are failures in the simulator's words") {
  const void* parameters[] = {&values};
  DriverStatus status = driver.launch(add, {.parameters = parameters}, stream);
  CHECK(status.text == "add takes 4 parameters, but was given 1");
  DriverModule module{};
  status = driver.load("this is no PTX", "nonsense", module);
  CHECK(status.kind == DriverStatus::Kind::failed);
  CHECK(status.text.find("line 1") != std::string::npos);
  DriverFunction function{};
  CHECK_FALSE(driver.find(DriverModule{999}, "add", 0, function).ok());
}

TEST_CASE("a text that NVRTC refuses is named with its log, and an unknown chip with the known") {
  const std::string message = message_of(
      [] { (void)Nvrtc::instance().compile_ptx("int x = ;", "halftone_broken", "sm_80"); });
  CHECK(message.find("compile: kernel 'halftone_broken' is refused by NVRTC 1") == 0);
  CHECK(message.find("--gpu-architecture=compute_80: NVRTC_ERROR_COMPILATION") !=
        std::string::npos);
  CHECK(message.find("halftone_broken.cu(1): error:") != std::string::npos);
  CHECK(message_of([] { (void)Device::simulated("sm_12"); })
            .find("device: device 'simulated:sm_12' is of no chip that can be simulated; the "
                  "simulator knows 'sm_75', 'sm_80'") == 0);
}

TEST_CASE("a simulated device describes itself") {
  const Device device = Device::simulated("sm_90a").with_threads(1);
  CHECK(device.name() == "simulated:sm_90a");
  CHECK(device.description().find("simulated:sm_90a: the simulator (sm_90a, as in ") == 0);
  CHECK(device.description().find("1 thread; it was asked for") != std::string::npos);
}
