// SPDX-License-Identifier: Apache-2.0
// Comparisons that rounding may decide, and what is chosen by them.
#include "codegen/audit/ScalarFacts.h"

using namespace mlir;

namespace halftone::audit {

using arith::CmpFOp, arith::CmpFPredicate;

namespace {

/// Whether a predicate holds for all, and for some, pairs of a number of a and one of b.
struct Outcome {
  bool canHold, canFail;
};

Outcome outcomeOf(CmpFPredicate predicate, Interval a, Interval b) {
  if (a.isEmpty() || b.isEmpty())
    return {true, true};
  switch (predicate) {
  case CmpFPredicate::OLT:
    return {a.low < b.high, a.high >= b.low};
  case CmpFPredicate::OLE:
    return {a.low <= b.high, a.high > b.low};
  case CmpFPredicate::OGT:
    return outcomeOf(CmpFPredicate::OLT, b, a);
  case CmpFPredicate::OGE:
    return outcomeOf(CmpFPredicate::OLE, b, a);
  case CmpFPredicate::OEQ: {
    bool meet = !intersect(a, b).isEmpty();
    return {meet, !(meet && a.isPoint() && b.isPoint())};
  }
  case CmpFPredicate::UNO: // bounds are about numbers
    return {false, true};
  case CmpFPredicate::ORD:
    return {true, false};
  default:
    return {true, true};
  }
}

/// A number that only constants are chosen for, as the place of a pool's largest element.
bool isChosenConstant(const ScalarCode &code, int id) {
  const Node &node = code[id];
  if (isa_and_nonnull<arith::SelectOp>(node.op))
    return isChosenConstant(code, node.operands[1]) && isChosenConstant(code, node.operands[2]);
  return isa_and_nonnull<arith::ConstantOp>(node.op);
}

/// The comparisons that a condition may differ by.
void collectDoubts(const ScalarCode &code, int id, const Place &place,
                   SmallVectorImpl<int> &doubts) {
  const Node &node = code[id];
  if (!node.mayDiffer)
    return;
  if (!isa_and_nonnull<CmpFOp>(node.op)) {
    for (int operand : node.operands)
      collectDoubts(code, operand, place, doubts);
    if (node.operands.empty())
      doubts.push_back(id);
    return;
  }
  // Which elements of a pool's window lie inside hangs on no number: some element was taken before,
  // or none was, in both.
  if (place.hasWindows && isChosenConstant(code, node.operands[0]))
    return;
  doubts.push_back(id);
}

} // namespace

Node ScalarFacts::compare(CmpFPredicate predicate, int a, int b) const {
  const Bound &x = at(a).bound, &y = at(b).bound;
  Node node;
  auto [canHold, canFail] = outcomeOf(predicate, x.range(), y.range());
  bool isOfMaskedRow = at(a).fact == Fact::exponentials && at(a).isMasked;
  if (isOfMaskedRow && predicate == CmpFPredicate::OEQ)
    return node; // 0 where all of a row is masked, which no rounding decides
  node.canHold = canHold;
  node.canFail = canFail;
  node.mayDiffer = canHold && canFail && (x.error > 0 || y.error > 0);
  return node;
}

Node ScalarFacts::select(int condition, int a, int b) const {
  const Node &x = at(a), &y = at(b);
  Node node{hull(x.bound, y.bound)};
  node.isWhole = x.isWhole && y.isWhole;
  auto isZero = [](const Node &n) { return n.bound.isConstant() && n.bound.exact.low == 0; };
  for (auto [from, other] : {std::pair(&x, &y), std::pair(&y, &x)})
    if (isZero(*other)) { // what was summed is at most left out
      node.sumOfRow = from->sumOfRow;
      node.errorOfRow = from->errorOfRow;
      node.sumOfColumn = from->sumOfColumn;
      node.number = from->number;
      if (from->fact == Fact::exponential || from->fact == Fact::perExponentials) {
        node.fact = from->fact;
        node.of = from->of;
        node.isMasked = true;
      }
    }
  SmallVector<int> doubts;
  collectDoubts(code, condition, place, doubts);
  if (doubts.empty())
    return node;
  if (!isa_and_nonnull<CmpFOp>(at(doubts[0]).op) || doubts.size() > 1) {
    node.bound.error = kInfinity;
    node.bound = tidied(node.bound);
    node.errorOfRow = kInfinity;
    return node;
  }
  // Where both decide otherwise, what was compared lies within both errors of each other.
  int left = at(doubts[0]).operands[0], right = at(doubts[0]).operands[1];
  double apart = at(left).bound.error + at(right).bound.error;
  auto nearby = [&](int id, int compared, int with, Bound bound) {
    if (id != compared)
      return bound;
    Interval near = widened(at(with).bound.range(), apart);
    bound.exact = intersect(bound.exact, near);
    bound.declared = intersect(bound.declared, near);
    return bound;
  };
  auto refined = [&](int id) {
    return nearby(id, right, left, nearby(id, left, right, at(id).bound));
  };
  bool areCompared = (left == a && right == b) || (left == b && right == a);
  Bound one = refined(a), other = refined(b);
  double crossed =
      std::max(distance(one.declared, other.exact), distance(other.declared, one.exact));
  if (areCompared) // each is as near to the other as it is compared
    crossed = std::min(crossed, apart);
  node.bound.error = std::max(node.bound.error, crossed);
  node.bound = tidied(node.bound);
  node.errorOfRow = kInfinity;
  return node;
}

} // namespace halftone::audit
