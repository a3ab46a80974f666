// SPDX-License-Identifier: Apache-2.0
// A forecaster that begins with gradients in 8 bits and takes bf16 for the layers whose gradients
// lose too much there, beside one that stays in 8 bits and one that is in bf16 from the first step.
// The log of a run that decided repeats it without looking at a value.
//   forecast_adapt [FILE.csv [LOG.jsonl]]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <forecast_adaptive_model.hpp>
#include <halftone/adaptation.hpp>
#include <halftone/fit.hpp>
#include <halftone/run_sinks.hpp>
#include <memory>
#include <optional>
#include <string>

namespace {

namespace m = models::forecast_adaptive;

constexpr std::int64_t kPast = 22, kTrainingYears = 220, kEpochs = 200, kBatch = 32;
constexpr std::uint64_t kSeeds = 20;
constexpr double kMostLost = 0.25;  ///< of a layer's gradients, that become 0

/// Whichever of both parts loses too much leaves 8 bits, and the other one after it.
halftone::AdaptationOptions moves() {
  const auto move = [](const char* from, const char* to, const char* layers) {
    return halftone::StageMove{
        .from = from, .to = to, .layers = layers, .most_flushed = kMostLost, .windows = 2};
  };
  return {.moves = {move("f8", "head_bf16", "head"), move("f8", "others_bf16", "fc*"),
                    move("head_bf16", "bf16", "fc*"), move("others_bf16", "bf16", "head")},
          .window = 10};
}

/// Says which stages a run enters, and why.
class Moves final : public halftone::RunSink {
 public:
  void begin(const halftone::RunFacts&) override {}
  void write(const halftone::LogEntry&) override {}
  void switched(const halftone::StageSwitch& taken) override {
    std::printf("  after step %lld from %s to %s: %s\n", static_cast<long long>(taken.step),
                taken.from.c_str(), taken.to.c_str(), taken.why.c_str());
  }
};

struct Run {
  std::uint64_t seed = 1;
  std::string stage;  ///< that it begins in
  bool adapts = false;
  std::optional<halftone::StageSchedule> stages = {};
  std::string log = {};
};

/// Mean squared errors of the years up to 1941, which it learns from, and of those after.
struct Errors {
  double learned = 0.0, later = 0.0;

  void add(const Errors& other, double weight) {
    learned += weight * other.learned;
    later += weight * other.later;
  }
  bool operator==(const Errors&) const = default;
};

Errors train(const halftone::Device& device, const halftone::Dataset& years, const Run& run) {
  halftone::Loader training(years.slice(0, kTrainingYears), {.batch = kBatch, .seed = run.seed});
  halftone::Loader learned(years.slice(0, kTrainingYears), {.batch = kBatch, .shuffle = false});
  halftone::Loader later(years.slice(kTrainingYears, years.rows() - kTrainingYears),
                         {.batch = kBatch, .shuffle = false});
  m::Trainer trainer(device, {.batch = kBatch, .seed = run.seed, .stage = run.stage});
  m::Predictor predictor(device, {.batch = kBatch});
  halftone::Adaptation adaptation(moves());
  halftone::RunLog log(trainer, {.every = 50});
  if (run.seed == 1 && run.adapts) log.add(std::make_unique<Moves>());
  if (!run.log.empty()) log.add(halftone::json_lines(run.log, halftone::IfExists::replace));
  const auto result = halftone::fit(trainer, training,
                                    {.epochs = kEpochs,
                                     .validation = halftone::Validation{&predictor, &later},
                                     .stages = run.stages,
                                     .chooser = run.adapts ? &adaptation : nullptr,
                                     .log = &log});
  log.finish(trainer);
  const double error = halftone::evaluate(predictor, learned)[0].value;
  return {.learned = error, .later = result.metrics[0].value};
}

}  // namespace

int main(int count, char** values) try {
  const std::string log = count > 2 ? values[2] : "forecast_adapt.jsonl";
  const auto years =
      halftone::Dataset::csv(
          count > 1 ? values[1] : SUNSPOTS_CSV,
          {{.input = "sunspots", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}})
          .windows({"sunspots", "past", "next", kPast});
  const auto device = halftone::Device::best(m::artifact());
  std::printf("moves of the first seed, where more than %.0f %% of a layer's gradients become 0:\n",
              100 * kMostLost);
  Errors f8, adapted, bf16, first;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Errors errors = train(
        device, years,
        {.seed = seed, .stage = "f8", .adapts = true, .log = seed == 1 ? log : std::string()});
    if (seed == 1) first = errors;
    adapted.add(errors, 1.0 / kSeeds);
    f8.add(train(device, years, {.seed = seed, .stage = "f8"}), 1.0 / kSeeds);
    bf16.add(train(device, years, {.seed = seed, .stage = "bf16"}), 1.0 / kSeeds);
  }
  std::printf("mean squared error, mean of %llu seeds    up to 1941, learned   from 1942 on\n",
              static_cast<unsigned long long>(kSeeds));
  const auto print = [](const char* name, const Errors& errors) {
    std::printf("  %-36s  %20.4f %14.4f\n", name, errors.learned, errors.later);
  };
  print("gradients in 8 bits", f8);
  print("adapted", adapted);
  print("gradients in bf16", bf16);
  const Errors again =
      train(device, years, {.seed = 1, .stage = "f8", .stages = halftone::stages_of_log(log)});
  std::printf("by the stages of its log the first run has %s\n",
              again == first ? "the same errors, to the last bit" : "other errors");
  return again == first ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
