// SPDX-License-Identifier: Apache-2.0
// Which formula belongs to which kind of node.
#pragma once

#include <stdexcept>
#include <string>

#include "activations.hpp"
#include "joins.hpp"
#include "layer.hpp"
#include "layer_norm.hpp"
#include "linear.hpp"
#include "losses.hpp"
#include "pointwise.hpp"

namespace halftone::reference {

template <class Scalar>
Values<Scalar> apply(const Layer<Scalar>& layer) {
  using description::Kind;
  switch (layer.node.kind) {
    case Kind::linear: return linear(layer);
    case Kind::layer_norm: return layer_norm(layer);
    case Kind::relu: return elementwise(layer, relu<Scalar>);
    case Kind::gelu:
      return elementwise(layer, is_tanh_gelu(layer) ? gelu_tanh<Scalar> : gelu_erf<Scalar>);
    case Kind::silu: return elementwise(layer, silu<Scalar>);
    case Kind::add: return add(layer);
    case Kind::concat: return concat(layer);
    case Kind::pointwise: return pointwise(layer);
    case Kind::cross_entropy: return cross_entropy(layer);
    case Kind::mse: return mse(layer);
    case Kind::pointwise_loss: return pointwise_loss(layer);
    case Kind::input:
    case Kind::parameter:
    case Kind::state: break;
  }
  throw std::invalid_argument("node \"" + layer.node.name +
                              "\" has no formula; add its kind to dsl/reference");
}

template <class Scalar>
OperandGradients<Scalar> apply_gradient(const Layer<Scalar>& layer, View<Scalar> g) {
  using description::Kind;
  switch (layer.node.kind) {
    case Kind::linear: return linear_gradient(layer, g);
    case Kind::layer_norm: return layer_norm_gradient(layer, g);
    case Kind::relu: return relu_gradient(layer, g);
    case Kind::gelu:
      return elementwise_gradient(
          layer, g, is_tanh_gelu(layer) ? gelu_tanh_gradient<Scalar> : gelu_erf_gradient<Scalar>);
    case Kind::silu: return elementwise_gradient(layer, g, silu_gradient<Scalar>);
    case Kind::add: return add_gradient<Scalar>(g);
    case Kind::concat: return concat_gradient(layer, g);
    case Kind::pointwise: return pointwise_gradient(layer, [g](std::size_t e) { return g[e]; });
    case Kind::cross_entropy: return cross_entropy_gradient(layer, g[0]);
    case Kind::mse: return mse_gradient(layer, g[0]);
    case Kind::pointwise_loss: return pointwise_loss_gradient(layer, g[0]);
    case Kind::input:
    case Kind::parameter:
    case Kind::state: break;
  }
  throw std::invalid_argument("node \"" + layer.node.name +
                              "\" has no gradient; add its kind to dsl/reference");
}

}  // namespace halftone::reference
