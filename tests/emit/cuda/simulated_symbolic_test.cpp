// SPDX-License-Identifier: Apache-2.0
// The texts of symbolic.mlir through NVRTC, on the simulator: rows as long as a symbol says, to the
// bit and without a finding; and the same once more compiled for the length in use.
#include "simulated_texts.hpp"
#include "symbolic.hpp"

using namespace halftone::tests;

namespace {

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
    // For one length alone (decision 0014).
    const std::string define = "#define HALFTONE_SYMBOL_batch " + std::to_string(length) + "LL\n";
    std::vector<std::size_t> bytes;
    for (const symbolic::Values& result : expected) bytes.push_back(result.size() * sizeof(float));
    const auto results =
        SimulatedText{name, chip, is_specialised ? define : ""}.run(length, bytes, operands...);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(count_differences(results[i], expected[i]) == 0);
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
