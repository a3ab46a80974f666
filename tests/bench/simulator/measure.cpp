// SPDX-License-Identifier: Apache-2.0
// simulator_speed KERNELS.ptx: thread-instructions per second that one core simulates, without and
// with checks, of the kernels of kernels.cu, and how far their results are from double precision.
// Rounds of both take turns; the best of each counts, in time of this processor. Exit status 1: a
// finding, or a wrong result.
#include <time.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "halftone/simulator/device.hpp"

namespace {

using namespace halftone;
using simulator::Dim3;

constexpr int kRounds = 7;

float widened(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

/// Values of [-1, 1) that bf16 holds.
std::vector<std::uint16_t> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values)
    value = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>((static_cast<float>(random() % 256) - 128) / 128) >> 16);
  return values;
}

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A kernel with its operands, and the result that it must come near to.
struct Problem {
  const char* entry;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<int> numbers;  ///< parameters behind the buffers
  std::vector<double> expected;
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Problem product() {
  constexpr std::size_t kRows = 256, kColumns = 256, kDepth = 256;
  const auto a = drawn(kRows * kDepth, 1), b = drawn(kColumns * kDepth, 2);
  Problem p{"product",
            {kColumns / 128, kRows / 128},
            {256},
            2 * 3 * 128 * 40 * 2,
            {bytes_of(a), bytes_of(b)},
            {kColumns, kDepth},
            {}};
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kDepth; ++k)
        sum += double{widened(a[i * kDepth + k])} * widened(b[j * kDepth + k]);
      p.expected.push_back(sum);
    }
  return p;
}

Problem layer_norm() {
  constexpr std::size_t kRows = 64, kColumns = 768;
  const auto x = drawn(kRows * kColumns, 3);
  std::vector<float> scale(kColumns), shift(kColumns);
  for (std::size_t i = 0; i < kColumns; ++i)
    scale[i] = 1 + 0.001f * static_cast<float>(i), shift[i] = 0.5f;
  Problem p{"layer_norm", {kRows}, {192}, 0, {bytes_of(x), bytes_of(scale), bytes_of(shift)},
            {},           {}};
  for (std::size_t row = 0; row < kRows; ++row) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < kColumns; ++i) mean += widened(x[row * kColumns + i]) / 768.0;
    for (std::size_t i = 0; i < kColumns; ++i)
      squares += std::pow(widened(x[row * kColumns + i]) - mean, 2) / 768;
    for (std::size_t i = 0; i < kColumns; ++i)
      p.expected.push_back((widened(x[row * kColumns + i]) - mean) / std::sqrt(squares + 1e-5) *
                               scale[i] +
                           shift[i]);
  }
  return p;
}

Problem attention() {
  constexpr std::size_t kQueries = 256, kChannels = 64;
  const auto q = drawn(kQueries * kChannels, 4), k = drawn(kQueries * kChannels, 5),
             v = drawn(kQueries * kChannels, 6);
  Problem p{"attention", {kQueries / 64}, {128}, 0, {bytes_of(q), bytes_of(k), bytes_of(v)}, {},
            {}};
  for (std::size_t i = 0; i < kQueries; ++i) {
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      double score = 0;
      for (std::size_t c = 0; c < kChannels; ++c)
        score += double{widened(q[i * kChannels + c])} * widened(k[j * kChannels + c]);
      weights.push_back(std::exp(score / 8));
      sum += weights.back();
    }
    for (std::size_t c = 0; c < kChannels; ++c) {
      double value = 0;
      for (std::size_t j = 0; j <= i; ++j)
        value += weights[j] / sum * widened(v[j * kChannels + c]);
      p.expected.push_back(value);
    }
  }
  return p;
}

struct Timed {
  double best = 1e30;
  std::uint64_t instructions = 0;
};

/// Whether any launch had findings, or a result far from what it must be.
bool wrong = false;

/// Time of a launch, and its findings, which must be none.
void launch(simulator::Device& device, const simulator::Module& module, const Problem& p,
            std::span<const void* const> parameters, bool check, Timed& timed) {
  const double start = seconds();
  const auto report = device.launch(module, p.entry, p.grid, p.block, p.shared_bytes, parameters,
                                    {.check = check, .traffic = check});
  timed.best = std::min(timed.best, seconds() - start);
  timed.instructions = report.counters.thread_instructions;
  wrong = wrong || !report.findings.empty();
  for (const auto& finding : report.findings) std::printf("%s\n", finding.text().c_str());
}

void measure(const simulator::Module& module, const Problem& p) {
  simulator::Device device("sm_80");
  std::vector<std::uint64_t> buffers;
  for (const auto& input : p.inputs) {
    buffers.push_back(device.allocate(input.size(), "input"));
    device.copy_in(buffers.back(), input);
  }
  buffers.push_back(device.allocate(4 * p.expected.size(), "result"));
  std::vector<const void*> parameters;
  for (const std::uint64_t& buffer : buffers) parameters.push_back(&buffer);
  for (const int& number : p.numbers) parameters.push_back(&number);
  Timed plain, checked;
  for (int round = 0; round < kRounds; ++round) {
    launch(device, module, p, parameters, false, plain);
    launch(device, module, p, parameters, true, checked);
  }
  std::vector<float> result(p.expected.size());
  device.copy_out(std::as_writable_bytes(std::span(result)), buffers.back());
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    error = std::max(error, std::fabs(result[i] - p.expected[i]));
    largest = std::max(largest, std::fabs(p.expected[i]));
  }
  wrong = wrong || !(error <= 0x1p-8 * largest);  // half a unit of bf16
  const auto rate = [](const Timed& t) {
    return 1e-6 * static_cast<double>(t.instructions) / t.best;
  };
  std::printf("%-10s  %9llu  %6.0f  %6.0f  %5.2f  %.1e\n", p.entry,
              static_cast<unsigned long long>(plain.instructions), rate(plain), rate(checked),
              checked.best / plain.best, error / largest);
}

}  // namespace

int main(int count, char** arguments) {
  std::ifstream file(count > 1 ? arguments[1] : "");
  if (!file) {
    std::printf("simulator_speed KERNELS.ptx\n");
    return 2;
  }
  std::stringstream text;
  text << file.rdbuf();
  const auto module = simulator::Module::parse(text.str(), arguments[1]);
  std::printf(
      "millions of thread-instructions a second on one core; error against double, of the "
      "largest\n");
  std::printf("%-10s  %9s  %6s  %6s  %5s  %s\n", "kernel", "a launch", "plain", "checked", "ratio",
              "error");
  const Problem problems[] = {product(), layer_norm(), attention()};
  for (const Problem& p : problems)
    if (count < 3 || std::string(arguments[2]) == p.entry) measure(module, p);
  return wrong ? 1 : 0;
}
