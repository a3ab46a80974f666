// SPDX-License-Identifier: Apache-2.0
// A trainer fed by a loader, as it says in docs/data.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "files/scratch_folder.hpp"
#include "generated_example.hpp"
#include "halftone/device.hpp"
#include "halftone/loader.hpp"
#include "halftone/signature.hpp"

using namespace halftone;

namespace {

struct LineSignature {};

/// The generated class with the calls that generated ones have.
class LineTrainer : public models::line::Trainer,
                    public TrainerRecords<LineTrainer, LineSignature> {
 public:
  using models::line::Trainer::accumulate, TrainerRecords::accumulate;
  using models::line::Trainer::forward, TrainerRecords::forward;
  using models::line::Trainer::step, TrainerRecords::step;
  using models::line::Trainer::Trainer;
};

Dataset line_data() {
  std::vector<float> features, target;
  for (int row = 0; row < 22; ++row) {
    for (int i = 0; i < 3; ++i) features.push_back(static_cast<float>((7 * row + 5 * i) % 11) / 8);
    for (int i = 0; i < 2; ++i) target.push_back(static_cast<float>((3 * row + i) % 5) / 4);
  }
  return Dataset::own({{"features", features}, {"target", target}}, 22);
}

std::vector<float> weights(const Trainer& trainer) {
  const std::span<const float> values = trainer.parameter("fc.weight");
  return {values.begin(), values.end()};
}

constexpr models::line::Options kOptions{.batch = 4, .seed = 1};

}  // namespace

TEST_CASE("a trainer steps with a batch as with its values") {
  LineTrainer fed(Device::cpu(), kOptions), told(Device::cpu(), kOptions);
  Loader loader(line_data(), {.batch = 4, .seed = 2, .drop_last = true});
  while (loader.epoch() < 2) {
    while (const auto batch = loader.next()) {
      const auto values = [&](std::size_t i) { return std::get<0>(batch->inputs[i].values); };
      fed.accumulate(*batch);
      fed.step(*batch);
      told.accumulate(values(0), values(1));
      told.step(values(0), values(1));
      REQUIRE(weights(fed) == weights(told));
      fed.forward(*batch);
      told.forward(values(0), values(1));
      CHECK(fed.loss("error") == told.loss("error"));
    }
  }
  CHECK(weights(fed) != weights(LineTrainer(Device::cpu(), kOptions)));
}

TEST_CASE("a checkpoint's note brings the loader back to where the trainer was") {
  const tests::ScratchFolder folder;
  const LoaderOptions options{.batch = 4, .seed = 3, .drop_last = true, .threads = 2};
  const auto train = [](LineTrainer& trainer, Loader& loader, int calls) {
    for (int i = 0; i < calls; ++i)
      if (const auto batch = loader.next()) trainer.step(*batch);
  };
  LineTrainer trainer(Device::cpu(), kOptions);
  Loader loader(line_data(), options);
  train(trainer, loader, 9);
  trainer.save(folder / "run.safetensors", {.notes = {{"loader", loader.cursor()}}});
  train(trainer, loader, 8);

  LineTrainer again(Device::cpu(), {.batch = 4, .seed = 9});
  Loader from_start(line_data(), options);
  const Notes notes = again.resume(folder / "run.safetensors").notes;
  REQUIRE(notes.size() == 1);
  from_start.seek(notes[0].second);
  train(again, from_start, 8);
  CHECK(weights(again) == weights(trainer));
  CHECK(again.stats().steps == trainer.stats().steps);
}
