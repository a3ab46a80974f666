// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/ScalarFacts.h"

#include "codegen/audit/Functions.h"

using namespace mlir;

namespace halftone::audit {

using ir::ColumnIndexOp, ir::RowMaxOp;

namespace {

/// What is smaller than this an exp in f32 leaves as +0, or less than half of its least number.
constexpr double kVanishing = 105;

bool isZero(const Node &node) { return node.bound.isConstant() && node.bound.exact.low == 0; }

/// No larger than `most`, in exact arithmetic and, but for `share` of it, declared.
Bound limited(Bound bound, double most, double share) {
  bound.exact = intersect(bound.exact, Interval::within(most));
  bound.declared = intersect(bound.declared, Interval::within(most * (1 + share)));
  return tidied(bound);
}

/// Integers up to this f32 has exactly.
constexpr double kMostWhole = 0x1p24;

void limitError(Bound &bound, double error) { bound.error = std::min(bound.error, error); }

} // namespace

Node ScalarFacts::add(int a, int b) const {
  Node node{sum(at(a).bound, at(b).bound)};
  auto keeps = [&](int from, int constant) {
    return at(from).fact == Fact::squares && isa_and_nonnull<arith::ConstantOp>(at(constant).op) &&
           at(constant).bound.exact.low >= 0;
  };
  for (auto [from, constant] : {std::pair(a, b), std::pair(b, a)})
    if (keeps(from, constant)) {
      Bound own = node.bound;
      node = at(from);
      node.bound = own;
    }
  node.sumOfRow = node.errorOfRow = node.sumOfColumn = kInfinity;
  return node;
}

Node ScalarFacts::subtract(int a, int b) const {
  Node node{sum(at(a).bound, negated(at(b).bound))};
  bool isBelow = isa_and_nonnull<RowMaxOp>(at(b).op) && at(b).operands[0] == a;
  if (isBelow) {
    node.fact = Fact::belowMaximum;
    node.of = a;
    node.bound.exact.high = std::min(node.bound.exact.high, 0.0);
    node.bound.declared.high = std::min(node.bound.declared.high, 0.0);
    node.bound = tidied(node.bound);
  }
  return node;
}

/// h = d / sqrt(Σd² / divisor + eps): |h| is at most sqrt(divisor) and Σ|h| sqrt(number * divisor);
/// with e the error of every d the deviation is off by sqrt(number / divisor) e, and h by
/// (1 + |h| sqrt(number / divisor)) e / deviation.
Node ScalarFacts::normalized(int d, int reciprocal) const {
  const Node &r = at(reciprocal);
  Node node{product(at(d).bound, r.bound)};
  double most = std::sqrt(r.divisor);
  double share = accumulated(depthOfRow(r.number) + depthOfColumn(r.number) + 8);
  node.bound = limited(node.bound, most, share);
  double moved = 1 + node.bound.exact.magnitude() * std::sqrt(r.number / r.divisor);
  double error = product(at(d).bound.error * moved, r.bound.magnitude());
  limitError(node.bound, error + most * share + kHalfSmallest);
  double sum = std::sqrt(r.number * r.divisor) * (1 + share);
  if (r.along == Along::row)
    node.sumOfRow = sum;
  if (r.along == Along::column)
    node.sumOfColumn = sum;
  node.number = r.number;
  return node;
}

double ScalarFacts::offOfWeights(int logits) const {
  double columns = code.count(place.domain.getDims().take_back());
  const Bound &x = at(logits).bound;
  double span = std::min(x.declared.high - x.declared.low, kVanishing);
  double roundings = accumulated(2 * span + 8 + 2 * columns);
  return std::exp(2 * x.error) * (1 + roundings) - 1;
}

Node ScalarFacts::multiply(int a, int b) const {
  const Node &x = at(a), &y = at(b);
  for (auto [value, factor] : {std::pair(a, b), std::pair(b, a)}) {
    const Node &f = at(factor);
    if (f.fact == Fact::perDeviation && f.of == value)
      return normalized(value, factor);
    if (f.fact == Fact::perExponentials && at(value).fact == Fact::exponential &&
        at(value).of == f.of) {
      double share = accumulated(2 * f.number + 8), off = offOfWeights(f.of);
      Node node{product(at(value).bound, f.bound)};
      node.bound = limited(node.bound, 1, share);
      limitError(node.bound, off + 0x1p-149);
      node.sumOfRow = 1 + share;
      node.errorOfRow = off + f.number * 0x1p-149;
      return node;
    }
  }
  Node node{product(x.bound, y.bound)};
  if (x.isWhole && y.isWhole && x.bound.magnitude() * y.bound.magnitude() <= kMostWhole) {
    node.bound = Bound::of(x.bound.exact * y.bound.exact);
    node.isWhole = true;
  }
  if (a == b) {
    auto squared = [](Interval v) {
      return v.isEmpty() ? v : outward(v.least() * v.least(), v.magnitude() * v.magnitude());
    };
    node.fact = Fact::square;
    node.of = a;
    node.bound.exact = intersect(node.bound.exact, squared(x.bound.exact));
    node.bound.declared.low = std::max(node.bound.declared.low, 0.0);
    node.bound = tidied(node.bound);
  }
  for (auto [one, other] : {std::pair(&x, &y), std::pair(&y, &x)}) {
    double by = other->bound.magnitude();
    node.sumOfRow = std::min(node.sumOfRow, product(one->sumOfRow, by) * (1 + kUnit));
    node.errorOfRow =
        std::min(node.errorOfRow, product(one->errorOfRow, by) +
                                      product(one->sumOfRow, other->bound.error + by * kUnit));
    if (one->sumOfColumn < kInfinity && product(one->sumOfColumn, by) < node.sumOfColumn) {
      node.sumOfColumn = product(one->sumOfColumn, by) * (1 + kUnit);
      node.number = one->number;
    }
  }
  return node;
}

Node ScalarFacts::divide(int a, int b) const {
  const Node &x = at(a), &y = at(b);
  Node node{quotient(x.bound, y.bound)};
  bool isOne = x.bound.isConstant() && x.bound.exact.low == 1;
  auto take = [&](Fact fact, const Node &from) {
    Bound own = node.bound;
    node = from;
    node.bound = own;
    node.fact = fact;
    node.sumOfRow = node.errorOfRow = node.sumOfColumn = kInfinity;
  };
  if (x.fact == Fact::squares && y.bound.isConstant() && y.bound.exact.low > 0) {
    take(Fact::squares, x);
    node.divisor = x.divisor * y.bound.exact.low;
  } else if (isOne && y.fact == Fact::deviation) {
    take(Fact::perDeviation, y);
  } else if (isOne && y.fact == Fact::exponentials) {
    take(Fact::perExponentials, y);
  }
  return node;
}

/// The root of the mean of squares of n numbers is moved by no more than the largest of their
/// errors.
Node ScalarFacts::root(int a) const {
  const Node &x = at(a);
  Node node{squareRoot(x.bound)};
  if (x.fact != Fact::squares)
    return node;
  Bound own = node.bound;
  node = x;
  node.fact = Fact::deviation;
  double least = place.leastDeviation;
  own.exact.low = std::max(own.exact.low, least);
  own.declared.low = std::max(own.declared.low, least * (1 - 0x1p-20));
  double share = accumulated(depthOfRow(x.number) + depthOfColumn(x.number) + 4);
  limitError(own, at(x.of).bound.error * std::sqrt(x.number / x.divisor) +
                      own.declared.magnitude() * share + kHalfSmallest);
  node.bound = tidied(own);
  return node;
}

Node ScalarFacts::exponential(int a, bool narrow) const {
  const Node &x = at(a);
  Node node{applied(Known::exp, x.bound, narrow)};
  if (x.fact != Fact::belowMaximum)
    return node;
  node.fact = Fact::exponential;
  node.of = x.of;
  // of x - max x no error counts where the exponential vanishes
  const Bound &logits = at(x.of).bound;
  double off = std::exp(2 * logits.error) * (1 + accumulated(kVanishing + 4)) - 1;
  limitError(node.bound, off + (narrow ? 0x1p-12 : 0) + 0x1p-148);
  return node;
}

Node ScalarFacts::logarithm(int a) const {
  const Node &x = at(a);
  Node node{applied(Known::log, x.bound)};
  if (x.fact == Fact::exponentials && !x.isMasked) {
    // log Σ exp(x - m) follows x and m, one for one
    double roundings = accumulated(kVanishing + 8 + 2 * x.number);
    limitError(node.bound,
               2 * at(x.of).bound.error + roundings + 4 * kUnit * node.bound.declared.magnitude());
    node.bound = tidied(node.bound);
  }
  return node;
}

/// Whether it is 0 but in one column of each row, where an index says so.
bool ScalarFacts::isPickedColumn(int a) const {
  auto select = dyn_cast_or_null<arith::SelectOp>(at(a).op);
  if (!select || !isZero(at(at(a).operands[2])))
    return false;
  const Node &condition = at(at(a).operands[0]);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(condition.op);
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         llvm::any_of(condition.operands,
                      [&](int id) { return isa_and_nonnull<ColumnIndexOp>(at(id).op); });
}

Node ScalarFacts::sumOfRow(int a) const {
  const Node &x = at(a);
  if (isPickedColumn(a)) // what is added to it are zeros
    return Node{hull(at(x.operands[1]).bound, Bound::of(0.0))};
  double columns = code.count(place.domain.getDims().take_back());
  // chips that keep rows of attention in registers add and scale them block by block
  double depth = x.fact == Fact::exponential ? 2 * columns : depthOfRow(columns);
  Node node{sumOf(x.bound, columns, depth)};
  double gamma = accumulated(depth);
  node.bound = limited(node.bound, x.sumOfRow, gamma);
  limitError(node.bound, x.errorOfRow + product(gamma, x.sumOfRow) + depth * kHalfSmallest);
  node.of = x.of;
  node.number = columns;
  if (x.fact == Fact::square) {
    node.fact = Fact::squares;
    node.along = Along::row;
  } else if (x.fact == Fact::squares) { // of places before, as a group's
    node.fact = Fact::squares;
    node.number = x.number * columns;
    node.divisor = x.divisor;
  } else if (x.fact == Fact::exponential) {
    node.fact = Fact::exponentials;
    node.isMasked = x.isMasked;
    // that of the maximum is 1, or all are masked
    node.bound.exact.low = std::max(node.bound.exact.low, 1.0);
    node.bound.declared.low = std::max(node.bound.declared.low, 1 - 4 * kUnit);
    node.bound = tidied(node.bound);
  }
  return node;
}

void ScalarFacts::roundSums(Node &node, int from, const encoding::Encoding &to) const {
  double share = std::ldexp(1, -encoding::traits(to.element).mantissa_bits);
  double least = code.count(place.domain.getDims().take_back()) * Format(to.element).leastNonzero;
  node.errorOfRow = at(from).errorOfRow + product(share, at(from).sumOfRow) + least;
  node.sumOfRow = at(from).sumOfRow * (1 + share) + least;
}

std::optional<Node> ScalarFacts::wholeSum(const Node &each, double count) {
  if (!each.isWhole || each.bound.error != 0 || count * each.bound.magnitude() > kMostWhole)
    return std::nullopt;
  Node sum{Bound::of(each.bound.exact * Interval::of(count))};
  sum.isWhole = true;
  return sum;
}

Node ScalarFacts::sumOfColumn(int a, double count) const {
  const Node &x = at(a);
  if (std::optional<Node> whole = wholeSum(x, count))
    return *whole;
  double depth = depthOfColumn(count), gamma = accumulated(depth);
  Node node{sumOf(x.bound, count, depth)};
  if (x.sumOfColumn < kInfinity && x.number == count)
    node.bound = limited(node.bound, x.sumOfColumn, gamma);
  if (x.fact == Fact::square) {
    node.fact = Fact::squares;
    node.along = Along::column;
    node.of = x.of;
    node.number = count;
  }
  return node;
}

} // namespace halftone::audit
