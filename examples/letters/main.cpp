// SPDX-License-Identifier: Apache-2.0
// Trains letters.hpp on 16,000 images and prints how many of the other 4,000 it reads:
//   letters [FILE.csv]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <halftone/fit.hpp>
#include <letters_model.hpp>
#include <string>

#include "letter_rows.hpp"

namespace {

constexpr std::int64_t kTraining = 16000, kBatch = 64, kPasses = 20;

void run(const std::string& file) {
  const halftone::Dataset all = read_letters(file);
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
