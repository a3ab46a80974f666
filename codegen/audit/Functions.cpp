// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Functions.h"

#include <iterator>

namespace halftone::audit {
namespace {

/// Of the C library's functions, beside real ones; more than any is off by.
constexpr double kOfLibrary = 0x1p-48;

double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double timesItself(double x, double share) { return share == 0 ? 0 : x * share; }
double geluErfOf(double x) { return timesItself(x, std::erfc(-x * std::sqrt(0.5)) / 2); }
double geluTanhOf(double x) {
  double u = std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x); // twice the argument of tanh
  return timesItself(x, sigmoidOf(u));
}
double siluOf(double x) { return timesItself(x, sigmoidOf(x)); }
double rsqrtOf(double x) { return 1 / std::sqrt(x); }

/// How a function goes, in the order of Known.
struct Form {
  double (*value)(double);          ///< null of one of which `limits` are known alone
  Interval domain, limits;          ///< of arguments and of results
  double turn;                      ///< it falls before and rises behind
  double (*slope)(Interval domain); ///< the largest size of its derivative
  double places;                    ///< last places that the recipe is off by
  double absolute;                  ///< and beside them
};

template <int Thousandths> double atMost(Interval) { return Thousandths / 1000.0; }

/// sup |f''| of the three derivatives: 2 phi(0) = 0.79789, the same, and 1/2.
constexpr double kRises = -kInfinity, kFalls = kInfinity;
constexpr double kDerivativePlaces = 8, kDerivativeAbsolute = 2 * kUnit; // math.md
const Interval kAll = Interval::all(), kPositive{0, kInfinity}, kSquare{-1, 1};

const Form kForms[] = {
    {std::exp, kAll, kPositive, kRises, [](Interval x) { return std::exp(x.high); }, 1, 0},
    {std::expm1,
     kAll,
     {-1, kInfinity},
     kRises,
     [](Interval x) { return std::exp(x.high); },
     1.5,
     0},
    {std::log, kPositive, kAll, kRises, [](Interval x) { return 1 / x.low; }, 1, 0},
    {std::log1p, {-1, kInfinity}, kAll, kRises, [](Interval x) { return 1 / (1 + x.low); }, 1.5, 0},
    {nullptr, kAll, kSquare, 0, atMost<1000>, 1.5, 0},
    {nullptr, kAll, kSquare, 0, atMost<1000>, 1.5, 0},
    {std::tanh, kAll, kSquare, kRises, atMost<1000>, 2, 0},
    {std::erf, kAll, kSquare, kRises, atMost<1129>, 1.5, 0},
    {sigmoidOf, kAll, {0, 1}, kRises, atMost<250>, 2, 0},
    {rsqrtOf, kPositive, kPositive, kFalls,
     [](Interval x) { return 0.5 / (x.low * std::sqrt(x.low)); }, 1.5, 0},
    {geluErfOf, kAll, {-0.16998, kInfinity}, -0.7518, atMost<1129>, 7, 0},
    {geluTanhOf, kAll, {-0.17005, kInfinity}, -0.7525, atMost<1129>, 4, 0},
    {siluOf, kAll, {-0.27847, kInfinity}, -1.2785, atMost<1100>, 4, 0},
    {nullptr, kAll, {-0.12891, 1.12891}, 0, atMost<798>, kDerivativePlaces, kDerivativeAbsolute},
    {nullptr, kAll, {-0.129, 1.129}, 0, atMost<798>, kDerivativePlaces, kDerivativeAbsolute},
    {nullptr, kAll, {-0.09984, 1.09984}, 0, atMost<501>, kDerivativePlaces, kDerivativeAbsolute},
};
static_assert(std::size(kForms) == static_cast<size_t>(Known::siluDerivative) + 1);

/// f of all numbers of x.
Interval image(const Form &form, Interval x) {
  x = intersect(x, form.domain);
  if (x.isEmpty() || !form.value)
    return x.isEmpty() ? Interval{} : form.limits;
  double first = form.value(x.low), last = form.value(x.high);
  auto [low, high] = std::minmax({first, last});
  if (x.low < form.turn && form.turn < x.high && std::isfinite(form.turn))
    low = form.limits.low;
  auto off = [](double y) { return std::isinf(y) ? 0 : std::fabs(y) * kOfLibrary; };
  return intersect({low - off(low), high + off(high)}, form.limits);
}

} // namespace

Bound applied(Known function, const Bound &x, bool narrow) {
  const Form &form = kForms[static_cast<size_t>(function)];
  Bound y{image(form, x.exact), image(form, x.declared), 0};
  if (y.declared.isEmpty()) // NaN, which is not what bounds are about
    return y;
  Interval argument = intersect(x.range(), form.domain);
  double slope = argument.isEmpty() ? kInfinity : form.slope(argument);
  y.error = x.error == 0 ? 0 : product(x.error, slope);
  y.declared = clamped(y.declared, kLargest);
  double magnitude = y.declared.magnitude();
  Format single(encoding::Element::f32);
  double off =
      narrow ? product(magnitude, 0x1p-13) + 0x1p-30 : single.lastPlace(magnitude) * form.places;
  if (form.absolute != 0)
    off += narrow ? kUnit : form.absolute;
  bool staysPositive = form.limits.low == 0;
  y.declared = widened(y.declared, off);
  if (staysPositive)
    y.declared.low = std::max(y.declared.low, 0.0);
  y.error += off;
  return tidied(y);
}

Bound power(const Bound &base, const Bound &exponent) {
  constexpr double kPlaces = 1.25;
  Interval from = base.range(), by = exponent.range();
  Interval exact, declared;
  double slopeOfBase = kInfinity, slopeOfExponent = kInfinity;
  auto size = [](Interval a, Interval b) { // of a positive base
    Interval log = {std::log(a.low), std::log(a.high)}, p = log * b;
    return Interval{std::exp(p.low) * (1 - 0x1p-40), std::exp(p.high) * (1 + 0x1p-40)};
  };
  if (from.low > 0) {
    exact = size(base.exact, exponent.exact);
    declared = size(base.declared, exponent.declared);
    double largest = size(from, by).high;
    slopeOfBase = product(largest, by.magnitude()) / from.low;
    slopeOfExponent =
        product(largest, std::max(std::fabs(std::log(from.low)), std::fabs(std::log(from.high))));
  } else if (exponent.isConstant() && by.low >= 1 && std::floor(by.low) == by.low) {
    auto whole = [&](Interval a) {
      double p = std::pow(a.magnitude(), by.low) * (1 + 0x1p-40);
      bool isEven = std::fmod(by.low, 2) == 0;
      return Interval{isEven || a.low >= 0 ? 0 : -p, p};
    };
    exact = whole(base.exact);
    declared = whole(base.declared);
    slopeOfBase = by.low * std::pow(from.magnitude(), by.low - 1) * (1 + 0x1p-40);
  } else {
    return Bound::unknown();
  }
  declared = clamped(declared, kLargest);
  double off = Format(encoding::Element::f32).lastPlace(declared.magnitude()) * kPlaces;
  double error = (base.error == 0 ? 0 : product(base.error, slopeOfBase)) +
                 (exponent.error == 0 ? 0 : product(exponent.error, slopeOfExponent));
  return tidied({exact, widened(declared, off), error + off});
}

Bound floored(const Bound &x) {
  auto whole = [](Interval a) {
    return a.isEmpty() ? a : Interval{std::floor(a.low), std::floor(a.high)};
  };
  Bound y{whole(x.exact), whole(x.declared), x.error == 0 ? 0 : std::ceil(x.error)};
  return tidied(y);
}

} // namespace halftone::audit
