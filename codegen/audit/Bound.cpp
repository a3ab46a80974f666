// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Bound.h"

namespace halftone::audit {
namespace {

/// More than the roundings of the few operations on doubles between two of these.
constexpr double kSlack = 1 + 0x1p-40;

bool isPowerOfTwo(const Bound &bound) {
  int exponent = 0;
  return bound.isConstant() && std::isfinite(bound.exact.low) &&
         std::frexp(std::fabs(bound.exact.low), &exponent) == 0.5;
}

/// f32's nearest, of either end: rounding is monotone.
Interval nearest(Interval real) {
  if (real.isEmpty())
    return real;
  auto end = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  return {end(real.low), end(real.high)};
}

} // namespace

Bound tidied(Bound bound) {
  bound.error = bound.error * kSlack;
  bound.exact = intersect(bound.exact, widened(bound.declared, bound.error));
  bound.declared = intersect(bound.declared, widened(bound.exact, bound.error));
  bound.error = std::min(bound.error, distance(bound.exact, bound.declared));
  return bound;
}

Bound rounded(Bound real) {
  real.declared = clamped(nearest(real.declared), kLargest);
  real.error += real.declared.magnitude() * kUnit + kHalfSmallest;
  return tidied(real);
}

Bound hull(const Bound &a, const Bound &b) {
  return {hull(a.exact, b.exact), hull(a.declared, b.declared), std::max(a.error, b.error)};
}

Bound negated(const Bound &a) { return {-a.exact, -a.declared, a.error}; }

static Interval magnitudes(Interval a) {
  return a.isEmpty() ? a : Interval{a.least(), a.magnitude()};
}

Bound absolute(const Bound &a) { return {magnitudes(a.exact), magnitudes(a.declared), a.error}; }

Bound sum(const Bound &a, const Bound &b) {
  auto isZero = [](const Bound &x) { return x.isConstant() && x.exact.low == 0; };
  if (isZero(a) || isZero(b)) // exact
    return isZero(a) ? b : a;
  return rounded({a.exact + b.exact, a.declared + b.declared, a.error + b.error});
}

/// |a'b' - ab| <= |a'| |b' - b| + |a' - a| |b|, or with a and b in each other's places.
static double errorOfProduct(const Bound &a, const Bound &b) {
  double one = product(a.declared.magnitude(), b.error) + product(a.error, b.exact.magnitude());
  double other = product(a.exact.magnitude(), b.error) + product(a.error, b.declared.magnitude());
  return std::min(one, other);
}

Bound product(const Bound &a, const Bound &b) {
  Bound real{a.exact * b.exact, a.declared * b.declared, errorOfProduct(a, b)};
  if (isPowerOfTwo(a) || isPowerOfTwo(b)) { // exact but for subnormal results
    real.error += kHalfSmallest;
    real.declared = clamped(nearest(real.declared), kLargest);
    return tidied(real);
  }
  return rounded(real);
}

Bound quotient(const Bound &a, const Bound &b) {
  // a'/b' - a/b = (a' - a)/b' + (a/b) (b - b')/b'
  Interval exact = a.exact / b.exact, declared = a.declared / b.declared;
  double least = b.declared.least();
  double error = (a.error == 0 ? 0 : a.error / least) +
                 (b.error == 0 ? 0 : product(exact.magnitude(), b.error / least));
  Bound real{exact, declared, std::isnan(error) ? kInfinity : error};
  return rounded(real);
}

Bound fused(const Bound &a, const Bound &b, const Bound &c) {
  return rounded({a.exact * b.exact + c.exact, a.declared * b.declared + c.declared,
                  errorOfProduct(a, b) + c.error});
}

Bound squareRoot(const Bound &a) {
  auto root = [](Interval x) {
    x = intersect(x, {0, kInfinity});
    return x.isEmpty() ? x : outward(std::sqrt(x.low), std::sqrt(x.high));
  };
  // |a' - a| / (sqrt a' + sqrt a), and at most sqrt |a' - a|
  Bound real{root(a.exact), root(a.declared), std::sqrt(a.error)};
  double least = real.exact.low + real.declared.low;
  if (least > 0)
    real.error = std::min(real.error, a.error / least);
  return rounded(real);
}

static Interval largerOf(Interval a, Interval b) {
  return a.isEmpty() || b.isEmpty() ? hull(a, b)
                                    : Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
}

Bound larger(const Bound &a, const Bound &b) {
  return {largerOf(a.exact, b.exact), largerOf(a.declared, b.declared), std::max(a.error, b.error)};
}

Bound smaller(const Bound &a, const Bound &b) { return negated(larger(negated(a), negated(b))); }

double accumulated(double roundings, double unit) {
  double nu = roundings * unit;
  return nu < 1 ? nu / (1 - nu) : kInfinity;
}

Bound sumOf(const Bound &each, double count, double depth) {
  double gamma = accumulated(depth);
  Interval n = Interval::of(count), real = each.declared * n;
  double off = product(gamma, product(count, each.declared.magnitude())) + depth * kHalfSmallest;
  Interval declared = clamped(widened(real, off), kLargest);
  if (each.declared.low >= 0) // of one sign sums are off by a share of themselves
    declared.low = std::max(declared.low, real.low * std::max(1 - 2 * gamma, 0.0));
  return tidied({each.exact * n, declared, product(count, each.error) + off});
}

Format::Format(encoding::Element element) {
  const encoding::ElementTraits &of = encoding::traits(element);
  mantissaBits = of.mantissa_bits;
  leastNormal = std::ldexp(1, encoding::least_normal(of));
  leastNonzero = std::ldexp(1, encoding::least_subnormal(of));
  largest = ir::largestOf(element);
  beyond = largest + lastPlace(largest) / 2;
}

double Format::lastPlace(double magnitude) const {
  if (!(magnitude >= leastNormal))
    return leastNonzero;
  return std::isinf(magnitude) ? kInfinity : std::ldexp(1, std::ilogb(magnitude) - mantissaBits);
}

Rounded roundedTo(const encoding::Encoding &to, const Bound &x) {
  if (!encoding::is_narrow(to.element) || x.declared.isEmpty())
    return {x};
  Format format(to.element);
  bool isNearest = to.rounding == encoding::Rounding::nearest_even;
  auto end = [&](double value, auto round) {
    double place = format.lastPlace(std::fabs(value));
    return std::isinf(value) ? value : round(value / place) * place;
  };
  auto low = [&](double v) {
    return end(v, [&](double q) { return isNearest ? std::nearbyint(q) : std::floor(q); });
  };
  auto high = [&](double v) {
    return end(v, [&](double q) { return isNearest ? std::nearbyint(q) : std::ceil(q); });
  };
  Rounded left{x};
  Bound &bound = left.bound;
  double magnitude = x.declared.magnitude();
  bool leaves = magnitude > format.largest;
  left.mayOverflow =
      !to.saturate && magnitude >= format.beyond && to.rounding != encoding::Rounding::toward_zero;
  left.maySaturate = leaves && !left.mayOverflow;
  double within = std::min(magnitude, format.largest);
  bound.declared = clamped({low(x.declared.low), high(x.declared.high)}, format.largest);
  bound.error += format.lastPlace(within) * (isNearest ? 0.5 : 1);
  if (left.maySaturate)
    bound.error += magnitude - format.largest;
  if (left.mayOverflow) // what does not, was in the range
    bound.exact = intersect(bound.exact, widened(bound.declared, bound.error));
  bound = tidied(bound);
  return left;
}

Bound rotatedOf(const Bound &x) {
  constexpr double kSummands = encoding::kRotated, kDepth = 4, kEach = 0.25;
  Bound each{Interval::within(kEach * x.exact.magnitude()),
             Interval::within(kEach * x.declared.magnitude()), kEach * x.error};
  return roundedTo(encoding::Element::bf16, sumOf(each, kSummands, kDepth)).bound;
}

Bound scaledTo(const encoding::Encoding &to, const Bound &x) {
  const encoding::ElementTraits &of = encoding::traits(to.element);
  double half = std::ldexp(1, -of.mantissa_bits - 1);
  double share = to.rounding == encoding::Rounding::nearest_even ? half : 2 * half;
  if (encoding::has_two_levels(to.scaling))
    share += 0x1p-3; // scales are rounded to the nearest f8e4m3, and what exceeds them saturates
  double magnitude = x.declared.magnitude();
  if (encoding::is_delayed(to)) // by a scale of other numbers: too large or too small for these
    share = to.rounding == encoding::Rounding::stochastic ? 2 : 1;
  double off = product(share, magnitude) + Format(to.element).leastNonzero;
  return tidied({x.exact, widened(x.declared, off), x.error + off});
}

} // namespace halftone::audit
