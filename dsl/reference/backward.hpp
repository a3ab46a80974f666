// SPDX-License-Identifier: Apache-2.0
// How gradients meet and what they are rounded to: P34 to P36.
#pragma once

#include <string>
#include <utility>

#include "operation.hpp"

namespace halftone::reference {

/// One backward pass: starts first, then finish().
template <class Scalar>
class Backward {
 public:
  Backward(const description::Description& model, const Resolution& rules, const Symbols& symbols,
           const Forward<Scalar>& forward)
      : model_(model),
        rules_(rules),
        symbols_(symbols),
        forward_(forward),
        gradients_(model.nodes.size()) {}

  /// A caller's gradient of an output, without the loss scale (P36).
  void start_from_output(description::NodeId node, Values<Scalar> gradient) {
    for (Scalar& e : gradient) e = static_cast<Scalar>(forward_.scale) * e;
    arrive(node, std::move(gradient), node);
  }

  /// L1; the loss divides by its count. Nothing starts from a metric (D6).
  void start_from_loss(const description::Loss& loss) {
    if (is_metric(loss)) return;
    const Scalar weight = static_cast<Scalar>(loss.weight);
    arrive(loss.node, {weight * static_cast<Scalar>(forward_.scale)}, loss.node);
  }

  /// Losses hand their gradients on first, then layers, each from the last to the first.
  [[nodiscard]] Gradients<Scalar> finish() && {
    for (const bool losses : {true, false}) {
      for (std::size_t at = model_.nodes.size(); at-- > 0;) {
        const description::Node& node = model_.nodes[at];
        if (is_source(node) || is_loss(node) != losses || gradients_[at].empty()) continue;
        hand_on(static_cast<description::NodeId>(at));
      }
    }
    return std::move(gradients_);
  }

 private:
  void hand_on(description::NodeId id) {
    using description::Pass;
    const Operation<Scalar> operation(model_, rules_, symbols_, forward_, id);
    for (const Pass pass : {Pass::input_gradient, Pass::weight_gradient}) {
      OperandGradients<Scalar> contributions = operation.gradients(pass, gradients_[id]);
      for (std::size_t i = 0; i < contributions.size(); ++i) {
        if (contributions[i].empty()) continue;
        arrive(model_.nodes[id].operands[i].node, std::move(contributions[i]), id);
      }
    }
  }

  /// The first contribution is taken as it is, later ones are added to what is there; each and
  /// every sum is rounded to what the gradient is stored in (P34). A parameter's is f32 (P35). The
  /// contribution is that of node `from`.
  void arrive(description::NodeId id, Values<Scalar> contribution, description::NodeId from) {
    const std::string of = model_.nodes[id].name, by = model_.nodes[from].name;
    const RoundTo store =
        is_layer(model_.nodes[id]) ? rules_.store(id, description::Role::gradient) : RoundTo{};
    Values<Scalar>& gradient = gradients_[id];
    contribution = rounded(store, std::move(contribution), forward_.draws, of + " gradient " + by);
    if (gradient.empty()) {
      gradient = std::move(contribution);
      return;
    }
    for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] = gradient[e] + contribution[e];
    gradient = rounded(store, std::move(gradient), forward_.draws, of + " sum " + by);
  }

  const description::Description& model_;
  const Resolution& rules_;
  const Symbols& symbols_;
  const Forward<Scalar>& forward_;
  Gradients<Scalar> gradients_;
};

}  // namespace halftone::reference
