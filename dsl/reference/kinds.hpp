// SPDX-License-Identifier: Apache-2.0
// From a kind's word to its formulas.
#pragma once

#include <stdexcept>
#include <string>

#include "layers.hpp"

namespace halftone::reference {

template <class Visit>
void with_kind(std::string_view word, Visit visit) {
  if (Layers::visit(word, visit)) return;
  throw std::invalid_argument("kind \"" + std::string(word) +
                              "\" has no formula; list it in dsl/reference/layers.hpp");
}

template <class Scalar>
Values<Scalar> result_of(std::string_view word, const Layer<Scalar>& layer) {
  Values<Scalar> result;
  with_kind(word, [&](auto kind) { result = kind.result(layer); });
  return result;
}

/// D17: of a kind that keeps states, what they are after a training pass; of others nothing.
template <class Scalar>
std::vector<Values<Scalar>> moved_by(std::string_view word, const Layer<Scalar>& layer) {
  std::vector<Values<Scalar>> moved;
  with_kind(word, [&](auto kind) {
    if constexpr (kind.kept_states.size() > 0) moved = kind.moved(layer);
  });
  return moved;
}

template <class Scalar>
OperandGradients<Scalar> gradients_of(std::string_view word, const Layer<Scalar>& layer,
                                      View<Scalar> g) {
  OperandGradients<Scalar> gradients;
  with_kind(word, [&](auto kind) { gradients = kind.gradients(layer, g); });
  return gradients;
}

}  // namespace halftone::reference
