// SPDX-License-Identifier: Apache-2.0
// halftone/records.hpp: what goes in and comes out through structs and maps is what the typed API
// takes and gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <boost/hana/for_each.hpp>
#include <boost/hana/length.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <halftone/records.hpp>
#include <mixture.hpp>
#include <pixels.hpp>
#include <span>
#include <string>
#include <vector>

#include "message_of.hpp"

namespace {

namespace hana = boost::hana;
using halftone::Device;
using models::mixture::Predictor;
using models::mixture::Signature;
using models::mixture::Trainer;

/// Members in another order than the model's inputs.
struct Batch {
  BOOST_HANA_DEFINE_STRUCT(Batch, (std::vector<std::int32_t>, class_),
                           (std::vector<float>, features), (std::vector<float>, prior_log));
};

/// Arrays, and a span of memory that is another's.
struct Adapted {
  std::array<float, 8> features;
  std::int32_t class_[2];
  std::span<float> prior_log;
};

/// Of a model whose inputs are integers.
struct Scan {
  BOOST_HANA_DEFINE_STRUCT(Scan, (std::vector<std::uint8_t>, image),
                           (std::vector<std::int64_t>, class_));
};

/// Members behind functions, of which one returns a value.
class Sheet {
 public:
  explicit Sheet(const Batch& batch) : batch_(batch) {}
  [[nodiscard]] const std::vector<float>& features() const { return batch_.features; }
  [[nodiscard]] std::vector<float> prior() const { return batch_.prior_log; }
  [[nodiscard]] std::span<const std::int32_t> classes() const { return batch_.class_; }

 private:
  Batch batch_;
};

}  // namespace

BOOST_HANA_ADAPT_STRUCT(Adapted, features, class_, prior_log);
BOOST_HANA_ADAPT_ADT(Sheet,
                     (features,
                      [](const Sheet& sheet) -> decltype(auto) { return sheet.features(); }),
                     (prior_log, [](const Sheet& sheet) { return sheet.prior(); }),
                     (class_, [](const Sheet& sheet) { return sheet.classes(); }));

namespace {

const Batch batches[] = {
    {{2, 0}, {1, 0.5f, 0.25f, 2, -1, 3, 0.125f, 1}, {0, -1, 0.5f, 1, 0, 0}},
    {{1, 1}, {-2, 1, 1, 0.5f, 3, 1, -0.75f, 2}, {0.5f, 0, 0, -1, 2, 0.25f}},
};

Trainer new_trainer() { return Trainer(Device::cpu(), {.batch = 2, .seed = 5}); }

std::vector<float> weights(const Trainer& trainer) {
  const auto values = trainer.parameter("weight");
  return {values.begin(), values.end()};
}

/// The weights after one step of the typed API with each batch.
std::vector<float> weights_by_typed_steps() {
  Trainer trainer = new_trainer();
  for (const Batch& batch : batches) trainer.step(batch.features, batch.class_, batch.prior_log);
  CHECK(weights(trainer) != weights(new_trainer()));
  return weights(trainer);
}

/// Likewise with records that are made of batches.
template <class Make>
std::vector<float> weights_by_steps_of(const Make& make) {
  Trainer trainer = new_trainer();
  for (const Batch& batch : batches) trainer.step(make(batch));
  return weights(trainer);
}

}  // namespace

TEST_CASE("records of integers are what typed calls of such inputs take") {
  const Scan scan{{0, 255, 3, 4, 5, 6, 7, 8}, {2, 0}};
  models::pixels::Trainer typed(Device::cpu(), {.batch = 2, .seed = 5}),
      by_record(Device::cpu(), {.batch = 2, .seed = 5});
  static_assert(models::pixels::Signature::inputs[0].element == halftone::Element::u8);
  typed.step(std::span<const std::uint8_t>(scan.image), std::span<const std::int64_t>(scan.class_));
  by_record.step(scan);
  const auto a = typed.parameter("weight"), b = by_record.parameter("weight");
  CHECK(std::ranges::equal(a, b));
  // x * 0.25 - 1, of the first row.
  const float row[] = {-1, 62.75f, -0.25f, 0};
  models::pixels::Predictor predictor(Device::cpu(), {.batch = 2});
  predictor.copy_parameters(typed);
  const auto scores = predictor.predict(scan).scores;
  float expected = 0;
  for (int k = 0; k < 4; ++k) expected = std::fma(row[k], a[static_cast<std::size_t>(k)], expected);
  CHECK(scores[0] == expected);
}

TEST_CASE("a step of a struct, adapted or defined, and of a map has the typed step's bits") {
  const std::vector<float> expected = weights_by_typed_steps();
  CHECK(weights_by_steps_of([](const Batch& batch) { return batch; }) == expected);
  CHECK(weights_by_steps_of([](const Batch& batch) { return Sheet(batch); }) == expected);
  CHECK(weights_by_steps_of([](const Batch& batch) {
          return hana::make_map(
              hana::make_pair(BOOST_HANA_STRING("prior_log"), std::span(batch.prior_log)),
              hana::make_pair(BOOST_HANA_STRING("features"), batch.features),
              hana::make_pair(BOOST_HANA_STRING("class_"), batch.class_));
        }) == expected);
  std::vector<float> priors;
  CHECK(weights_by_steps_of([&](const Batch& batch) {
          priors = batch.prior_log;
          Adapted adapted{{}, {batch.class_[0], batch.class_[1]}, priors};
          std::copy(batch.features.begin(), batch.features.end(), adapted.features.begin());
          return adapted;
        }) == expected);
}

TEST_CASE("micro-batches of structs have the bits of typed ones") {
  Trainer typed = new_trainer(), by_record = new_trainer();
  typed.accumulate(batches[0].features, batches[0].class_, batches[0].prior_log);
  typed.step(batches[1].features, batches[1].class_, batches[1].prior_log);
  by_record.accumulate(batches[0]);
  by_record.step(batches[1]);
  CHECK(weights(by_record) == weights(typed));
  CHECK(weights(by_record) != weights_by_typed_steps());
}

TEST_CASE("forward of a struct computes the losses when it has their inputs") {
  struct WithoutLabels {
    BOOST_HANA_DEFINE_STRUCT(WithoutLabels, (std::vector<float>, prior_log),
                             (std::vector<float>, features));
  };
  const WithoutLabels without = {batches[0].prior_log, batches[0].features};
  Trainer typed = new_trainer(), by_record = new_trainer();
  typed.forward(batches[0].features, batches[0].class_, batches[0].prior_log);
  by_record.forward(without);
  CHECK(by_record.loss("error") == 0.0f);
  const auto expected = typed.output("scores"), scores = by_record.output("scores");
  CHECK(std::vector(scores.begin(), scores.end()) == std::vector(expected.begin(), expected.end()));
  CHECK(typed.loss("error") > 0.0f);
  by_record.forward(batches[0]);
  CHECK(by_record.loss("error") == typed.loss("error"));
}

TEST_CASE("a prediction goes into a struct: shown, copied into what grows and into memory") {
  struct Shown {
    BOOST_HANA_DEFINE_STRUCT(Shown, (std::span<const float>, evidence_alone),
                             (std::vector<float>, scores));
  };
  struct Copied {
    BOOST_HANA_DEFINE_STRUCT(Copied, (std::array<float, 6>, scores),
                             (std::span<float>, evidence_alone));
  };
  Predictor predictor(Device::cpu(), {.batch = 2, .seed = 5});
  const auto typed = predictor.predict(batches[0].features, batches[0].prior_log);
  const std::vector scores(typed.scores.begin(), typed.scores.end());
  const std::vector evidence(typed.evidence_alone.begin(), typed.evidence_alone.end());
  CHECK(scores != evidence);

  Shown shown;
  predictor.predict(batches[1], shown);
  CHECK(shown.scores != scores);
  predictor.predict(batches[0], shown);
  CHECK(shown.scores == scores);
  CHECK(shown.evidence_alone.data() == predictor.output("evidence-alone").data());

  std::vector<float> memory(6);
  Copied copied{{}, memory};
  predictor.predict(batches[0], copied);
  CHECK(std::vector(copied.scores.begin(), copied.scores.end()) == scores);
  CHECK(memory == evidence);

  auto map = hana::make_map(hana::make_pair(BOOST_HANA_STRING("evidence_alone"), std::vector{1.0f}),
                            hana::make_pair(BOOST_HANA_STRING("scores"), std::vector<float>{}));
  predictor.read_outputs(map);
  CHECK(map[BOOST_HANA_STRING("scores")] == scores);
  CHECK(map[BOOST_HANA_STRING("evidence_alone")] == evidence);

  const auto outputs = predictor.predict(batches[1]);
  CHECK(outputs.scores.data() == typed.scores.data());
  CHECK(std::vector(outputs.scores.begin(), outputs.scores.end()) != scores);

  Trainer trainer = new_trainer();
  trainer.forward(batches[0]);
  trainer.read_outputs(shown);
  CHECK(shown.scores == scores);
  CHECK(shown.evidence_alone.data() == trainer.output("evidence-alone").data());
}

TEST_CASE("memory of another size than the output's is refused") {
  struct Results {
    BOOST_HANA_DEFINE_STRUCT(Results, (std::array<float, 5>, scores),
                             (std::vector<float>, evidence_alone));
  };
  Predictor predictor(Device::cpu(), {.batch = 2, .seed = 5});
  Results results;
  CHECK(message_of([&] { predictor.predict(batches[0], results); }) ==
        "predict: member 'scores' has 5 elements, but its output has 6; give it as many, or make "
        "it a std::vector<float>");
  CHECK(message_of([&] { predictor.read_outputs(results); }).starts_with("read_outputs: member"));
}

TEST_CASE("a struct with fewer rows is a batch of so many") {
  struct Results {
    BOOST_HANA_DEFINE_STRUCT(Results, (std::vector<float>, scores),
                             (std::span<const float>, evidence_alone));
  };
  struct InArrays {
    BOOST_HANA_DEFINE_STRUCT(InArrays, (std::array<float, 6>, scores),
                             (std::vector<float>, evidence_alone));
  };
  const Batch row = {{2}, {1, 0.5f, 0.25f, 2}, {0, -1, 0.5f}};
  Trainer one(Device::cpu(), {.batch = 1, .seed = 5}), two = new_trainer();
  Results expected, results;
  for (Trainer* each : {&one, &two}) each->step(row);
  one.read_outputs(expected);
  two.read_outputs(results);
  CHECK(weights(two) == weights(one));
  CHECK(results.scores.size() == 3);
  CHECK(results.scores == expected.scores);
  CHECK(results.evidence_alone.size() == 3);
  InArrays arrays;
  CHECK(message_of([&] { two.read_outputs(arrays); }) ==
        "read_outputs: member 'scores' has 6 elements, but its output has 3; give it as many, or "
        "make it a std::vector<float>");
}

TEST_CASE("a loader's batch predicts and evaluates as its values do, whatever else is in it") {
  struct Loaded {
    std::vector<halftone::NamedValues> inputs;
    std::int64_t rows = 2;
  };
  const Batch& batch = batches[0];
  const Loaded loaded{{{"class", std::span<const std::int32_t>(batch.class_)},
                       {"features", std::span<const float>(batch.features)},
                       {"prior/log", std::span<const float>(batch.prior_log)}}};
  Predictor by_values(Device::cpu(), {.batch = 2, .seed = 5}),
      by_batch(Device::cpu(), {.batch = 2, .seed = 5});
  const Predictor::Outputs expected = by_values.predict(batch.features, batch.prior_log);
  const Predictor::Outputs predicted = by_batch.predict(loaded);
  CHECK(std::ranges::equal(predicted.scores, expected.scores));
  CHECK(std::ranges::equal(predicted.evidence_alone, expected.evidence_alone));
  CHECK(by_batch.loss("error") == 0.0f);
  by_values.evaluate(batch.features, batch.class_, batch.prior_log);
  const Predictor::Outputs evaluated = by_batch.evaluate(loaded);
  CHECK(by_batch.loss("error") == by_values.loss("error"));
  CHECK(by_batch.loss("error") != 0.0f);
  CHECK(std::ranges::equal(evaluated.scores, expected.scores));

  Loaded more = loaded;
  for (int i = 0; i < 9; ++i) more.inputs.push_back({"weather", std::span<const float>()});
  CHECK(message_of([&] {
          by_batch.predict(more);
        }).starts_with("predict: input 'weather' is unknown"));
  Loaded fewer = loaded;
  fewer.inputs.pop_back();
  CHECK(message_of([&] {
          by_batch.evaluate(fewer);
        }).starts_with("evaluate: input 'prior/log' is missing"));
}

TEST_CASE("hyperparameters are read into a struct or a map and set from one") {
  struct Settings {
    BOOST_HANA_DEFINE_STRUCT(Settings, (float, learning_rate));
  };
  Trainer trainer = new_trainer();
  Settings settings{};
  trainer.read_hyperparameters(settings);
  CHECK(settings.learning_rate == 0.25f);
  trainer.set_hyperparameters(Settings{0.125f});
  CHECK(trainer.learning_rate() == 0.125f);
  CHECK(message_of([&] {
          trainer.set_hyperparameters(Settings{-1.0f});
        }).starts_with("set_learning_rate: the learning rate is -1"));
  CHECK(trainer.learning_rate() == 0.125f);

  auto map = hana::make_map(hana::make_pair(BOOST_HANA_STRING("learning_rate"), 0.0f));
  trainer.read_hyperparameters(map);
  CHECK(map[BOOST_HANA_STRING("learning_rate")] == 0.125f);
  map[BOOST_HANA_STRING("learning_rate")] = 0.5f;
  trainer.set_hyperparameters(map);
  CHECK(trainer.learning_rate() == 0.5f);
}

TEST_CASE("a record with a decay sets and reads it, too, and all or nothing") {
  struct Settings {
    BOOST_HANA_DEFINE_STRUCT(Settings, (float, weight_decay), (float, learning_rate));
  };
  Trainer trainer = new_trainer();
  trainer.set_hyperparameters(Settings{0.5f, 0.125f});
  CHECK(trainer.weight_decay() == 0.5f);
  CHECK(trainer.learning_rate() == 0.125f);
  CHECK(message_of([&] {
          trainer.set_hyperparameters(Settings{-1.0f, 0.25f});
        }).starts_with("set_weight_decay: the weight decay is -1"));
  Settings settings{};
  trainer.read_hyperparameters(settings);
  CHECK(settings.weight_decay == 0.5f);
  CHECK(settings.learning_rate == 0.125f);
}

TEST_CASE("inputs and outputs are maps for generic code") {
  const auto inputs = halftone::input_map<Signature>(batches[0]);
  CHECK(inputs[BOOST_HANA_STRING("features")].data() == batches[0].features.data());
  const auto& classes = inputs[BOOST_HANA_STRING("class_")];
  static_assert(std::same_as<decltype(classes), const std::span<const std::int32_t>&>);
  CHECK(classes.size() == 2);
  std::vector<std::string> names;
  hana::for_each(hana::keys(inputs), [&](auto key) { names.emplace_back(key.c_str()); });
  CHECK(names == std::vector<std::string>{"features", "class_", "prior_log"});
  CHECK(weights_by_steps_of([](const Batch& batch) {
          return halftone::input_map<Signature>(batch);
        }) == weights_by_typed_steps());

  Predictor predictor(Device::cpu(), {.batch = 2, .seed = 5});
  predictor.predict(inputs);
  const auto outputs = halftone::output_map(predictor);
  CHECK(outputs[BOOST_HANA_STRING("scores")].data() == predictor.output("scores").data());
  CHECK(outputs[BOOST_HANA_STRING("evidence_alone")].data() ==
        predictor.output("evidence-alone").data());
  CHECK(decltype(hana::length(outputs))::value == 2);
  Trainer trainer = new_trainer();
  CHECK(halftone::output_map(trainer)[BOOST_HANA_STRING("scores")].data() ==
        trainer.output("scores").data());
}
