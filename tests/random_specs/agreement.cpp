// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "../laws/pair.hpp"
#include "../laws/tested_variant.hpp"
#include "choices.hpp"

namespace halftone::tests {

namespace {

/// Keeps the first difference.
class Comparison {
 public:
  void same(const std::string& what, const std::string& name, std::span<const float> generated,
            std::span<const float> expected) {
    if (found_) return;
    const std::ptrdiff_t at = first_difference(generated, expected);
    if (at < 0) return;
    found_ = what + " of '" + name + "'";
    if (generated.size() != expected.size()) {
      *found_ += ": " + std::to_string(generated.size()) + " elements, the reference has " +
                 std::to_string(expected.size());
      return;
    }
    const auto index = static_cast<std::size_t>(at);
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "[%td]: %.9g (%a), the reference says %.9g (%a)", at,
                  generated[index], generated[index], expected[index], expected[index]);
    *found_ += numbers;
  }
  void same(const std::string& what, const std::string& name, float generated, float expected) {
    same(what, name, std::span(&generated, 1), std::span(&expected, 1));
  }

  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

 private:
  std::optional<std::string> found_;
};

class Agreement {
 public:
  Agreement(const description::Description& model, const manifest::ArtifactImage& image,
            const Run& run)
      : pair_(model, image, run.variant, run.batch, run.seed) {}

  void step(std::int64_t micro_batches);
  void predict();
  [[nodiscard]] const std::optional<std::string>& found() const { return comparison_.found(); }
  [[nodiscard]] std::size_t applied() const { return applied_; }

 private:
  void compare_forward(const reference::Forward<float>& expected);
  void compare_gradients(const reference::Gradients<float>& expected);
  void compare_state();

  Pair pair_;
  Comparison comparison_;
  std::size_t applied_ = 0;
};

void Agreement::compare_forward(const reference::Forward<float>& expected) {
  for (const auto& output : pair_.description.outputs) {
    comparison_.same("the output", output.name, pair_.trainer.output(output.name),
                     expected.values[static_cast<std::size_t>(output.node)]);
  }
  for (std::size_t i = 0; i < pair_.description.losses.size(); ++i) {
    const auto id = static_cast<std::size_t>(pair_.description.losses[i].node);
    const std::string& name = pair_.description.nodes[id].name;
    comparison_.same("the loss", name, pair_.trainer.loss(name), expected.losses[i]);
  }
}

void Agreement::compare_gradients(const reference::Gradients<float>& expected) {
  for (std::size_t id = pair_.description.nodes.size(); id-- > 0;) {
    const auto& node = pair_.description.nodes[id];
    if (description::wants_gradient(node)) {
      comparison_.same("the input gradient", node.name, pair_.trainer.input_gradient(node.name),
                       expected[id]);
    }
    const auto* attributes = std::get_if<description::ParameterAttributes>(&node.attributes);
    if (attributes == nullptr || attributes->frozen) continue;
    comparison_.same("the gradient", node.name, pair_.trainer.gradient(node.name), expected[id]);
  }
}

void Agreement::compare_state() {
  for (const auto& [name, values] : pair_.state.parameters) {
    comparison_.same("the parameter", name, pair_.trainer.parameter(name), values);
  }
  for (const auto& [name, values] : pair_.state.averages) {
    comparison_.same("the average", name, pair_.trainer.average(name), values);
  }
  for (const std::string& name : pair_.trainer.state_names()) {
    comparison_.same("the state", name, pair_.trainer.state(name), pair_.state.states.at(name));
  }
}

/// M4, S2, S4
void Agreement::step(std::int64_t micro_batches) {
  reference::State<float> moving = pair_.state;
  reference::Gradients<float> sum;
  reference::Amaxes amaxes;
  for (std::int64_t i = 1; i <= micro_batches; ++i) {
    pair_.draw();
    const auto forward = pair_.reference.forward(moving, pair_.inputs);
    auto gradients = pair_.reference.backward(forward);
    reference::add_amaxes(amaxes, *forward.amaxes);
    sum = i == 1 ? std::move(gradients) : pair_.reference.accumulate(std::move(sum), gradients);
    moving.states = forward.states;
    ++moving.micro_batches;
    if (i < micro_batches) {
      pair_.trainer.accumulate(pair_.named_inputs());
    } else {
      pair_.trainer.step(pair_.named_inputs());
    }
    compare_forward(forward);
  }
  auto expected = pair_.reference.update(pair_.state, sum, {}, micro_batches);
  if (expected.finite) expected.state.states = std::move(moving.states);
  reference::move_delayed(amaxes, pair_.state.ended, expected.state.delayed);
  pair_.state = std::move(expected.state);
  const Statistics stats = pair_.trainer.stats();
  compare_gradients(sum);
  comparison_.same("the norm", "all gradients", stats.grad_norm, expected.norm);
  applied_ += expected.finite ? 1 : 0;
  comparison_.same("whether it was applied", "the update",
                   static_cast<float>(pair_.trainer.updated()),
                   static_cast<float>(expected.finite));
  comparison_.same("the loss scale", "the next step", stats.loss_scale, pair_.state.scaling.scale);
  compare_state();
}

void Agreement::predict() {
  if (pair_.description.outputs.empty()) return;  // no program for inference is made
  Predictor predictor(pair_.artifact, pair_.device, pair_.setup(2));
  predictor.copy_parameters(pair_.trainer);
  predictor.copy_states(pair_.trainer);
  pair_.draw();
  const auto expected = pair_.reference.predict(pair_.state, pair_.inputs);
  std::vector<NamedValues> needed;
  for (const auto& program : pair_.artifact.manifest().programs) {
    if (program.name != "inference") continue;
    for (const NamedValues& input : pair_.named_inputs()) {
      const bool reads = std::ranges::any_of(
          program.buffers, [&](const auto& buffer) { return buffer.name == input.name; });
      if (reads) needed.push_back(input);
    }
  }
  predictor.evaluate(needed);
  for (const auto& output : pair_.description.outputs) {
    comparison_.same("the predicted output", output.name, predictor.output(output.name),
                     expected.values[static_cast<std::size_t>(output.node)]);
  }
  for (std::size_t i = 0; i < pair_.description.losses.size(); ++i) {
    const auto id = static_cast<std::size_t>(pair_.description.losses[i].node);
    const std::string& name = pair_.description.nodes[id].name;
    comparison_.same("the predicted loss", name, predictor.loss(name), expected.losses[i]);
  }
}

}  // namespace

Run random_run(std::uint64_t seed) {
  Choices choices(seed ^ 0x5eed);
  Run run;
  run.seed = seed;
  static const bool has_avx512 = [] {
    try {
      (void)Device::cpu("x86-64-v4");
      return true;
    } catch (const Error&) {
      return false;
    }
  }();
  std::vector<std::string> variants = tested_variants();
  if (has_avx512) variants.push_back("x86-64-v4");
  run.variant = choices.one_of(variants);
  static constexpr std::int64_t kBatches[] = {1, 3, 5, 5, 37};
  run.batch = choices.one_of(kBatches);
  for (std::int64_t steps = choices.between(2, 3); steps > 0; --steps) {
    run.micro_batches.push_back(choices.happens(30) ? choices.between(2, 3) : 1);
  }
  run.optimize = choices.happens(15);
  return run;
}

std::optional<std::string> first_disagreement(const description::Description& model,
                                              const manifest::ArtifactImage& image, const Run& run,
                                              const std::function<void(const std::string&)>& at) {
  at("the first values");
  Agreement agreement(model, image, run);
  for (std::size_t step = 0; step < run.micro_batches.size(); ++step) {
    at("step " + std::to_string(step));
    agreement.step(run.micro_batches[step]);
    if (agreement.found()) return "in step " + std::to_string(step) + " " + *agreement.found();
  }
  at("the predictor");
  agreement.predict();
  at(agreement.applied() == run.micro_batches.size() ? kAllApplied : "the end");
  return agreement.found();
}

}  // namespace halftone::tests
