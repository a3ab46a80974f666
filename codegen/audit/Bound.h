// SPDX-License-Identifier: Apache-2.0
// What is known of a number that is computed twice: in real arithmetic, and as declared, with every
// rounding; and the arithmetic of that knowledge.
#ifndef HALFTONE_AUDIT_BOUND_H
#define HALFTONE_AUDIT_BOUND_H

#include "codegen/audit/Interval.h"
#include "halftone/encoding/encoding.hpp"

namespace halftone::audit {

inline constexpr double kUnit = 0x1p-24;           ///< of f32: half a last place of 1
inline constexpr double kHalfSmallest = 0x1p-150;  ///< half the least subnormal of f32
inline constexpr double kLargest = 0x1.fffffep127; ///< of f32

/// |declared - exact| <= error, for the same inputs and parameters. What is declared is finite: all
/// bounds hold where nothing overflows.
struct Bound {
  Interval exact, declared;
  double error = 0;

  bool operator==(const Bound &) const = default;

  /// Known exactly, in both.
  static Bound of(Interval range) { return {range, range, 0}; }
  static Bound of(double value) { return of(Interval::of(value)); }
  /// Of which nothing is known.
  static Bound unknown() { return {Interval::all(), Interval::within(kLargest), kInfinity}; }

  bool isConstant() const { return exact.isPoint() && exact == declared; }
  /// Both ranges.
  Interval range() const { return hull(exact, declared); }
  double magnitude() const { return range().magnitude(); }
};

/// Each of the three limited by the other two.
Bound tidied(Bound bound);

/// What f32 arithmetic makes of `real`, the bound of the real result of declared operands: one
/// rounding more.
Bound rounded(Bound real);

Bound hull(const Bound &a, const Bound &b);
Bound negated(const Bound &a);
Bound absolute(const Bound &a);
Bound sum(const Bound &a, const Bound &b);
Bound product(const Bound &a, const Bound &b);
Bound quotient(const Bound &a, const Bound &b);
Bound fused(const Bound &a, const Bound &b, const Bound &c); ///< a * b + c, rounded once
Bound squareRoot(const Bound &a);
Bound larger(const Bound &a, const Bound &b);
Bound smaller(const Bound &a, const Bound &b);

/// (1 + u)^n - 1 at most, of n roundings in a row: n u / (1 - n u). (Higham, 3.1.)
double accumulated(double roundings, double unit = kUnit);

/// `count` numbers of `each` added in an order with at most `depth` additions from any to the
/// result.
Bound sumOf(const Bound &each, double count, double depth);

/// What a rounding to a format does to numbers of a magnitude.
struct Format {
  explicit Format(encoding::Element element);

  double largest;      ///< number
  double leastNormal;  ///< number
  double leastNonzero; ///< number
  int mantissaBits;
  double beyond; ///< nearest_even leaves the range from here on
  /// The distance of neighbouring numbers in the binade of `magnitude`.
  double lastPlace(double magnitude) const;
};

/// What rounding to an unscaled encoding leaves (F2, F6), and whether it can leave the range.
struct Rounded {
  Bound bound;
  bool mayOverflow = false, maySaturate = false;
};
Rounded roundedTo(const encoding::Encoding &to, const Bound &x);

/// Of a block's elements times the matrix of P105, or as they are where it ends early.
Bound rotatedOf(const Bound &x);

/// Likewise of a scaled encoding (P51, P77), of which x has all that share a scale.
Bound scaledTo(const encoding::Encoding &to, const Bound &x);

} // namespace halftone::audit

#endif
