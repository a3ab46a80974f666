// SPDX-License-Identifier: Apache-2.0
// The reference's declared evaluation of a model of tests/support/scaler/models, whole steps with
// micro-batches, as a loss scale under test.
#pragma once

#include <optional>
#include <utility>

#include "halftone/reference/evaluator.hpp"
#include "models.hpp"

namespace halftone::tests {

class ReferenceScaler final : public ScalerUnderTest {
 public:
  /// `model` has a dynamic loss scale in its last rule, which every schedule replaces; a model
  /// without one keeps what it has.
  explicit ReferenceScaler(description::Description model) : model_(std::move(model)) {}

  void reset(const ScheduleSettings& settings) override {
    micro_batches_ = settings.micro_batches;
    if (model_.rules.back().loss_scale) apply(settings, model_);
    evaluator_.emplace(model_, reference::Symbols{{"batch", 1}});
    const std::vector<float> ones(kElements, 1.0f);
    state_ = evaluator_->initial_state({{"a.weight", ones}, {"b.weight", ones}});
  }

  Outcome step(const StepEvents& events) override {
    reference::Gradients<float> sum;
    for (std::size_t i = 0; i < events.gradients.size(); ++i) {
      const reference::Inputs<float> inputs{
          .values = {{"xa", input_of(events, i, 0)}, {"xb", input_of(events, i, 1)}},
          .integers = {}};
      auto next = evaluator_->backward(evaluator_->forward(state_, inputs));
      sum = i == 0 ? std::move(next) : evaluator_->accumulate(std::move(sum), next);
    }
    const auto result = evaluator_->update(state_, sum, std::nullopt, micro_batches_);
    state_ = result.state;
    const reference::Scaling& scaling = state_.scaling;
    return {.scale = scaling.scale,
            .clean = static_cast<int>(scaling.clean),
            .skipped = !result.finite,
            .wait = static_cast<int>(scaling.wait),
            .floored = static_cast<int>(scaling.floored)};
  }

  [[nodiscard]] const reference::State<float>& state() const { return state_; }

 private:
  description::Description model_;
  std::int64_t micro_batches_ = 1;
  std::optional<reference::Declared> evaluator_;
  reference::State<float> state_;
};

}  // namespace halftone::tests
