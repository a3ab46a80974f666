// SPDX-License-Identifier: Apache-2.0
// What docs/records.md shows.
#include <halftone/device.hpp>
#include <halftone/records.hpp>
#include <letters_model.hpp>

struct Batch {
  std::vector<float> features;       // 64 x 16
  std::vector<std::int32_t> letter;  // 64
};
BOOST_HANA_ADAPT_STRUCT(Batch, features, letter);

struct Scores {
  BOOST_HANA_DEFINE_STRUCT(Scores, (std::vector<float>, logits));
};
struct Settings {
  BOOST_HANA_DEFINE_STRUCT(Settings, (float, learning_rate));
};

Scores train(const std::vector<Batch>& batches, const Settings& settings) {
  const auto device = halftone::Device::best(models::letters::artifact());
  models::letters::Trainer trainer(device, {.batch = 64, .seed = 1});
  trainer.set_hyperparameters(settings);
  for (const Batch& batch : batches) trainer.step(batch);

  models::letters::Predictor predictor(device, {.batch = 64});
  predictor.copy_parameters(trainer);
  Scores scores;
  predictor.predict(batches.front(), scores);
  return scores;
}

#include <boost/hana/for_each.hpp>

/// Elements of all inputs, whichever the model has.
template <class Signature>
std::size_t elements(const auto& batch) {
  std::size_t count = 0;
  boost::hana::for_each(halftone::input_map<Signature>(batch),
                        [&](auto input) { count += boost::hana::second(input).size(); });
  return count;
}
