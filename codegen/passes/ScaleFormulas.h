// SPDX-License-Identifier: Apache-2.0
// What scales are, as scalar code, and rounding to elements of fewer than 8 bits: P51, P53, P73 and
// P87 of docs/spec/precision.md.
#ifndef HALFTONE_PASSES_SCALEFORMULAS_H
#define HALFTONE_PASSES_SCALEFORMULAS_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

/// P51: E of a group's largest magnitude, an integer, by whose power of two it becomes `largest` or
/// less.
mlir::Value exponentOf(Scalars &s, mlir::Value maximum, double largest);

/// 2^(field - 127).
mlir::Value powerOf(Scalars &s, mlir::Value field);

/// P87: S, what a group's largest magnitude is multiplied by to become `largest`, or 1.
mlir::Value multiplierOrOne(Scalars &s, mlir::Value maximum, double largest);

/// P21: a power of two, or infinity where it is 2^113 or more: numbers of such a scale may be
/// infinite, which their codes are not.
mlir::Value infiniteAbove(Scalars &s, mlir::Value scale);

/// P73, P87: the scale after a step, `amax` being the largest magnitude of those that count,
/// `scale` the scale before it.
mlir::Value nextDelayedScale(Scalars &s, mlir::Value amax, mlir::Value scale, const Encoding &to);

/// P53: the f32 x rounded to an element that has no type of its own in scalar code, to the nearest
/// or toward zero as `to` says.
mlir::Value roundedShort(Scalars &s, mlir::Value x, const Encoding &to);

} // namespace halftone::ir

#endif
