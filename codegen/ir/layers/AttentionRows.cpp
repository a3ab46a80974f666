// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/AttentionRows.h"

#include <cmath>
#include <limits>

#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace halftone::ir {

AttentionShape::AttentionShape(AttentionOp op) {
  auto number = [&](int64_t value) { return Builder(op).getI64IntegerAttr(value); };
  TensorType query = tensor(op.getQuery()), key = tensor(op.getKey()),
             value = tensor(op.getValue());
  sequences = SmallVector<Attribute>(query.getDims().drop_back(2));
  queries = query.getDims()[sequences.size()];
  keys = key.getDims()[sequences.size()];
  keyHeads = number(op.countKeyHeads());
  group = number(op.countHeads() / op.countKeyHeads());
  columns = number(*query.getColumns() / op.countHeads());
  valueColumns = number(*value.getColumns() / op.countKeyHeads());
}

TensorType AttentionShape::of(ArrayRef<Attribute> others) const {
  MLIRContext *context = keyHeads.getContext();
  SmallVector<Attribute> dims(sequences);
  dims.push_back(keyHeads);
  llvm::append_range(dims, others);
  return TensorType::get(context, dims, Float32Type::get(context));
}

bool AttentionRows::drops() {
  return op.getDropoutRate() && !op->getParentOfType<GraphOp>().isInference();
}

/// Behind the products stand positions, the integers that mask keys, a segment's once for queries
/// and once for keys, then counters.
Space AttentionRows::makeSpace(SmallVectorImpl<Value> &operands, unsigned results) {
  MLIRContext *context = op.getContext();
  TensorType domain = shape.products();
  Space space{domain, accesses(context, SmallVector<AccessKind>(operands.size(), AccessKind::Full)),
              accesses(context, SmallVector<AccessKind>(results, AccessKind::Full))};
  unsigned sequences = shape.sequences.size();
  auto read = [&](Value value, ArrayRef<unsigned> behindSequences) {
    SmallVector<AffineExpr> axes;
    for (unsigned i = 0; i < sequences; ++i)
      axes.push_back(getAffineDimExpr(i, context));
    for (unsigned i : behindSequences)
      axes.push_back(getAffineDimExpr(sequences + i, context));
    auto map = AffineMap::get(domain.getRank(), 0, axes, context);
    operands.push_back(value);
    space.reads.push_back(recogniseAccess(map, {domain.getDims(), {}}, tensor(value)));
  };
  constexpr unsigned kQuery = 2, kKey = 3;
  if (op.getPosition())
    read(op.getPosition(), {kQuery});
  if (op.getLength())
    read(op.getLength(), {});
  if (op.getKeyMask())
    read(op.getKeyMask(), {kKey});
  if (op.getSegment()) {
    read(op.getSegment(), {kQuery});
    read(op.getSegment(), {kKey});
  }
  if (drops())
    for (Value counter : countersFor(op)) {
      operands.push_back(counter);
      space.reads.push_back(AccessAttr::get(context, AccessKind::Scalar));
    }
  return space;
}

Type AttentionRows::heldIn(StringRef internal) {
  return shape.products().withElementType(
      typeOf(op.getContext(), internalEncoding(op, internal).element));
}

/// For products to read it as it is held.
Value AttentionRows::leave(Scalars &s, Value value, StringRef internal) {
  Encoding encoding = internalEncoding(op, internal);
  return encoding.element == Element::f32 ? value : s.truncate(value, encoding);
}

Value AttentionRows::axis(Scalars &s, unsigned behindSequences) {
  return s.axisIndex(shape.sequences.size() + behindSequences);
}

/// How far the key lies before the query: i + (n - m) - j, or from a position that is not null.
Value AttentionRows::distance(Scalars &s, Value position) {
  if (position)
    return s.minus(position, s.columnIndex());
  Value i = axis(s, 2);
  if (shape.keys != shape.queries) {
    auto length = [&](Attribute extent) {
      return s.columns(s.integer(0).getType(), shape.of({extent}));
    };
    i = s.plus(i, s.minus(length(shape.keys), length(shape.queries)));
  }
  return s.minus(i, s.columnIndex());
}

/// Null where nothing masks.
Value AttentionRows::kept(Scalars &s, Value position, ValueRange masks) {
  using Predicate = arith::CmpIPredicate;
  Value kept;
  auto require = [&](Predicate predicate, Value a, Value b) {
    Value holds = s.compare(predicate, a, b);
    kept = kept ? s.both(kept, holds) : holds;
  };
  auto next = [&] {
    Value mask = masks.front();
    masks = masks.drop_front();
    return mask;
  };
  if (op.getCausal().value_or(false))
    require(Predicate::sge, distance(s, position), s.integer(0));
  if (op.getWindow())
    require(Predicate::sle, distance(s, position),
            s.integer(static_cast<int64_t>(*op.getWindow())));
  if (op.getLength())
    require(Predicate::slt, s.columnIndex(), next());
  if (op.getKeyMask())
    require(Predicate::ne, next(), s.integer(0));
  if (op.getSegment()) {
    Value ofQuery = next();
    require(Predicate::eq, ofQuery, next());
  }
  return kept ? s.kept(kept) : kept;
}

/// Of D61, by the number of the head.
static double slopeOf(int64_t head, int64_t heads) {
  auto whole = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(heads)));
  auto of = static_cast<double>(whole);
  return head < whole ? std::exp2(-8.0 * static_cast<double>(head + 1) / of)
                      : std::exp2(-4.0 * static_cast<double>(2 * (head - whole) + 1) / of);
}

Value AttentionRows::slope(Scalars &s) {
  Type f32 = Float32Type::get(op.getContext());
  int64_t heads = op.countHeads();
  Value slope = s.constant(f32, slopeOf(heads - 1, heads));
  if (heads == 1)
    return slope;
  Value head = s.plus(s.times(axis(s, 0), s.integer(heads / op.countKeyHeads())), axis(s, 1));
  for (int64_t i = heads - 1; i-- > 0;)
    slope = s.select(s.compare(arith::CmpIPredicate::eq, head, s.integer(i)),
                     s.constant(f32, slopeOf(i, heads)), slope);
  return slope;
}

/// tanh(s * f32(1/c))
Value AttentionRows::bent(Scalars &s, Value score) {
  return s.tanh(s.mul(score, s.like(score, 1 / op.getSoftCap()->convertToDouble())));
}

Value AttentionRows::shaped(Scalars &s, Value score, Value position) {
  if (op.getSoftCap())
    score = s.mul(bent(s, score), s.like(score, op.getSoftCap()->convertToDouble()));
  if (!op.getAlibi().value_or(false))
    return score;
  Value before = distance(s, position), zero = s.integer(0);
  Value behind = s.compare(arith::CmpIPredicate::slt, before, zero);
  Value size = s.select(behind, s.minus(zero, before), before);
  return s.fma(slope(s), s.neg(s.toFloat(score.getType(), size)), score);
}

/// D35, where it drops.
Value AttentionRows::drop(Scalars &s, Value value, ValueRange others) {
  if (!drops())
    return value;
  double rate = op.getDropoutRate()->convertToDouble();
  auto threshold = static_cast<int32_t>(static_cast<uint32_t>(rate * 0x1p32)); // towards zero
  Value draw = s.draw(getLayer(op), others.take_back(4));
  Value dropped = s.compare(arith::CmpIPredicate::ult, draw, s.integer(threshold));
  return s.select(dropped, s.like(value, 0), s.mul(value, s.like(value, 1 / (1 - rate))));
}

double AttentionRows::scale() {
  auto columns = static_cast<double>(cast<IntegerAttr>(shape.columns).getInt());
  return op.getScoreScale() ? op.getScoreScale()->convertToDouble() : 1 / std::sqrt(columns);
}

AttentionRows::Row AttentionRows::compute(Scalars &s, Value product, ValueRange others) {
  Value zero = s.like(product, 0), one = s.like(product, 1);
  Row row;
  row.score = s.round(s.mul(product, s.like(product, scale())), internalEncoding(op, "scores"));
  Value position = op.getPosition() ? others.front() : Value();
  others = others.drop_front(position ? 1 : 0);
  Value z = shaped(s, row.score, position), keeps = kept(s, position, others);
  if (keeps)
    z = s.select(keeps, z, s.like(z, -std::numeric_limits<double>::infinity()));
  Value exponential = s.exp(s.sub(z, s.rowMax(z)));
  if (keeps)
    exponential = s.select(keeps, exponential, zero);
  Value sum = s.rowSum(exponential), reciprocal = s.div(one, sum);
  if (keeps)
    reciprocal = s.select(s.equal(sum, zero), zero, reciprocal);
  row.softmax = s.mul(exponential, reciprocal);
  row.weight = leave(s, drop(s, row.softmax, others), "weights");
  return row;
}

Value AttentionRows::makeWeights(OpBuilder &builder, Value products) { // D61
  SmallVector<Value> operands{products};
  Space space = makeSpace(operands, 1);
  auto map = makeMap(builder, op.getLoc(), "softmax", space, operands, heldIn("weights"),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       return {compute(s, e[0], e.drop_front()).weight};
                     });
  return map.getOutputs()[0];
}

std::pair<Value, Value> AttentionRows::makeGradients(OpBuilder &builder, Value products,
                                                     Value arriving) { // D62
  SmallVector<Value> operands{products, arriving};
  Space space = makeSpace(operands, 2);
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    ValueRange others = e.drop_front(2);
    Row row = compute(s, e[0], others);
    Value f = drop(s, e[1], others);
    Value b = s.mul(row.softmax, s.sub(f, s.rowSum(s.mul(row.softmax, f))));
    if (op.getSoftCap()) {
      Value u = bent(s, row.score);
      b = s.mul(b, s.sub(s.like(u, 1), s.mul(u, u)));
    }
    b = s.mul(b, s.like(b, scale()));
    return {row.weight, leave(s, b, "score_gradients")};
  };
  auto map = makeMap(builder, op.getLoc(), "softmax_grad", space, operands,
                     {heldIn("weights"), heldIn("score_gradients")}, code);
  return {map.getOutputs()[0], map.getOutputs()[1]};
}

} // namespace halftone::ir
