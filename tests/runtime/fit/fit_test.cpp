// SPDX-License-Identifier: Apache-2.0
// Training in one call: what it comes to, where it stops, and that a stopped run goes on as if it
// had not.
#include "halftone/fit.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "halftone/run_sinks.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_scheduled;

namespace halftone::tests {
namespace {

constexpr std::int64_t kFeatures = 12, kClasses = 5, kBatch = 8;

/// Rows whose class is that of their largest feature of five.
Dataset rows(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> x;
  std::vector<std::int32_t> label;
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t i = 0; i < kFeatures; ++i)
      x.push_back(static_cast<float>(engine() >> 8) * 0x1p-24f);
    std::int32_t largest = 0;
    for (std::int32_t c = 1; c < kClasses; ++c)
      if (x[x.size() - kFeatures + c] > x[x.size() - kFeatures + largest]) largest = c;
    label.push_back(largest);
  }
  return Dataset::own({{"x", x}, {"label", label}}, count);
}

/// What a run needs, made anew for each.
struct Setting {
  Artifact artifact = Artifact::linked(halftone_artifact_scheduled);
  Device device = Device::cpu();
  std::vector<Binding> bindings = {{"batch", kBatch}};
  Trainer trainer{artifact, device, {.model = "", .bindings = bindings, .seed = 3}};
  Predictor predictor{artifact, device, {.model = "", .bindings = bindings, .seed = 9}};
  Loader loader{rows(43, 1), {.batch = kBatch, .seed = 5}};  // 5 batches of 8, and one of 3
  Loader held_out{rows(21, 2), {.batch = kBatch, .shuffle = false}};

  Validation validation() { return {.predictor = &predictor, .loader = &held_out}; }
};

std::vector<std::uint32_t> bits(const Trainer& trainer) {
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names())
    for (const float value : trainer.parameter(name))
      all.push_back(std::bit_cast<std::uint32_t>(value));
  all.push_back(std::bit_cast<std::uint32_t>(trainer.stats().loss_scale));
  return all;
}

}  // namespace

TEST_CASE("fit trains epochs of all rows, the last batch of fewer among them") {
  Setting setting;
  const Metrics before = evaluate(setting.predictor, setting.held_out);
  std::int64_t steps = 0, epochs = 0;
  const FitResult result = fit(setting.trainer, setting.loader,
                               {.epochs = 30,
                                .validation = setting.validation(),
                                .after_step = [&](const FitProgress&) { return ++steps, true; },
                                .after_epoch = [&](const FitProgress&) { return ++epochs, true; }});
  CHECK(result.end == FitResult::End::epochs);
  CHECK(result.epochs == 30);
  CHECK(result.steps == 30 * 6);
  CHECK(steps == 30 * 6);
  CHECK(epochs == 30);
  CHECK(setting.trainer.stats().steps == 30 * 6);
  REQUIRE(result.metrics.size() == 1);
  CHECK(result.metrics[0].name == "validation/xent");
  CHECK(result.metrics[0].value < before[0].value);
  CHECK(result.best <= result.metrics[0].value);
}

TEST_CASE("a validation is the mean over rows") {
  Setting setting;
  const Metrics metrics = evaluate(setting.predictor, setting.held_out);
  Predictor whole(setting.artifact, setting.device,
                  {.model = "", .bindings = std::vector<Binding>{{"batch", 21}}, .seed = 9});
  Loader all(rows(21, 2), {.batch = 21, .shuffle = false});
  whole.evaluate(all.next()->inputs);
  CHECK(metrics[0].value == doctest::Approx(whole.loss("xent")).epsilon(1e-6));
  CHECK(evaluate(setting.predictor, setting.held_out)[0].value == metrics[0].value);
}

TEST_CASE("a run that was stopped anywhere goes on as if it had not been, to the bit") {
  Setting uninterrupted;
  const FitOptions whole{.epochs = 4, .validation = uninterrupted.validation()};
  const FitResult expected = fit(uninterrupted.trainer, uninterrupted.loader, whole);
  for (std::int64_t stop = 1; stop < 24; ++stop) {
    CAPTURE(stop);
    const ScratchFolder folder;
    const std::filesystem::path file = folder / "run.safetensors";
    for (const std::int64_t steps : {stop, std::int64_t{1000}}) {
      Setting setting;
      const FitResult result = fit(
          setting.trainer, setting.loader,
          {.epochs = 4, .steps = steps, .validation = setting.validation(), .checkpoint = file});
      if (steps == stop) {
        CHECK(result.end == FitResult::End::steps);
        CHECK(result.steps == stop);
        continue;
      }
      CHECK(result.steps == expected.steps);
      CHECK(result.epochs == expected.epochs);
      CHECK(result.best == expected.best);
      CHECK(result.metrics[0].value == expected.metrics[0].value);
      CHECK(bits(setting.trainer) == bits(uninterrupted.trainer));
    }
    Setting again;  // with nothing left to do
    const FitResult result =
        fit(again.trainer, again.loader,
            {.epochs = 4, .validation = again.validation(), .checkpoint = file});
    CHECK(result.steps == expected.steps);
    CHECK(result.metrics[0].value == expected.metrics[0].value);
    CHECK(bits(again.trainer) == bits(uninterrupted.trainer));
  }
}

TEST_CASE("a caller may end a run after a step, and what was done is in the checkpoint") {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "run.safetensors";
  Setting setting;
  FitOptions options{.epochs = 2, .checkpoint = file};
  options.after_step = [](const FitProgress& progress) { return progress.steps < 9; };
  const FitResult result = fit(setting.trainer, setting.loader, options);
  CHECK(result.end == FitResult::End::caller);
  CHECK(result.steps == 9);
  Setting other;
  CHECK(other.trainer.resume(file).steps == 9);
}

TEST_CASE("a loss that no longer falls ends the run, or lowers the learning rate") {
  Setting setting;
  setting.trainer.set_learning_rate(0);  // so that nothing gets better
  FitResult result = fit(setting.trainer, setting.loader,
                         {.epochs = 50,
                          .validation = setting.validation(),
                          .stop_early = PlateauOptions{.patience = 2}});
  CHECK(result.end == FitResult::End::plateau);
  CHECK(result.epochs == 4);  // the first is the best, then one more than it bears

  Setting rate;
  rate.trainer.set_learning_rate(1e-30f);
  result = fit(rate.trainer, rate.loader,
               {.epochs = 5,
                .validation = rate.validation(),
                .reduce_on_plateau = PlateauOptions{.patience = 0},
                .reduce_by = 0.5f});
  CHECK(result.end == FitResult::End::epochs);
  CHECK(rate.trainer.learning_rate() == 1e-30f / 16);
}

TEST_CASE("the best validation is kept in a file of its own") {
  const ScratchFolder folder;
  const std::filesystem::path best = folder / "best.safetensors";
  Setting setting;
  const FitResult result = fit(setting.trainer, setting.loader,
                               {.epochs = 12, .validation = setting.validation(), .best = best});
  Setting other;
  other.trainer.resume(best);
  other.predictor.copy_parameters(other.trainer);
  CHECK(evaluate(other.predictor, other.held_out)[0].value == result.best);
}

TEST_CASE("options that do not fit together are refused before anything is trained") {
  Setting setting;
  const auto said = [&](const FitOptions& options) {
    return message_of([&] { fit(setting.trainer, setting.loader, options); });
  };
  CHECK(said({.epochs = -1}) == "fit: the number of epochs is negative; give 0 or more");
  CHECK(said({.stop_early = PlateauOptions{}}) ==
        "fit: stop_early is given without a validation to judge by; give `validation` its "
        "predictor and loader");
  CHECK(said({.monitor = "accuracy"}) ==
        "fit: monitored loss 'accuracy' is unknown; the model's losses are 'xent'");
  CHECK(said({.stages = StageSchedule({{"warmup", 1000}}, {{"predict", 9}})}) ==
        "fit: the stage 'warmup' of the schedule is none of the model's; give HALFTONE_MODEL "
        "stages(...) with its name");
  CHECK(said({.validation = Validation{}}) ==
        "fit: the validation lacks its predictor or its loader; give both");
  CHECK(said({.save_every = 5}) ==
        "fit: save_every is given without a checkpoint; name the file in `checkpoint`");
  CHECK(said({.reduce_by = 2}) == "fit: reduce_by is 2; give a factor between 0 and 1");
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "own.safetensors";
  setting.trainer.save(file);
  CHECK(said({.checkpoint = file}).find("is a checkpoint that fit() did not write") !=
        std::string::npos);
  CHECK(setting.trainer.stats().steps == 0);
}

TEST_CASE("a plateau counts as torch's ReduceLROnPlateau") {
  Plateau plateau({.patience = 1, .least_progress = 0.5});
  const std::pair<double, bool> values[] = {{10, false},  {9.8, false}, {9.6, true},
                                            {9.4, false}, {9.4, false}, {9.4, true}};
  for (const auto& [value, ends] : values) CHECK(plateau.update(value) == ends);
  CHECK(plateau.best() == 9.4);
  Plateau other({.patience = 1, .least_progress = 0.5});
  other.restore(plateau.state());
  CHECK(other.best() == 9.4);
  CHECK(other.state() == plateau.state());
  CHECK_FALSE(other.update(std::nan("")));
  CHECK(other.update(9.3));
  CHECK_THROWS_AS(other.restore("soon"), Error);
  CHECK_THROWS_AS(Plateau({.patience = -1}), Error);
  Plateau accuracy({.patience = 0, .higher_is_better = true});
  CHECK_FALSE(accuracy.update(0.5));
  CHECK(accuracy.update(0.4));
}

}  // namespace halftone::tests
