// SPDX-License-Identifier: Apache-2.0
// add and concat: D26, D27, D45 and D46.
#pragma once

#include <algorithm>
#include <numeric>

#include "layer.hpp"

namespace halftone::reference {

// D26
template <class Scalar>
Values<Scalar> add(const Layer<Scalar>& layer) {
  const View<Scalar> a = layer["a"], b = layer["b"];
  Values<Scalar> y(a.size());
  for (std::size_t e = 0; e < a.size(); ++e) y[e] = a[e] + b[e];
  return y;
}

// D45
template <class Scalar>
OperandGradients<Scalar> add_gradient(View<Scalar> g) {
  const Values<Scalar> both(g.begin(), g.end());
  return {both, both};
}

// Calls visit(part, offset of its row, offset of the row's place in the whole) for every row of
// every part.
template <class Scalar, class Visit>
void for_each_part_row(const Layer<Scalar>& layer, Visit visit) {
  const std::int64_t width =
      std::accumulate(layer.columns.begin(), layer.columns.end(), std::int64_t{0});
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < layer.operands.size(); ++part) {
    const std::int64_t columns = layer.columns[part];
    const std::int64_t rows = layer.operands[part].size() / columns;
    for (std::int64_t i = 0; i < rows; ++i) visit(part, i * columns, i * width + begin);
    begin += columns;
  }
}

// D27
template <class Scalar>
Values<Scalar> concat(const Layer<Scalar>& layer) {
  std::size_t size = 0;
  for (const Values<Scalar>& part : layer.operands) size += part.size();
  Values<Scalar> y(size);
  for_each_part_row(layer, [&](std::size_t part, std::int64_t from, std::int64_t to) {
    std::copy_n(layer.operands[part].begin() + from, layer.columns[part], y.begin() + to);
  });
  return y;
}

// D46
template <class Scalar>
OperandGradients<Scalar> concat_gradient(const Layer<Scalar>& layer, View<Scalar> g) {
  OperandGradients<Scalar> gradients;
  for (const Values<Scalar>& part : layer.operands) gradients.emplace_back(part.size());
  for_each_part_row(layer, [&](std::size_t part, std::int64_t to, std::int64_t from) {
    std::copy_n(g.begin() + from, layer.columns[part], gradients[part].begin() + to);
  });
  return gradients;
}

}  // namespace halftone::reference
