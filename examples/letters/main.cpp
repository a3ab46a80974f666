// SPDX-License-Identifier: Apache-2.0
// Trains letters.hpp on 16,000 images and prints how many of the other 4,000 it reads:
//   letters [FILE.csv]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <halftone/fit.hpp>
#include <letters_model.hpp>
#include <string>
#include <variant>
#include <vector>

namespace {

constexpr std::int64_t kLetters = 26, kTraining = 16000, kBatch = 64, kPasses = 20;

/// The letter, then 16 numbers from 0 to 15, as about -1 to 1.
halftone::Dataset read(const std::string& file) {
  std::vector<std::string> alphabet;
  for (char letter = 'A'; letter <= 'Z'; ++letter) alphabet.emplace_back(1, letter);
  return halftone::Dataset::csv(file,
                                {{.input = "letter", .columns = {0}, .classes = alphabet},
                                 {.input = "features",
                                  .columns = {{1, 16}},
                                  .convert = {.scale = 1 / 7.5f, .offset = -1.0f}}},
                                {.header = false});
}

/// The share of letters that have the largest of their logits.
double accuracy(halftone::Predictor& predictor, halftone::Loader& loader) {
  std::int64_t right = 0;
  while (const auto batch = loader.next()) {
    predictor.evaluate(batch->inputs);
    const auto logits = predictor.output("logits");
    const auto input = std::ranges::find(batch->inputs, "letter", &halftone::NamedValues::name);
    const auto letters = std::get<std::span<const std::int32_t>>(input->values);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto row = logits.subspan(i * kLetters, kLetters);
      right += std::ranges::max_element(row) - row.begin() == letters[i];
    }
  }
  return static_cast<double>(right) / static_cast<double>(loader.rows());
}

void run(const std::string& file) {
  const halftone::Dataset all = read(file);
  halftone::Loader training(all.slice(0, kTraining), {.batch = kBatch, .seed = 1});
  halftone::Loader held_out(all.slice(kTraining, all.rows() - kTraining),
                            {.batch = 1000, .shuffle = false});
  const auto device = halftone::Device::best(models::letters::artifact());
  models::letters::Trainer trainer(device, {.batch = kBatch, .seed = 1});
  models::letters::Predictor predictor(device, {.batch = 1000});
  const auto tell = [&](const halftone::FitProgress& progress) {
    std::printf("pass %2d of %d: loss %.4f\n", static_cast<int>(progress.epochs),
                static_cast<int>(kPasses), trainer.loss("error"));
    std::fflush(stdout);
    return true;
  };
  halftone::fit(trainer, training, {.epochs = kPasses, .after_epoch = tell});
  predictor.copy_parameters(trainer);
  std::printf("held-out accuracy %.2f %% of %d letters\n", 100 * accuracy(predictor, held_out),
              static_cast<int>(held_out.rows()));
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
