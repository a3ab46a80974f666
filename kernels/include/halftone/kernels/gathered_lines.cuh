// SPDX-License-Identifier: Apache-2.0
// Contractions of which one matrix lies in no memory, as the windows of a convolution: a Body says
// where a line's elements lie in what they are gathered from. A line is a window, its elements are
// taps and, fastest, channels. Lines are counted inside of an image, in 32 bits.
#pragma once

#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/product.cuh"

namespace halftone::kernels {

/// Of numbers that are not below zero.
HALFTONE_DEVICE int quotient(int value, long long divisor) {
  return static_cast<int>(static_cast<unsigned int>(value) / static_cast<unsigned int>(divisor));
}
HALFTONE_DEVICE int rest(int value, long long divisor) {
  return static_cast<int>(static_cast<unsigned int>(value) % static_cast<unsigned int>(divisor));
}
/// Of any number, rounded down.
HALFTONE_DEVICE int floor_quotient(int value, int divisor) {
  const int towards_zero = value / divisor;
  return towards_zero - (value < towards_zero * divisor);
}
HALFTONE_DEVICE int floor_rest(int value, int divisor) {
  return value - floor_quotient(value, divisor) * divisor;
}

/// Stands for the element type of the matrix that is gathered.
template <class Body, class T>
struct Gathered {
  T element;
};

/// And this for where it lies: an element of the batch begins at `memory`.
template <class Body, class T>
struct GatheredMatrix {
  const Body* body;
  const T* memory;
};

template <class Body, class T>
__device__ __forceinline__ T minus_zero(const GatheredMatrix<Body, T>& matrix) {
  return minus_zero(matrix.memory);
}

/// A matrix as contractions name its element type and where it lies.
template <class Body, class T, bool kIsGathered>
struct MatrixOf {
  using Element = T;
  using Address = const T*;
};
template <class Body, class T>
struct MatrixOf<Body, T, true> {
  using Element = Gathered<Body, T>;
  using Address = GatheredMatrix<Body, T>;
};

/// A Body whose lhs, or else rhs, is gathered: README.md of this folder.
template <class Body>
struct Gathering : Body {
  using LhsMatrix = MatrixOf<Body, typename Body::Lhs, Body::kGathersLhs>;
  using RhsMatrix = MatrixOf<Body, typename Body::Rhs, !Body::kGathersLhs>;
  using Lhs = typename LhsMatrix::Element;
  using Rhs = typename RhsMatrix::Element;
};

template <class Body>
struct Product<Gathering<Body>> {
  typename Gathering<Body>::LhsMatrix::Address lhs;
  typename Gathering<Body>::RhsMatrix::Address rhs;
  long long rows, first_row, end_row;
  int columns;  ///< rhs's
};

template <class Body>
__device__ __forceinline__ Product<Gathering<Body>> product_of(const Gathering<Body>& body,
                                                               long long element) {
  Product<Gathering<Body>> product;
  product.rows = rows_of_product(body);
  product.first_row = element * product.rows;
  product.end_row = product.first_row + product.rows;
  product.columns = body.columns();
  const long long begin = body.batch_begin(element);
  if constexpr (Body::kGathersLhs) {
    product.lhs = {&body, body.lhs + begin};
    product.rhs = body.rhs + element * body.depth * body.columns();
  } else {
    product.lhs = body.lhs + product.first_row * body.depth;
    product.rhs = {&body, body.rhs + begin};
  }
  return product;
}

/// A line: where its image begins, in elements, and which window of the image it is.
template <class Body>
struct GatheredLine {
  long long image;
  typename Body::Window window;

  /// Whether the element lies somewhere, and where from the matrix's beginning on.
  __device__ __forceinline__ bool find(const Body& body, int element, long long& place) const {
    long long in_image;
    const bool is_somewhere = body.find(window, element, in_image);
    place = image + in_image;
    return is_somewhere;
  }
};

/// Lines from one on, which moves forward: whatever they are, divisions are of 32 bits.
template <class Body>
class GatheredLines {
 public:
  __device__ __forceinline__ GatheredLines() = default;
  __device__ __forceinline__ GatheredLines(const Body& body, long long first) {
    const long long image = first / body.image_windows();
    window_ = static_cast<int>(first - image * body.image_windows());
    image_ = image * body.image_elements();
  }
  __device__ __forceinline__ void advance(const Body& body, int lines) {
    const int images = quotient(window_ + lines, body.image_windows());
    window_ = window_ + lines - images * static_cast<int>(body.image_windows());
    image_ += images * body.image_elements();
  }
  /// The line that is so many behind.
  __device__ __forceinline__ GatheredLine<Body> at(const Body& body, int behind) const {
    const int images = quotient(window_ + behind, body.image_windows());
    return {image_ + images * body.image_elements(),
            body.window(window_ + behind - images * static_cast<int>(body.image_windows()))};
  }

 private:
  long long image_;
  int window_;
};

}  // namespace halftone::kernels
