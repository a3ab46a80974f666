// SPDX-License-Identifier: Apache-2.0
// What a trainer of the model of line_artifact.hpp and its files go through, in operations of which
// every call fails once: after each fault the operation is tried again, on what the fault left.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../bisect/made_up_variants.hpp"
#include "../files/scratch_folder.hpp"
#include "../generated_example.hpp"
#include "halftone/calibration.hpp"
#include "halftone/checkpoint.hpp"
#include "halftone/device.hpp"
#include "halftone/diagnosis.hpp"
#include "halftone/error.hpp"
#include "halftone/inspection.hpp"
#include "halftone/loader.hpp"
#include "halftone/npy.hpp"
#include "halftone/run_log.hpp"
#include "halftone/run_sinks.hpp"
#include "halftone/stages.hpp"
#include "halftone/value_statistics.hpp"

namespace halftone::tests {

/// One kind of fault, as arm() and disarm() of faults.hpp, or a driver's.
struct Injector {
  std::function<void(int at)> arm;
  std::function<bool()> disarm;
  std::function<std::string()> call;  ///< that failed
};

/// What became of the faults.
struct Outcomes {
  int refused = 0;   ///< an exception, and the operation could be tried again
  int harmless = 0;  ///< the operation succeeded
  int torn = 0;      ///< an exception, and the trainer said that it cannot go on
  std::vector<std::string> wrong = {};
};

/// "operation: object cause; hint", on one line.
inline bool is_sentence(std::string_view text) {
  return text.find(": ") != text.npos && text.find('\n') == text.npos && text.size() < 1000 &&
         text.find("  ") == text.npos;
}

class Life {
 public:
  using Floats = std::vector<float>;
  using Operation = std::pair<const char*, std::function<void()>>;
  /// What is done again from the first on, where the trainer must resume in the midst of it.
  using Group = std::vector<Operation>;

  explicit Life(std::function<Device()> device) : make_device_(std::move(device)) {
    write_file(scratch_ / "rows.csv", "a,b,c,y,z\n1,2,3,4,5\n6,7,8,9,10\n-1,-2,-3,-4,-5\n");
  }

  /// The same, whatever failed: what it left behind, and the bits of what it said on the way.
  [[nodiscard]] std::map<std::string, Floats> said() const { return said_; }

  /// Without faults where `injector` is null.
  Outcomes run(const Injector* injector) {
    Outcomes outcomes;
    for (const Group& group : groups()) {
      if (&group != &groups().front() && !trainer_) return outcomes;  // what is wrong is said
      if (trainer_) trainer_->save(scratch_ / "kept");
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (!injector) {
          group[i].second();
        } else {
          for (int at = 1; try_once(group, i, *injector, at, outcomes); ++at) continue;
        }
      }
    }
    return outcomes;
  }

 private:
  static constexpr std::int64_t kBatch = 5;
  using Trainer = models::line::Trainer;
  using Predictor = models::line::Predictor;

  struct Inputs {
    explicit Inputs(int step, std::int64_t rows = kBatch) {
      std::mt19937 random(static_cast<unsigned>(step) + 1);
      for (Floats* values : {&features, &target}) {
        values->resize(static_cast<std::size_t>(rows * (values == &features ? 3 : 2)));
        for (float& value : *values)
          value = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
      }
      if (step % 5 == 3) target[0] = INFINITY;  // so that the loss scale moves
    }
    Floats features, target;
  };

  /// False where nothing failed, and the operation is done.
  bool try_once(const Group& group, std::size_t i, const Injector& injector, int at,
                Outcomes& outcomes) {
    const std::string checkpoint = bytes_of_file(scratch_ / "run");
    std::optional<std::string> refusal;
    injector.arm(at);
    try {
      group[i].second();
    } catch (const Error& error) {
      (void)injector.disarm();
      refusal = error.what();
    } catch (const std::bad_alloc& error) {
      (void)injector.disarm();
      refusal = "a: std::bad_alloc";
    } catch (const std::exception& error) {
      (void)injector.disarm();
      refusal = std::string("an exception of another type\n") + error.what();
    }
    const bool failed = injector.disarm();
    const auto wrong = [&](const std::string& what) {
      outcomes.wrong.push_back(std::string(group[i].first) + ", call " + std::to_string(at) + " (" +
                               (failed ? injector.call() : "none") + "): " + what);
    };
    if (refusal && !is_sentence(*refusal)) wrong("is refused in '" + *refusal + "'");
    require_whole_file(checkpoint, wrong);
    if (!failed && refusal) wrong("is refused though nothing fails: " + *refusal);
    if (!failed) return false;
    if (!refusal) {
      ++outcomes.harmless;
    } else if (!is_torn(wrong)) {
      ++outcomes.refused;
      return true;
    } else {
      ++outcomes.torn;
    }
    // As if the operation had never been tried.
    if (trainer_ && &group != &groups().front()) trainer_->resume(scratch_ / "kept");
    for (std::size_t before = 0; before < i; ++before) group[before].second();
    return true;
  }

  /// After a fault the checkpoint is that of before, or the new one, as a whole.
  void require_whole_file(const std::string& before,
                          const std::function<void(const std::string&)>& wrong) {
    const std::string file = scratch_ / "run";
    if (bytes_of_file(file) == before) return;
    try {
      Trainer(models::line::artifact(), Device::cpu(), {.batch = 1}).resume(file);
    } catch (const Error& error) {
      wrong(std::string("left a checkpoint that is refused: ") + error.what());
    }
  }

  /// Whether the trainer was left between two steps, as it says itself, and all that would go on
  /// from there refuses.
  bool is_torn(const std::function<void(const std::string&)>& wrong) {
    if (!trainer_) return false;
    const auto refuses = [&](const std::function<void()>& call) {
      try {
        call();
      } catch (const Error& error) {
        return error.cause() == "was left between two steps by a call that failed";
      }
      return false;
    };
    const bool torn = refuses([&] { trainer_->save(scratch_ / "torn"); });
    if (!torn) return false;
    const Inputs inputs(0);
    if (!refuses([&] { trainer_->step(inputs.features, inputs.target); }) ||
        !refuses([&] { trainer_->accumulate(inputs.features, inputs.target); }) ||
        !refuses([&] { trainer_->forward(inputs.features); }) ||
        !refuses([&] { (void)trainer_->check(); }) || !refuses([&] { trainer_->update(); })) {
      wrong("left the trainer between two steps, and it goes on");
    }
    return true;
  }

  void say(const char* name, std::span<const float> values) {
    said_[name] = Floats(values.begin(), values.end());
  }

  Operation step(int number, std::int64_t rows = kBatch) {
    return {"step", [this, number, rows] {
              const Inputs inputs(number, rows);
              trainer_->step(inputs.features, inputs.target);
            }};
  }
  Operation accumulate(int number) {
    return {"accumulate", [this, number] {
              const Inputs inputs(number);
              trainer_->accumulate(inputs.features, inputs.target);
            }};
  }
  Operation pass(int number) {
    return {"forward and backward", [this, number] {
              const Inputs inputs(number);
              trainer_->forward(inputs.features, inputs.target);
              trainer_->backward();
            }};
  }

  const std::vector<Group>& groups() {
    if (!groups_.empty()) return groups_;
    groups_.push_back({{"make", [this] {
                          device_ = make_device_();
                          trainer_.emplace(*device_,
                                           models::line::Options{.batch = kBatch, .seed = 3});
                        }}});
    for (int number = 0; number < 5; ++number) groups_.push_back({step(number)});
    groups_.push_back({accumulate(5), accumulate(6), step(7)});
    groups_.push_back({step(8, 3)});
    groups_.push_back({step(9)});
    groups_.push_back({pass(10),
                       {"check", [this] { said_["finite"] = {trainer_->check() ? 1.0f : 0.0f}; }},
                       {"update", [this] { trainer_->update(); }}});
    groups_.push_back({pass(11),
                       {"accumulate_gradients", [this] { trainer_->accumulate_gradients(); }},
                       pass(12),
                       {"check", [this] { (void)trainer_->check(); }},
                       {"update", [this] { trainer_->update(); }}});
    groups_.push_back({{"set",
                        [this] {
                          trainer_->set_parameter("fc.bias", Floats{0.5f, -0.25f});
                          trainer_->set_learning_rate(0.125f);
                        }},
                       step(14)});
    add_files();
    add_others();
    add_bisect();
    groups_.push_back({step(16), {"values", [this] { show(*trainer_, "at the end"); }}});
    return groups_;
  }

  void show(Trainer& trainer, const char* name) {
    Floats values;
    for (const std::string& parameter : trainer.parameter_names())
      for (const float value : trainer.parameter(parameter)) values.push_back(value);
    const Statistics stats = trainer.stats();
    for (const float value :
         {stats.loss_scale, trainer.learning_rate(), static_cast<float>(stats.steps),
          static_cast<float>(stats.skipped_steps), stats.grad_norm, trainer.loss("error"),
          trainer.updated() ? 1.0f : 0.0f})
      values.push_back(value);
    for (const float value : trainer.output("prediction")) values.push_back(value);
    say(name, values);
  }

  void add_files() {
    groups_.push_back({{"save", [this] { trainer_->save(scratch_ / "run", {.keep = 2}); }},
                       {"save in the background", [this] {
                          trainer_->save(scratch_ / "run", {.keep = 2, .background = true});
                          trainer_->finish_saving();
                        }}});
    groups_.push_back({{"resume", [this] {
                          Trainer other(*device_, {.batch = kBatch, .seed = 8});
                          const Resumed resumed = other.resume(scratch_ / "run");
                          said_["resumed"] = {static_cast<float>(resumed.steps)};
                          const Inputs inputs(20);
                          other.step(inputs.features, inputs.target);
                          show(other, "after resuming");
                        }}});
    groups_.push_back(
        {{"save_weights",
          [this] { trainer_->save_weights(scratch_ / "weights", {.as = WeightType::f16}); }},
         {"predict", [this] {
            Predictor predictor(*device_, {.batch = 4});
            predictor.load_weights(scratch_ / "weights");
            const Inputs inputs(21, 4);
            say("predicted by weights", predictor.predict(inputs.features).prediction);
            predictor.copy_parameters(*trainer_);
            say("predicted", predictor.predict(inputs.features).prediction);
          }}});
  }

  void add_others() {
    groups_.push_back(
        {step(13),
         {"diagnose", [this] { said_["found"] = {trainer_->diagnose() ? 1.0f : 0.0f}; }},
         {"inspect",
          [this] {
            Floats sizes;
            trainer_->inspect([&](const InspectedValue& value) {
              sizes.push_back(static_cast<float>(value.layer.size()));
            });
            say("inspected", sizes);
          }},
         {"calibrate",
          [this] {
            Calibration calibration;
            calibration.add(*trainer_);
            Floats squares;
            for (const std::string& name : calibration.parameter_names())
              for (const double each : calibration.squares(name))
                squares.push_back(static_cast<float>(each));
            say("calibrated", squares);
          }},
         {"sample values", [this] {
            Floats elements;
            for (const ValueStatistics& value : sample_values(*trainer_).values)
              elements.push_back(static_cast<float>(value.elements));
            say("sampled", elements);
          }}});
    groups_.push_back({{"log", [this] {
                          RunLog log(*trainer_, {.layer_gradients = true});
                          log.add(json_lines(scratch_ / "run.jsonl", IfExists::replace));
                          log.add(tensorboard_events(scratch_ / std::to_string(++folders_)));
                          log.add(prometheus_text(scratch_ / "run.prom"));
                          log.step(*trainer_, {{"validation", 0.5}});
                          log.values({.step = 1, .values = {{.layer = "fc", .elements = 2}}});
                          log.switched({.step = 1, .from = "a", .to = "b", .why = "so"});
                          log.picture({.step = 1, .name = "seen", .file = scratch_ / "run.jsonl"});
                          log.finish(*trainer_);
                        }}});
    groups_.push_back({{"read rows", [this] {
                          const auto rows =
                              Dataset::csv(scratch_ / "rows.csv",
                                           {{.input = "features", .columns = {{"a", "c"}}},
                                            {.input = "target", .columns = {{"y", "z"}}}});
                          say_all("rows", Loader(rows, {.batch = 2, .seed = 1, .threads = 2}));
                        }}});
    groups_.push_back(
        {{"arrays and mapped files", [this] {
            save_npy(scratch_ / "a.npy", Floats{1, 2, 3, 4, 5, 6},
                     std::array<std::int64_t, 2>{2, 3});
            say("array", load_npy(scratch_ / "a.npy").floats());
            const auto rows =
                Dataset::npy({{.input = "features", .file = scratch_ / "a.npy"}})
                    .joined(Dataset::safetensors(scratch_ / "weights",
                                                 {{.input = "target", .tensor = "fc.weight"}}));
            say_all("mapped", Loader(rows, {.batch = 2, .shuffle = false}));
          }}});
  }

  /// The search for a rule to blame, of losses that are made up, with its text and its file.
  void add_bisect() {
    groups_.push_back(
        {{"bisect", [this] {
            const RuleList rules = {"everywhere : store bf16 compute bf16",
                                    "where layer \"fc\" : compute f16", "everywhere : master f32"};
            MadeUpVariants variants;
            variants.layer_names = {"fc"};
            variants.harm = [&](const RuleList& of) { return has_rule(of, rules[1]) ? 1.0 : 0.0; };
            const BisectResult result =
                search_rules(rules, {.seeds = 2, .most_seeds = 2, .check_seeds = 2}, variants);
            halftone::save(result, scratch_ / "bisect.json");
            said_["size of what bisect says"] = {static_cast<float>(text_of(result).size())};
            said_["blamed"] = {
                result.blamed.empty() ? 0.0f : static_cast<float>(result.blamed.front().number),
                static_cast<float>(result.reference_loss)};
          }}});
  }

  /// An epoch.
  void say_all(const char* name, Loader loader) {
    Floats values;
    while (const auto batch = loader.next())
      for (const NamedValues& input : batch->inputs)
        for (const float value : std::get<std::span<const float>>(input.values))
          values.push_back(value);
    say(name, values);
  }

  const std::function<Device()> make_device_;
  const ScratchFolder scratch_;
  int folders_ = 0;  ///< of events: a file more in each would be a call more each time
  std::optional<Device> device_;
  std::optional<Trainer> trainer_;
  std::map<std::string, Floats> said_;
  std::vector<Group> groups_;
};

/// The first that was said in other bits, or not at all: "predicted 3: 0.5 is not 0.25"; empty
/// where both said the same.
inline std::string difference(const std::map<std::string, Life::Floats>& a,
                              const std::map<std::string, Life::Floats>& b) {
  if (a.size() != b.size()) return "the number of things said";
  for (const auto& [name, values] : a) {
    const auto found = b.find(name);
    if (found == b.end() || found->second.size() != values.size()) return name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float x = values[i], y = found->second[i];
      if (std::memcmp(&x, &y, sizeof x) == 0) continue;
      return name + " " + std::to_string(i) + ": " + std::to_string(x) + " is not " +
             std::to_string(y);
    }
  }
  return {};
}

}  // namespace halftone::tests
