// SPDX-License-Identifier: Apache-2.0
// Trains letters.hpp on 16,000 images and prints how many of the other 4,000 it reads:
//   letters [FILE.csv]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <halftone/device.hpp>
#include <letters_model.hpp>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kFeatures = 16, kLetters = 26, kTraining = 16000, kBatch = 64;
constexpr std::int64_t kPasses = 20;

/// Row i has features [i * kFeatures, (i + 1) * kFeatures), in about -1..1.
struct Rows {
  std::vector<float> features;
  std::vector<std::int32_t> letters;

  void add(const Rows& from, std::int64_t row) {
    const auto first = from.features.begin() + row * kFeatures;
    features.insert(features.end(), first, first + kFeatures);
    letters.push_back(from.letters[static_cast<std::size_t>(row)]);
  }
};

Rows read(const std::string& path) {
  std::ifstream file(path);
  Rows rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    char letter = 0, comma = 0;
    fields >> letter;
    rows.letters.push_back(letter - 'A');
    for (int i = 0, value = 0; i < kFeatures && fields >> comma >> value; ++i)
      rows.features.push_back((static_cast<float>(value) - 7.5f) / 7.5f);
    if (rows.letters.back() < 0 || rows.letters.back() >= kLetters || !fields)
      throw std::runtime_error("letters: line " + std::to_string(rows.letters.size()) + " of " +
                               path + " is not a letter and 16 numbers");
  }
  if (static_cast<std::int64_t>(rows.letters.size()) <= kTraining)
    throw std::runtime_error("letters: " + path + " has too few lines; it needs more than 16000");
  return rows;
}

double accuracy(const halftone::Device& device, const models::letters::Trainer& trainer,
                const Rows& held_out) {
  const auto count = static_cast<std::int64_t>(held_out.letters.size());
  models::letters::Predictor predictor(device, {.batch = count});
  predictor.copy_parameters(trainer);
  const auto logits = predictor.predict(held_out.features).logits;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = logits.subspan(static_cast<std::size_t>(i * kLetters), kLetters);
    right += std::ranges::max_element(row) - row.begin() ==
             held_out.letters[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

void run(const std::string& path) {
  const Rows all = read(path);
  Rows held_out;
  for (std::int64_t i = kTraining; i < static_cast<std::int64_t>(all.letters.size()); ++i)
    held_out.add(all, i);
  const auto device = halftone::Device::best(models::letters::artifact());
  models::letters::Trainer trainer(device, {.batch = kBatch, .seed = 1});
  std::mt19937_64 engine(1);
  std::vector<std::int64_t> order(kTraining);
  std::iota(order.begin(), order.end(), 0);
  const float peak = trainer.learning_rate();
  const std::int64_t steps_per_pass = kTraining / kBatch;
  for (std::int64_t pass = 0; pass < kPasses; ++pass) {
    for (std::int64_t i = kTraining - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)],
                order[engine() % static_cast<std::uint64_t>(i + 1)]);
    for (std::int64_t step = 0; step < steps_per_pass; ++step) {
      const double done = static_cast<double>(pass * steps_per_pass + step) /
                          static_cast<double>(kPasses * steps_per_pass);
      trainer.set_learning_rate(peak *
                                static_cast<float>(0.5 + 0.5 * std::cos(std::numbers::pi * done)));
      Rows batch;
      for (std::int64_t i = 0; i < kBatch; ++i)
        batch.add(all, order[static_cast<std::size_t>(step * kBatch + i)]);
      trainer.step(batch.features, batch.letters);
    }
    std::printf("pass %2d of %d: loss %.4f\n", static_cast<int>(pass + 1),
                static_cast<int>(kPasses), trainer.loss("error"));
    std::fflush(stdout);
  }
  std::printf("held-out accuracy %.2f %% of %zu letters\n",
              100 * accuracy(device, trainer, held_out), held_out.letters.size());
}

}  // namespace

int main(int count, char** values) {
  try {
    run(count > 1 ? values[1] : LETTERS_CSV);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
