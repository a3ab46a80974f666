// SPDX-License-Identifier: Apache-2.0
// examples/genome, the task `function`: the share of pieces of proteins that are held out whose
// family is told.
#include <halftone/fit.hpp>
#include <limits>

#include "scores.hpp"
#include "tasks.hpp"
#include "worker.hpp"

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  const Task& of = task("function");
  halftone::Trainer trainer = trainer_of(artifact, device, of.length, of.batch, seed);
  halftone::Predictor predictor = predictor_of(artifact, device, of.length, of.batch);
  halftone::Loader training(rows_of(of, data, of.learned),
                            {.batch = of.batch, .seed = seed, .drop_last = true});
  halftone::Loader held_out(rows_of(of, data, of.judged), {.batch = of.batch, .shuffle = false});
  halftone::fit(trainer, training,
                {.epochs = std::numeric_limits<std::int64_t>::max(), .steps = of.steps});
  predictor.copy_parameters(trainer);
  return {confusion(predictor, held_out, of.classes.size()).accuracy(), trainer.stats()};
}
