// SPDX-License-Identifier: Apache-2.0
// examples/letters, its loop: 20 passes over 16,000 letters, the share of the other 4,000 that is
// read.
#include <algorithm>
#include <halftone/fit.hpp>
#include <letters_model.hpp>
#include <string>
#include <vector>

#include "worker.hpp"

namespace {

constexpr std::int64_t kLetters = 26, kTraining = 16000, kBatch = 64, kPasses = 20;
namespace model = models::letters;

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

}  // namespace

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  const halftone::Dataset all = read(data.string());
  halftone::Loader training(all.slice(0, kTraining), {.batch = kBatch, .seed = seed});
  halftone::Loader held_out(all.slice(kTraining, all.rows() - kTraining),
                            {.batch = 1000, .shuffle = false});
  model::Trainer trainer(artifact, device, {.batch = kBatch, .seed = seed});
  model::Predictor predictor(artifact, device, {.batch = 1000});
  halftone::fit(trainer, training, {.epochs = kPasses});
  predictor.copy_parameters(trainer);
  return {accuracy(predictor, held_out), trainer.stats()};
}
