// SPDX-License-Identifier: Apache-2.0
// decode_speed [ROUNDS]: how long a prompt and a step of a Generator take, of the language example's
// model in f32, by what it may hold and by what it holds. Each row is the least of the rounds, which
// take turns; behind it is the ratio of steps to the first row of as many sequences.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <halftone/generator.hpp>
#include <limits>
#include <vector>

#include "training.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSteps = 24;

double milliseconds_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

class Row {
 public:
  Row(std::int64_t sequences, std::int64_t capacity, std::size_t length)
      : sequences_(sequences),
        capacity_(capacity),
        length_(length),
        generator_(rule_set("f32").decoder, halftone::Device::cpu(),
                   {.sequences = sequences, .capacity = capacity}) {}

  void measure() {
    const auto count = static_cast<std::size_t>(sequences_);
    const std::vector<halftone::Tokens> prompts(count, halftone::Tokens(length_, 7));
    const std::vector<std::int32_t> next(count, 11);
    auto began = Clock::now();
    generator_.prefill(prompts);
    prefill_ms_ = std::min(prefill_ms_, milliseconds_since(began));
    generator_.step(next);  // binds the sizes of steps
    began = Clock::now();
    for (int i = 0; i < kSteps; ++i) generator_.step(next);
    ms_ = std::min(ms_, milliseconds_since(began) / kSteps);
  }

  [[nodiscard]] std::int64_t sequences() const { return sequences_; }
  [[nodiscard]] double ms() const { return ms_; }

  void print(double first) const {
    std::printf("%9lld  %8lld  %6zu  %11.3f  %9.3f  %8.0f  %6.2f\n",
                static_cast<long long>(sequences_), static_cast<long long>(capacity_), length_,
                prefill_ms_, ms_, 1000 * static_cast<double>(sequences_) / ms_, ms_ / first);
  }

 private:
  std::int64_t sequences_, capacity_;
  std::size_t length_;
  halftone::Generator generator_;
  double prefill_ms_ = std::numeric_limits<double>::max();
  double ms_ = std::numeric_limits<double>::max();  ///< of a step
};

}  // namespace

int main(int count, char** arguments) try {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  std::vector<Row> rows;
  for (const std::int64_t sequences : {1, 8}) {
    for (const std::int64_t capacity : {64, 512, 2048}) rows.emplace_back(sequences, capacity, 16);
    for (const std::size_t length : {400, 1900}) rows.emplace_back(sequences, 2048, length);
  }
  for (int round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "round %d of %d\n", round + 1, rounds);
    for (Row& row : rows) row.measure();
  }
  std::puts("sequences  capacity  tokens  ms a prompt  ms a step  tokens/s   ratio");
  for (const Row& row : rows) {
    row.print(std::ranges::find(rows, row.sequences(), &Row::sequences)->ms());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
