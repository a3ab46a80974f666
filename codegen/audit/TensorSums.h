// SPDX-License-Identifier: Apache-2.0
// What sums of a tensor's elements are at most, and what operations that add many numbers make of
// bounds.
#ifndef HALFTONE_AUDIT_TENSORSUMS_H
#define HALFTONE_AUDIT_TENSORSUMS_H

#include "codegen/audit/ScalarCode.h"

namespace halftone::audit {

/// The largest sum of |x| over the last dimension, over all but the first, and over all but the
/// last.
struct TensorSums {
  double ofLast = kInfinity, behindFirst = kInfinity, beforeLast = kInfinity;

  /// Of numbers of such a tensor that are each rounded, by no more than `share` of themselves or
  /// `least`.
  TensorSums rounded(double share, double least, ir::TensorType type, const ScalarCode &code) const;
  /// Of the same elements under another shape.
  TensorSums viewed(ir::TensorType shown, ir::TensorType as) const;
};

/// One factor of products that are summed: the largest sum of its sizes, and of its errors.
struct Factor {
  Bound bound;
  double sum = kInfinity, errors = kInfinity;
};
/// `count` products added in any order, off by no more than `share` of all their sizes: of f32
/// partial sums accumulated(count, unit), N8.
Bound sumOfProducts(const Factor &a, const Factor &b, double count, double share);

/// Of products of 8-bit floats that a chip multiplies as such: N14 where sums are promoted, N13.
double shareOfFloat8(double count, bool promotes);
/// Of those that stand for numbers in blocks with factors: N17.
double shareOfFactored(double count);

/// The parts of a spectrum of `places` numbers x (Z2), and of the numbers of a spectrum (Z3).
Bound spectrumOf(const Bound &x, double places, double spectrum);
Bound sequenceOf(const Bound &part, double spectrum);

/// Cosines and sines of angles of positions up to that (D64, D66).
Bound turnsOf(double position);

} // namespace halftone::audit

#endif
