// SPDX-License-Identifier: Apache-2.0
// The simulator as a shared object: what is refused in its place, and what comes back through its
// one entry.
#include "simulated/simulator_library.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/version.hpp"
#include "halftone/simulator/device.hpp"
#include "message_of.hpp"
#include "no_more_files.hpp"

using namespace halftone;

namespace {

const std::string kRemedy =
    "; give this release's: build halftone_simulator, copy the installed file beside the program, "
    "or name it in HALFTONE_SIMULATOR";

std::string refusal_of(const std::string& file) {
  return message_of([&] { (void)open_simulator(file); });
}

/// Stores 3 * thread + 1 at `out`, element `thread` + `past`.
const std::string kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 past) {
.reg .b64 %rd<4>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [past];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd1, %rd1, %rd3;
add.u64 %rd1, %rd1, %rd2;
mad.lo.u32 %r2, %r1, 3, 1;
st.global.u32 [%rd1], %r2;
ret;
}
)";

struct Opened {
  std::vector<std::string> launched;
  std::uint64_t written = 0;  ///< bytes of global memory
  std::unique_ptr<Driver> driver = open_simulator("").open(
      "sm_80", {}, [this](const std::string& entry, const simulator::LaunchReport& report) {
        launched.push_back(entry);
        written += report.counters.global_bytes_written;
      });
  DriverStream stream{};
  DriverModule module{};
  DriverFunction function{};
  DeviceAddress out = 0;

  Opened() {
    REQUIRE(driver->create_stream(stream).ok());
    REQUIRE(driver->allocate(128, "out", out).ok());
    REQUIRE(driver->load(kText, "text", module).ok());
    REQUIRE(driver->find(module, "k", 0, function).ok());
  }
  DriverStatus launch(std::uint64_t past) {
    const void* parameters[] = {&out, &past};
    return driver->launch(function, {.blocks = 1, .threads = 32, .parameters = parameters}, stream);
  }
};

}  // namespace

TEST_CASE("nothing of the simulator is in a program that does not ask for it") {
  CHECK(Device::cpu().name() == "cpu");
  CHECK(dlopen("libhalftone_simulator.so", RTLD_NOW | RTLD_NOLOAD) == nullptr);
  CHECK(dlsym(RTLD_DEFAULT, "halftone_simulator") == nullptr);
  CHECK(Device::simulated("sm_80").name() == "simulated:sm_80");
  CHECK(dlopen("libhalftone_simulator.so", RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

TEST_CASE("a simulator that is not there, broken or none is named with the loader's reason") {
  CHECK(refusal_of("/nowhere/simulator.so") ==
        "device: simulator '/nowhere/simulator.so' of HALFTONE_SIMULATOR is not there" + kRemedy);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("simulator." + std::to_string(getpid()) + ".so");
  std::ofstream(file) << "no object at all, and longer than the head of one would be: "
                      << std::string(100, '.');
  CHECK(refusal_of(file) == "device: simulator '" + file.string() +
                                "' of HALFTONE_SIMULATOR cannot be opened: " + file.string() +
                                ": invalid ELF header" + kRemedy);
  std::filesystem::remove(file);
  CHECK(refusal_of(NO_SIMULATOR) == "device: simulator '" + std::string(NO_SIMULATOR) +
                                        "' is none: it has no halftone_simulator" + kRemedy);
}

TEST_CASE("a process that may open no further file is told so, not to look for a simulator") {
  const std::string said = [] {
    const NoMoreFiles limit;
    return refusal_of("/nowhere/simulator.so");
  }();
  CHECK(said ==
        "device: simulator '/nowhere/simulator.so' of HALFTONE_SIMULATOR cannot be opened: "
        "/nowhere/simulator.so: cannot open shared object file: Too many open files; close files, "
        "or allow more open ones (ulimit -n)");
}

TEST_CASE("a simulator of another release or build is refused before it is used") {
  const std::string version = kVersionOfHalftone;
  CHECK(refusal_of(FOREIGN) == "device: simulator '" + std::string(FOREIGN) +
                                   "' is Halftone 9.9.9's, but this program has " + version +
                                   kRemedy);
  CHECK(refusal_of(OTHER_BUILD) == "device: simulator '" + std::string(OTHER_BUILD) +
                                       "' is of another build of Halftone " + version +
                                       " than this program" + kRemedy);
}

TEST_CASE("a chip that cannot be simulated is named with those that can") {
  const std::string said = message_of([] { (void)Device::simulated("sm_70"); });
  CHECK(
      said.starts_with("device: device 'simulated:sm_70' is of no chip that can be simulated; "
                       "the simulator knows 'sm_75', 'sm_80', "));
}

TEST_CASE_FIXTURE(Opened, "a driver from the shared object launches, counts and reports") {
  CHECK(launch(0).ok());
  std::vector<std::uint32_t> values(32), expected(32);
  for (std::uint32_t i = 0; i < 32; ++i) expected[i] = 3 * i + 1;
  CHECK(driver->copy_out(std::as_writable_bytes(std::span(values)), out, stream).ok());
  CHECK(values == expected);
  CHECK(launched == std::vector<std::string>{"k"});
  CHECK(written == 128);

  const DriverStatus outside = launch(4);
  CHECK(outside.kind == DriverStatus::Kind::sticky);
  CHECK(outside.kernel == "k");
  CHECK(outside.text ==
        "k: out of bounds: st.global.u32 by thread 31 of block (0, 0, 0), byte 128 of global "
        "buffer 'out'; the buffer has 128 bytes");
}

TEST_CASE_FIXTURE(Opened, "what the simulator throws inside comes out as a status") {
  CHECK(driver->load(".version 8.0\n.nonsense\n", "bad", module).text ==
        "PTX line 2: '.nonsense' is not known");
  CHECK(driver->find(module, "absent", 0, function).text == "module 'text' has no entry 'absent'");
  CHECK(driver->free(out + 1).kind == DriverStatus::Kind::failed);
}
