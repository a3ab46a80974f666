// SPDX-License-Identifier: Apache-2.0
// Which matrices a contraction's block multiplies: its operands, or of a batch those of one
// element. No tile spans two elements.
#pragma once

namespace halftone::kernels {

/// One product. `rows` are lhs's, which are rows [first_row, end_row) of all that the Body has.
template <class Body>
struct Product {
  const typename Body::Lhs* lhs;
  const typename Body::Rhs* rhs;
  long long rows, first_row, end_row;
  int columns;  ///< rhs's
};

/// The rows of every product.
template <class Body>
__device__ __forceinline__ long long rows_of_product(const Body& body) {
  if constexpr (Body::kIsBatch)
    return body.element_rows;
  else
    return body.rows;
}

template <class Body>
__device__ __forceinline__ Product<Body> product_of(const Body& body, long long element) {
  if constexpr (Body::kIsBatch) {
    const long long first_row = element * body.element_rows;
    return {body.lhs + first_row * body.depth,
            body.rhs + element * body.depth * body.columns(),
            body.element_rows,
            first_row,
            first_row + body.element_rows,
            body.columns()};
  } else {
    return {body.lhs, body.rhs, body.rows, 0, body.rows, body.columns()};
  }
}

}  // namespace halftone::kernels
