// SPDX-License-Identifier: Apache-2.0
// Texts of one .mlir file through NVRTC, on the simulator: what they compute, and every finding as
// a failure.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "halftone/simulator/module.hpp"
#include "simulated.hpp"

namespace halftone::tests {

inline long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

struct TextLaunch {
  int threads;
  long long (*blocks)(long long symbol_batch);
};

inline const TextLaunch& launch_of(const std::string& name) {
  static const std::map<std::string, TextLaunch> all = {
#include "launches.inc"
  };
  return all.at(name);
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// One text on one chip, such as "90a"; `define` stands before it.
struct SimulatedText {
  std::string name, chip, define;

  [[nodiscard]] std::string ptx() const {
    std::ifstream stream(std::string(HALFTONE_TEXTS "/") + name + ".cu");
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const Compilation compilation =
        nvrtc().compile(define + text, name + ".cu", options_for("compute_" + chip, {}));
    REQUIRE_MESSAGE(compilation.accepted, compilation.log);
    return compilation.ptx;
  }

  /// The results, of so many bytes, where the symbol batch stands for `batch`.
  template <class... T>
  [[nodiscard]] std::vector<std::vector<std::byte>> run(
      long long batch, const std::vector<std::size_t>& result_bytes,
      const std::vector<T>&... operands) const {
    simulator::Device device("sm_" + chip);
    std::vector<std::unique_ptr<Buffer>> buffers;
    (buffers.push_back(std::make_unique<Buffer>(device, "operand", bytes_of(operands))), ...);
    for (const std::size_t bytes : result_bytes)
      buffers.push_back(std::make_unique<Buffer>(device, "result", bytes));
    std::vector<const void*> parameters;
    for (const auto& buffer : buffers) parameters.push_back(buffer->parameter());
    parameters.push_back(&batch);
    const TextLaunch& launch = launch_of(name);
    const auto report = device.launch(simulator::Module::parse(ptx(), name), "halftone_" + name,
                                      {static_cast<std::uint32_t>(launch.blocks(batch))},
                                      {static_cast<std::uint32_t>(launch.threads)}, 0, parameters);
    for (const simulator::Finding& finding : report.findings) FAIL_CHECK(finding.text());
    std::vector<std::vector<std::byte>> results;
    for (std::size_t i = sizeof...(T); i < buffers.size(); ++i)
      results.push_back(buffers[i]->bytes());
    return results;
  }
};

}  // namespace halftone::tests
