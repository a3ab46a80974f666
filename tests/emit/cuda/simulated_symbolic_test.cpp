// SPDX-License-Identifier: Apache-2.0
// The texts of symbolic.mlir through NVRTC, on the simulator: rows as long as a symbol says, to the
// bit and without a finding; and the same once more compiled for the length in use.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "halftone/simulator/module.hpp"
#include "simulated.hpp"
#include "symbolic.hpp"

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

/// To the bit, a NaN being a NaN (N7).
std::size_t count_differences(const std::vector<std::byte>& computed,
                              const symbolic::Values& expected) {
  symbolic::Values values(expected.size());
  REQUIRE(computed.size() == values.size() * sizeof(float));
  std::memcpy(values.data(), computed.data(), computed.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    count += std::bit_cast<std::uint32_t>(values[i]) != std::bit_cast<std::uint32_t>(expected[i]) &&
             !(std::isnan(values[i]) && std::isnan(expected[i]));
  return count;
}

/// `specialised`: for one length alone (decision 0014).
std::string compiled(const std::string& name, const std::string& arch, std::string specialised) {
  std::ifstream stream(HALFTONE_SYMBOLIC_TEXTS "/" + name + ".cu");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Compilation compilation =
      nvrtc().compile(specialised + text, name + ".cu", options_for(arch, {}));
  REQUIRE_MESSAGE(compilation.accepted, compilation.log);
  return compilation.ptx;
}

/// Runs a kernel and compares its results.
struct Runs {
  std::string chip;
  long long length;
  bool is_specialised;

  template <class... T>
  void operator()(const std::string& name, const std::vector<symbolic::Values>& expected,
                  const std::vector<T>&... operands) const {
    CAPTURE(chip);
    CAPTURE(name);
    CAPTURE(length);
    const std::string define = "#define HALFTONE_SYMBOL_batch " + std::to_string(length) + "LL\n";
    const std::string ptx = compiled(name, "compute_" + chip, is_specialised ? define : "");
    simulator::Device device("sm_" + chip);
    std::vector<std::unique_ptr<Buffer>> buffers;
    (buffers.push_back(std::make_unique<Buffer>(device, "operand", bytes_of(operands))), ...);
    for (const symbolic::Values& result : expected)
      buffers.push_back(std::make_unique<Buffer>(device, "result", result.size() * sizeof(float)));
    std::vector<const void*> parameters;
    for (const auto& buffer : buffers) parameters.push_back(buffer->parameter());
    parameters.push_back(&length);
    const Launch& launch = kLaunches.at(name);
    const auto report = device.launch(simulator::Module::parse(ptx, name), "halftone_" + name,
                                      {static_cast<std::uint32_t>(launch.blocks(length))},
                                      {static_cast<std::uint32_t>(launch.threads)}, 0, parameters);
    for (const simulator::Finding& finding : report.findings) FAIL_CHECK(finding.text());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(count_differences(buffers[sizeof...(T) + i]->bytes(), expected[i]) == 0);
  }
};

void run_all(const Runs& runs) {
  const auto length = static_cast<std::size_t>(runs.length);
  symbolic::each_elementwise(length, runs);
  symbolic::each_row_kernel(length, runs);
  if (length > 100) return;  // what costs its square
  symbolic::each_column_kernel(length, runs);
  symbolic::each_contraction(length, runs);
}

}  // namespace

TEST_CASE("every text computes rows of any length on the simulator") {
  for (const char* chip : {"75", "90a"})
    for (const long long length : {1, 31, 33, 2049}) run_all({chip, length, false});
}

TEST_CASE("a text that is compiled for one length gives the same bits") {
  for (const long long length : {7, 1025}) run_all({"90a", length, true});
}
