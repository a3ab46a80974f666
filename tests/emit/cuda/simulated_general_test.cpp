// SPDX-License-Identifier: Apache-2.0
// The texts of general.mlir through NVRTC, on the simulator: general accesses and
// contractions of a batch, to the bit and without a finding.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "general.hpp"
#include "halftone/simulator/module.hpp"
#include "simulated.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

struct Launch {
  int threads;
  long long (*blocks)(long long symbol_batch);
};
const std::map<std::string, Launch> kLaunches = {
#include "launches.inc"
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string compiled(const std::string& name, const std::string& arch) {
  std::ifstream stream(HALFTONE_GENERAL_TEXTS "/" + name + ".cu");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Compilation compilation = nvrtc().compile(text, name + ".cu", options_for(arch, {}));
  REQUIRE_MESSAGE(compilation.accepted, compilation.log);
  return compilation.ptx;
}

}  // namespace

TEST_CASE("every text computes its elements on the simulator") {
  constexpr long long kBatch = 5;
  for (const char* chip : {"75", "90a"})
    general::each_kernel(kBatch, [&](const std::string& name, const general::Values& expected,
                                     const auto&... operands) {
      CAPTURE(chip);
      CAPTURE(name);
      const std::string ptx = compiled(name, std::string("compute_") + chip);
      simulator::Device device(std::string("sm_") + chip);
      std::vector<std::unique_ptr<Buffer>> buffers;
      (buffers.push_back(std::make_unique<Buffer>(device, "operand", bytes_of(operands))), ...);
      const Buffer result(device, "result", expected.size() * sizeof(float));
      std::vector<const void*> parameters;
      for (const auto& buffer : buffers) parameters.push_back(buffer->parameter());
      parameters.push_back(result.parameter());
      parameters.push_back(&kBatch);
      const Launch& launch = kLaunches.at(name);
      const auto report =
          device.launch(simulator::Module::parse(ptx, name), "halftone_" + name,
                        {static_cast<std::uint32_t>(launch.blocks(kBatch))},
                        {static_cast<std::uint32_t>(launch.threads)}, 0, parameters);
      for (const simulator::Finding& finding : report.findings) FAIL_CHECK(finding.text());
      CHECK(result.bytes() == bytes_of(expected));
    });
}
