// SPDX-License-Identifier: Apache-2.0
// examples/digits, its loop: 40 passes over images that are moved by a pixel half of the time, a
// rate that falls along half a cosine, the share of the held-out images that is read.
#include <algorithm>
#include <cmath>
#include <digits_f32_model.hpp>
#include <iterator>
#include <numbers>
#include <random>

#include "images.hpp"
#include "worker.hpp"

namespace {

constexpr std::int64_t kBatch = 32, kSteps = 1760, kDigits = 10;
namespace model = models::digits_f32;

double accuracy(const model::Trainer& trainer, const halftone::Artifact& artifact,
                const halftone::Device& device, const Images& images) {
  model::Predictor predictor(artifact, device, {.batch = images.count()});
  predictor.copy_parameters(trainer);
  const std::span<const float> logits = predictor.predict(images.pixels).logits;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < images.count(); ++i) {
    const auto row = logits.subspan(static_cast<std::size_t>(i * kDigits), kDigits);
    right +=
        std::ranges::max_element(row) - row.begin() == images.digits[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(images.count());
}

}  // namespace

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  const Split images = split(read_images(data.string()));
  model::Trainer trainer(artifact, device, {.batch = kBatch, .seed = seed});
  const float peak = trainer.learning_rate();
  std::mt19937_64 engine(seed);
  std::vector<std::int64_t> order;
  Images batch;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    if (std::ssize(order) < kBatch) order = shuffled(images.training.count(), engine);
    batch.clear();
    for (std::int64_t i = 0; i < kBatch; ++i, order.pop_back())
      add_augmented(batch, images.training.image(order.back()),
                    images.training.digits[static_cast<std::size_t>(order.back())], engine);
    const double done = static_cast<double>(step) / kSteps;
    trainer.set_learning_rate(peak *
                              static_cast<float>(0.5 * (1.0 + std::cos(std::numbers::pi * done))));
    trainer.step(batch.pixels, batch.digits);
  }
  return {accuracy(trainer, artifact, device, images.held_out), trainer.stats()};
}
