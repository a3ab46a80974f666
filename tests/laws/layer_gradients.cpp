// SPDX-License-Identifier: Apache-2.0
// What a run log says of the gradient of every layer, against the reference's gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/run_log.hpp"
#include "pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

class Keeper final : public RunSink {
 public:
  Keeper(RunFacts& facts, LogEntry& entry) : facts_(facts), entry_(entry) {}
  void begin(const RunFacts& facts) override { facts_ = facts; }
  void write(const LogEntry& entry) override { entry_ = entry; }

 private:
  RunFacts& facts_;
  LogEntry& entry_;
};

/// By layer, of the mean of so many micro-batches.
std::map<std::string, double> expected_norms(const Pair& pair,
                                             const reference::Gradients<float>& sum,
                                             double loss_scale, int micro_batches) {
  std::map<std::string, double> squares;
  for (std::size_t id = 0; id < pair.description.nodes.size(); ++id) {
    const auto& node = pair.description.nodes[id];
    const auto* attributes = std::get_if<description::ParameterAttributes>(&node.attributes);
    if (attributes == nullptr || attributes->frozen) continue;
    double& square = squares[node.name.substr(0, node.name.rfind('.'))];
    for (const float value : sum[id]) square += std::pow(value / loss_scale / micro_batches, 2);
  }
  for (auto& [layer, square] : squares) square = std::sqrt(square);
  return squares;
}

struct Count {
  int updated = 0, skipped = 0;  ///< layers of such steps
};

/// A parameter that is NaN makes a step that is skipped.
void break_parameter(Pair& pair) {
  auto& [name, values] = *pair.state.parameters.begin();
  std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
  pair.trainer.set_parameter(name, values);
}

void compare(const LinkedArtifact& artifact, bool broken, Count& count) {
  constexpr int kMicroBatches = 3;
  CAPTURE(std::string(artifact.name));
  CAPTURE(broken);
  Pair pair(artifact.name, *artifact.image, tested_variant, 5);
  if (broken) break_parameter(pair);
  RunFacts facts;
  LogEntry entry;
  RunLog log(pair.trainer, {.every = 1, .layer_gradients = true});
  log.add(std::make_unique<Keeper>(facts, entry));
  reference::Gradients<float> sum;
  reference::State<float> moving = pair.state;
  for (int i = 0; i < kMicroBatches; ++i) {
    pair.draw();
    const auto forward = pair.reference.forward(moving, pair.inputs);
    auto gradients = pair.reference.backward(forward);
    sum = i == 0 ? std::move(gradients) : pair.reference.accumulate(std::move(sum), gradients);
    moving.states = forward.states;
    ++moving.micro_batches;
    if (i + 1 < kMicroBatches) {
      pair.trainer.accumulate(pair.named_inputs());
    } else {
      pair.trainer.step(pair.named_inputs());
    }
  }
  log.step(pair.trainer);
  auto expected = expected_norms(pair, sum, pair.state.scaling.scale, kMicroBatches);
  REQUIRE(facts.gradient_layers.size() == expected.size());
  REQUIRE(entry.layer_gradients.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string& layer = facts.gradient_layers[i];
    CAPTURE(layer);
    REQUIRE(expected.contains(layer));
    const std::optional<double>& norm = entry.layer_gradients[i];
    if (pair.trainer.updated()) {
      ++count.updated;
      REQUIRE(norm.has_value());
      CHECK(*norm == doctest::Approx(expected[layer]).epsilon(1e-5));
    } else {
      ++count.skipped;
      CHECK(norm.has_value() == !std::isfinite(expected[layer]));
    }
  }
}

}  // namespace

TEST_CASE("a log has the norm of every layer's gradient, without loss scale and micro-batches") {
  Count whole, broken;
  for (const LinkedArtifact& artifact : kArtifacts) {
    compare(artifact, false, whole);
    compare(artifact, true, broken);
  }
  CHECK(whole.updated > 100);
  CHECK(broken.skipped > 100);
}

}  // namespace halftone::tests
