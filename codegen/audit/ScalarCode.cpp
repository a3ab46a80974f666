// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/ScalarCode.h"

#include "codegen/audit/Functions.h"
#include "codegen/audit/ScalarFacts.h"
#include "codegen/audit/Sources.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::audit {

using namespace ir; // NOLINT(google-build-using-namespace): operations

namespace {

/// The first constants of which f32 has all digits: others are taken to be rounded ones, as 1e-5.
Bound constantOf(double value) {
  if (std::isnan(value))
    return {}; // of labels outside of a loss, say, which no bound is about
  constexpr int kFewDigits = 12;
  Bound bound = Bound::of(value);
  if (value == 0 || std::isinf(value) ||
      std::fmod(std::ldexp(value, kFewDigits - 1 - std::ilogb(value)), 1) == 0)
    return bound;
  bound.error = std::fabs(value) * kUnit;
  bound.exact = widened(bound.exact, bound.error);
  return bound;
}

/// A whole number as f32.
Node converted(const Bound &whole) {
  bool isExact = whole.magnitude() <= 0x1p24;
  Node node{isExact ? whole : rounded(whole)};
  node.isWhole = isExact;
  return node;
}

std::optional<Known> knownOf(Function function) {
  switch (function) {
  case Function::Exp:
    return Known::exp;
  case Function::Tanh:
    return Known::tanh;
  case Function::Sigmoid:
    return Known::sigmoid;
  case Function::GeluErf:
    return Known::geluErf;
  case Function::GeluErfDerivative:
    return Known::geluErfDerivative;
  case Function::GeluTanh:
    return Known::geluTanh;
  case Function::GeluTanhDerivative:
    return Known::geluTanhDerivative;
  case Function::Silu:
    return Known::silu;
  case Function::SiluDerivative:
    return Known::siluDerivative;
  }
  return std::nullopt;
}

std::optional<Known> knownOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<Known>>(&op)
      .Case([](math::ExpOp) { return Known::exp; })
      .Case([](math::ExpM1Op) { return Known::expm1; })
      .Case([](math::LogOp) { return Known::log; })
      .Case([](math::Log1pOp) { return Known::log1p; })
      .Case([](math::SinOp) { return Known::sin; })
      .Case([](math::CosOp) { return Known::cos; })
      .Case([](math::TanhOp) { return Known::tanh; })
      .Case([](math::ErfOp) { return Known::erf; })
      .Case([](math::RsqrtOp) { return Known::rsqrt; })
      .Case([](SigmoidOp) { return Known::sigmoid; })
      .Case([](RecipeOp recipe) { return knownOf(recipe.getFunction()); })
      .Default([](Operation *) { return std::nullopt; });
}

bool isOfRow(Operation &op) { return isa<RowSumOp, RowMaxOp>(op); }
bool isOfDomain(Operation &op) { return isa<ColumnIndexOp, AxisIndexOp, ElementIndexOp>(op); }

} // namespace

double depthOfRow(double count) {
  constexpr double kChunk = 1024, kOfChunk = 32 + 5 + 1; // N2
  double depth = 0;
  for (; count > 1; count = std::ceil(count / kChunk))
    depth += std::min(count, kOfChunk);
  return depth;
}

double depthOfColumn(double count) {
  constexpr double kChunk = 128; // N3
  return std::min(count, kChunk + 2 * std::ceil(count / kChunk));
}

int ScalarCode::add(Node node) {
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

int ScalarCode::once(int from, const void *how, const void *where,
                     llvm::function_ref<Node()> make) {
  Key key{how, where, reinterpret_cast<const void *>(static_cast<intptr_t>(from))};
  auto found = known.find(key);
  return found != known.end() ? found->second : known[key] = add(make());
}

double ScalarCode::count(ArrayRef<Attribute> dims) const {
  double product = 1;
  for (Attribute dim : dims) {
    auto symbol = dyn_cast<StringAttr>(dim);
    product *= static_cast<double>(symbol ? assumedSize(sizes, symbol.getValue())
                                          : cast<IntegerAttr>(dim).getInt());
  }
  return product;
}

SmallVector<int> ScalarCode::evaluate(Block &block, ArrayRef<int> arguments, const Place &place) {
  llvm::DenseMap<Value, int> ids;
  for (auto [argument, id] : llvm::zip(block.getArguments(), arguments))
    ids[argument] = id;
  auto idsOf = [&](Operation &op) {
    SmallVector<int> operands;
    for (Value operand : op.getOperands())
      operands.push_back(ids.lookup(operand));
    return operands;
  };
  for (Operation &op : block.without_terminator()) {
    int id = visit(op, idsOf(op), place);
    for (Value result : op.getResults())
      ids[result] = id;
  }
  return idsOf(*block.getTerminator());
}

/// The rules for each operation; what has none is of any value.
struct ScalarCode::Bodies {
  ScalarCode &code;
  Operation &op;
  ArrayRef<int> ids;
  const Place &place;
  ScalarFacts facts{code, place};

  const Bound &bound(unsigned i) const { return code[ids[i]].bound; }

  Node unknown() const {
    Type type = op.getResult(0).getType();
    if (type.isInteger(1)) {
      Node node;
      for (int id : ids) // of numbers that rounding moves
        node.mayDiffer |= code[id].mayDiffer || code[id].bound.error > 0;
      return node;
    }
    return Node{isa<FloatType>(type) ? Bound::unknown() : integersOf(type)};
  }

  Node constant(arith::ConstantOp constant) const {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
      APFloat value = number.getValue();
      bool loses;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      double real = value.convertToDouble();
      Node node{constantOf(real)};
      node.isWhole = std::isnan(real) || std::floor(real) == real;
      if (place.hasWindows && real == -kInfinity) // before the first element, which there is
        node = Node{};
      return node;
    }
    auto number = cast<IntegerAttr>(constant.getValue());
    Node node{Bound::of(static_cast<double>(number.getValue().getSExtValue()))};
    node.canHold = !number.getValue().isZero();
    node.canFail = !node.canHold;
    return node;
  }

  Node truncated(arith::TruncFOp truncation) const {
    encoding::Encoding to(elementOf(truncation.getType()));
    if (truncation.getRoundingmode() == arith::RoundingMode::toward_zero)
      to.rounding = encoding::Rounding::toward_zero;
    Rounded left = roundedTo(to, bound(0));
    if (left.mayOverflow)
      code.overflows.push_back(&op);
    Node node{left.bound};
    facts.roundSums(node, ids[0], to);
    return node;
  }

  Node indexed(Attribute dim) const { return Node{Bound::of(Interval{0, code.count(dim) - 1})}; }

  /// Of conditions: both, either.
  Node joined(bool isAnd) const {
    const Node &a = code[ids[0]], &b = code[ids[1]];
    Node node;
    node.canHold = isAnd ? a.canHold && b.canHold : a.canHold || b.canHold;
    node.canFail = isAnd ? a.canFail || b.canFail : a.canFail && b.canFail;
    node.mayDiffer = node.canHold && node.canFail && (a.mayDiffer || b.mayDiffer);
    return node;
  }

  Node integers(llvm::function_ref<Interval(Interval, Interval)> of) const {
    Interval wraps = integersOf(op.getResult(0).getType()).exact;
    Interval range = of(bound(0).exact, bound(1).exact);
    bool isInside = range.low >= wraps.low && range.high <= wraps.high;
    return Node{Bound::of(isInside ? range : wraps)};
  }

  Node integer() const {
    Type type = op.getResult(0).getType();
    if (isa<FloatType>(type))
      return converted(bound(0));
    Interval all = integersOf(type).exact;
    return Node{Bound::of(intersect(bound(0).exact, all).isEmpty()
                              ? all
                              : intersect(hull(bound(0).exact, Interval::of(-1)), all))};
  }

  /// The other branch of `x == 0 ? a : b`: where x counts something it is 1 or more there.
  int ofCounted() const {
    const Node &condition = code[ids[0]];
    auto compare = dyn_cast_or_null<arith::CmpFOp>(condition.op);
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ)
      return ids[2];
    int x = condition.operands[0];
    const Bound &zero = code[condition.operands[1]].bound;
    Node counted = code[x];
    if (!counted.isWhole || counted.bound.exact.low < 0 || counted.bound.exact.high < 1 ||
        !zero.isConstant() || zero.exact.low != 0)
      return ids[2];
    counted.bound = Bound::of(intersect(counted.bound.exact, {1, kInfinity}));
    counted.op = nullptr;
    SmallVector<int, 3> operands = code[ids[2]].operands;
    Operation *branch = code[ids[2]].op;
    bool isX = ids[2] == x;
    if (!isX && (!branch || !llvm::is_contained(operands, x)))
      return ids[2];
    int known = code.add(counted);
    if (isX)
      return known;
    std::replace(operands.begin(), operands.end(), x, known);
    return code.visit(*branch, operands, place);
  }

  Node chosen() const {
    if (isa<FloatType>(op.getResult(0).getType()))
      return facts.select(ids[0], ids[1], ofCounted());
    if (op.getResult(0).getType().isInteger(1))
      return unknown();
    return Node{hull(bound(1), bound(2))};
  }

  Node make() const {
    if (std::optional<Known> function = knownOf(op)) {
      auto recipe = dyn_cast<RecipeOp>(op);
      bool narrow = recipe && recipe.getNarrow();
      if (function == Known::exp)
        return facts.exponential(ids[0], narrow);
      return function == Known::log ? facts.logarithm(ids[0])
                                    : Node{applied(*function, bound(0), narrow)};
    }
    return llvm::TypeSwitch<Operation *, Node>(&op)
        .Case([&](arith::ConstantOp c) { return constant(c); })
        .Case([&](arith::AddFOp) { return facts.add(ids[0], ids[1]); })
        .Case([&](arith::SubFOp) { return facts.subtract(ids[0], ids[1]); })
        .Case([&](arith::MulFOp) { return facts.multiply(ids[0], ids[1]); })
        .Case([&](arith::DivFOp) { return facts.divide(ids[0], ids[1]); })
        .Case([&](arith::NegFOp) { return Node{negated(bound(0))}; })
        .Case([&](arith::MaximumFOp) { return Node{larger(bound(0), bound(1))}; })
        .Case([&](arith::MinimumFOp) { return Node{smaller(bound(0), bound(1))}; })
        .Case([&](arith::TruncFOp t) { return truncated(t); })
        .Case([&](arith::CmpFOp c) { return facts.compare(c.getPredicate(), ids[0], ids[1]); })
        .Case([&](arith::SelectOp) { return chosen(); })
        .Case([&](arith::SIToFPOp) { return converted(bound(0)); })
        .Case([&](arith::AndIOp) {
          return op.getResult(0).getType().isInteger(1) ? joined(true) : unknown();
        })
        .Case([&](arith::OrIOp) {
          return op.getResult(0).getType().isInteger(1) ? joined(false) : unknown();
        })
        .Case([&](arith::AddIOp) { return integers([](Interval a, Interval b) { return a + b; }); })
        .Case([&](arith::SubIOp) { return integers([](Interval a, Interval b) { return a - b; }); })
        .Case([&](arith::MulIOp) { return integers([](Interval a, Interval b) { return a * b; }); })
        .Case([&](math::AbsFOp) { return Node{absolute(bound(0))}; })
        .Case([&](math::SqrtOp) { return facts.root(ids[0]); })
        .Case([&](math::FmaOp) { return Node{fused(bound(0), bound(1), bound(2))}; })
        .Case([&](math::PowFOp) { return Node{power(bound(0), bound(1))}; })
        .Case([&](math::FloorOp) { return Node{floored(bound(0))}; })
        .Case([&](RowSumOp) { return facts.sumOfRow(ids[0]); })
        .Case([&](RowMaxOp) { return Node{bound(0)}; })
        .Case([&](ColumnIndexOp) { return indexed(place.domain.getDims().back()); })
        .Case([&](AxisIndexOp axis) { return indexed(place.domain.getDims()[axis.getAxis()]); })
        .Case([&](IntegerOp) { return integer(); })
        .Case([&](CountOp c) {
          return converted(Bound::of(code.count(llvm::to_vector(c.getDims()))));
        })
        .Default([&](Operation *) { return unknown(); });
  }
};

int ScalarCode::visit(Operation &op, ArrayRef<int> ids, const Place &place) {
  if (isa<arith::ExtFOp, KeptOp>(op))
    return ids[0];
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Node &condition = nodes[ids[0]];
    if (!condition.canFail || !condition.canHold)
      return ids[condition.canHold ? 1 : 2];
  }
  Key key{op.getName().getAsOpaquePointer(), op.getAttrDictionary().getAsOpaquePointer()};
  for (Type type : op.getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  if (isOfRow(op) || isOfDomain(op))
    key.push_back(place.domain.getAsOpaquePointer());
  if (isa<arith::ConstantOp>(op) && place.hasWindows)
    key.push_back(nullptr);
  if (isa<math::SqrtOp>(op) && place.leastDeviation > 0)
    key.push_back(&op);
  for (int id : ids)
    key.push_back(reinterpret_cast<const void *>(static_cast<intptr_t>(id)));
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  Node node = Bodies{*this, op, ids, place}.make();
  node.op = &op;
  node.operands.assign(ids.begin(), ids.end());
  return known[key] = add(std::move(node));
}

} // namespace halftone::audit
