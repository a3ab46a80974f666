// SPDX-License-Identifier: Apache-2.0
// examples/letters, its loop: 20 passes over 16,000 letters, the share of the other 4,000 that is
// read.
#include <halftone/fit.hpp>
#include <letters_model.hpp>

#include "letter_rows.hpp"
#include "worker.hpp"

namespace {

constexpr std::int64_t kTraining = 16000, kBatch = 64, kPasses = 20;
namespace model = models::letters;

}  // namespace

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  const halftone::Dataset all = read_letters(data.string());
  halftone::Loader training(all.slice(0, kTraining), {.batch = kBatch, .seed = seed});
  halftone::Loader held_out(all.slice(kTraining, all.rows() - kTraining),
                            {.batch = 1000, .shuffle = false});
  model::Trainer trainer(artifact, device, {.batch = kBatch, .seed = seed});
  model::Predictor predictor(artifact, device, {.batch = 1000});
  halftone::fit(trainer, training, {.epochs = kPasses});
  predictor.copy_parameters(trainer);
  return {accuracy(predictor, held_out), trainer.stats()};
}
