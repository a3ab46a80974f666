// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "../text.hpp"
#include "halftone/bisect.hpp"
#include "halftone/error.hpp"
#include "halftone/loader.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/trainer.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "train_on",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

std::int64_t rows_of(const VariantTraining& training) {
  for (const auto& [symbol, size] : training.sizes)
    if (symbol == "batch") return size;
  refuse("the sizes", "have none of 'batch'", "say how many rows a step takes: {\"batch\", 64}");
}

void require_sound(const VariantTraining& training) {
  (void)rows_of(training);
  if (training.steps < 1)
    refuse("the number of steps", "is " + std::to_string(training.steps), "give 1 or more");
  if (!(training.last > 0 && training.last <= 1))
    refuse("the share of last steps", "is " + number_text(training.last),
           "give one above 0 and at most 1");
}

/// The schedule's are the model's.
void require_stages(const VariantTraining& training, const std::vector<std::string>& declared) {
  if (!training.stages) {
    if (declared.empty()) return;
    refuse("the model", "has stages, of which this training would be in the first alone",
           "say when it is in which: .stages, --stages " + declared.front() + "=100,...");
  }
  for (const std::string& stage : training.stages->stages()) {
    if (std::ranges::find(declared, stage) != declared.end()) continue;
    refuse(named("stage", stage),
           declared.empty() ? "is none of the model, which declares none"
                            : "is none of the model's, which are " + listed(declared),
           "name a stage of the model, or leave the schedule out where it has none");
  }
}

/// One run.
class Training {
 public:
  Training(const VariantTraining& training, const Artifact& variant, std::uint64_t seed)
      : training_(training),
        trainer_(variant, training.device, {.model = {}, .bindings = bindings_, .seed = seed}),
        loader_(training.data, {.batch = rows_of(training), .seed = seed}),
        loss_(training.loss.empty() ? trainer_.loss_names().front() : training.loss) {}

  VariantRun run() {
    for (std::int64_t step = 1; step <= training_.steps; ++step) {
      if (training_.stages) trainer_.enter(training_.stages->at(step - 1));
      if (!take_step()) return failed();
      const double loss = trainer_.loss(loss_);
      run_.curve.push_back({step, loss});
      if (step == 1) run_.values = values();
      if (!std::isfinite(loss) && !was_finite_) continue;
      was_finite_ = std::isfinite(loss);
      if (!was_finite_) require_fitting_data();
    }
    const auto counted = static_cast<std::size_t>(
        std::max(1.0, std::round(training_.last * static_cast<double>(training_.steps))));
    double sum = 0.0;
    for (const LossPoint& point : std::span(run_.curve).last(counted)) sum += point.loss;
    run_.loss = sum / static_cast<double>(counted);
    if (std::isfinite(run_.loss)) run_.values = values();
    return std::move(run_);
  }

 private:
  static std::vector<Binding> bindings_of(const VariantTraining& training) {
    std::vector<Binding> bindings;
    for (const auto& [symbol, size] : training.sizes) bindings.push_back({symbol, size});
    return bindings;
  }

  /// False where the loss scale has been at its floor for too long.
  bool take_step() {
    auto batch = loader_.next();
    if (!batch) batch = loader_.next();  // of the next epoch
    try {
      trainer_.step(batch->inputs);
    } catch (const Error&) {
      if (trainer_.stats().floored == 0) throw;
      return false;
    }
    return true;
  }

  /// Of a step whose loss is not finite: no rules are to blame where what it was given is not.
  void require_fitting_data() const {
    std::optional<NonFinite> found;
    try {
      found = trainer_.diagnose();
    } catch (const Error&) {
      return;  // nobody knows
    }
    if (!found || found->pass != "none") return;
    if (found->op == "input") {
      refuse("the data", "are not finite: " + found->text(), "mend such rows, or leave them out");
    }
    if (found->op == "label" || found->op == "token")
      refuse("the data", "do not fit the model: " + found->text(), "mend them");
  }

  VariantRun failed() {
    run_.loss = std::numeric_limits<double>::infinity();
    return std::move(run_);
  }

  std::vector<ValueStatistics> values() {
    if (!training_.values) return {};
    return value_statistics(trainer_);
  }

  const VariantTraining& training_;
  std::vector<Binding> bindings_ = bindings_of(training_);
  Trainer trainer_;
  Loader loader_;
  std::string loss_;
  VariantRun run_{0.0};
  bool was_finite_ = true;  ///< the loss of the step before
};

}  // namespace

TrainVariant train_on(const VariantTraining& training) {
  require_sound(training);
  return [training](const Artifact& variant, std::uint64_t seed) {
    require_stages(training, variant.manifest().stages);
    return Training(training, variant, seed).run();
  };
}

}  // namespace halftone
