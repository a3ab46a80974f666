// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <variant>

namespace halftone::reference {
namespace {

using namespace description;

void read(const std::monostate&, Settings&) {}
void read(const ParameterAttributes&, Settings&) {}  // of sources; the evaluator reads them
void read(const StateAttributes&, Settings&) {}

void read(const LayerNormAttributes& attributes, Settings& settings) {
  settings.numbers["epsilon"] = attributes.epsilon;
}

void read(const GeluAttributes& attributes, Settings& settings) {
  settings.words["approximation"] =
      attributes.approximation == GeluApproximation::tanh ? "tanh" : "erf";
}

void read(const PointwiseAttributes& attributes, Settings& settings) {
  settings.expression = attributes.expression;
}

}  // namespace

Settings settings_of(const Node& node) {
  Settings settings;
  std::visit([&](const auto& attributes) { read(attributes, settings); }, node.attributes);
  return settings;
}

}  // namespace halftone::reference
