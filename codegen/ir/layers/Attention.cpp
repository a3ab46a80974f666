// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"
#include "codegen/ir/layers/AttentionRows.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace halftone::ir {

//===--- Verifier ---===//

static LogicalResult verifyHeads(AttentionOp op) {
  int64_t heads = op.countHeads(), keyHeads = op.countKeyHeads();
  if (heads < 1 || keyHeads < 1 || heads % keyHeads != 0)
    return op.emitOpError() << heads << " heads are no multiple of " << keyHeads << " key heads";
  std::pair<Value, int64_t> cut[] = {
      {op.getQuery(), heads}, {op.getKey(), keyHeads}, {op.getValue(), keyHeads}};
  for (auto [operand, count] : cut)
    if (!tensor(operand).getColumns() || *tensor(operand).getColumns() % count != 0)
      return op.emitOpError() << tensor(operand) << " cannot be cut into " << count << " heads";
  int64_t ofQuery = *tensor(op.getQuery()).getColumns() / heads,
          ofKey = *tensor(op.getKey()).getColumns() / keyHeads,
          ofValue = *tensor(op.getValue()).getColumns() / keyHeads;
  if (ofQuery != ofKey)
    return op.emitOpError() << "has " << ofQuery << " columns of the query in a head but " << ofKey
                            << " of the key";
  if (op.getType().getRowDims() != tensor(op.getQuery()).getRowDims() ||
      op.getType().getColumns() != heads * ofValue)
    return op.emitOpError() << "result " << op.getType() << " does not have " << heads * ofValue
                            << " columns for every query of " << tensor(op.getQuery());
  return success();
}

LogicalResult AttentionOp::verify() {
  TensorType query = tensor(getQuery()), key = tensor(getKey()), value = tensor(getValue());
  for (TensorType type : {query, key, value})
    if (type.getRank() < 2 || type.getDims().drop_back(2) != query.getDims().drop_back(2))
      return emitOpError() << query << ", " << key << " and " << value
                           << " are not sequences of one batch";
  if (key.getRowDims() != value.getRowDims())
    return emitOpError() << "keys " << key << " and values " << value << " do not match";
  std::pair<Value, ArrayRef<Attribute>> masks[] = {{getLength(), query.getDims().drop_back(2)},
                                                   {getKeyMask(), key.getRowDims()},
                                                   {getSegment(), query.getRowDims()},
                                                   {getPosition(), query.getRowDims()}};
  for (auto [mask, dims] : masks)
    if (mask && tensor(mask).getDims() != dims)
      return emitOpError() << "reads " << tensor(mask) << " to mask keys; it wants "
                           << formatDims(dims);
  if (getSegment() && query.getRowDims() != key.getRowDims())
    return emitOpError() << "has segments of one sequence, but reads " << query << " and " << key;
  return verifyHeads(*this);
}

/// Rules round what its products read.
SmallVector<AccessAttr> AttentionOp::getOperandAccesses() {
  SmallVector<AccessKind> kinds(getNumOperands(), AccessKind::Rhs);
  kinds.front() = AccessKind::Lhs;
  return accesses(getContext(), kinds);
}

//===--- Decoding ---===//

/// What keeps an attention from going on from earlier times; empty where nothing does.
static StringRef findObstacle(AttentionOp op, const Continuation &before) {
  if (!before.leads(tensor(op.getQuery())) ||
      tensor(op.getKey()).getRowDims() != tensor(op.getQuery()).getRowDims())
    return "does not read queries and keys of the tokens' own times";
  if (!op.getCausal().value_or(false))
    return "is not causal, so that earlier tokens depend on later ones";
  if (op.getLength() || op.getKeyMask() || op.getSegment())
    return "masks keys by an input, where the tokens that are given say what is kept";
  return {};
}

LogicalResult AttentionOp::continueFrom(const Continuation &before) {
  if (StringRef obstacle = findObstacle(*this, before); !obstacle.empty())
    return refuseToContinue(*this, obstacle);
  OpBuilder builder(*this);
  getKeyMutable().assign(before.remember(builder, *this, "key", getKey()));
  getValueMutable().assign(before.remember(builder, *this, "value", getValue()));
  getPositionMutable().assign(before.positions);
  return success();
}

unsigned AttentionOp::countOperandsOfPasses() { return 1; } // position

//===--- Heads, cut and joined ---===//

namespace {

/// Columns become heads, which move before the times; and back.
class Heads {
public:
  Heads(AttentionOp op, OpBuilder &builder) : op(op), builder(builder), shape(op) {}

  /// [..., times, columns] as sequences, key heads, `group` if there is one, times, columns.
  Value cut(Value x, bool grouped, Attribute columns) {
    SmallVector<Attribute> dims(tensor(x).getRowDims());
    dims.push_back(shape.keyHeads);
    if (grouped)
      dims.push_back(shape.group);
    dims.push_back(columns);
    return makeTranspose(builder, op.getLoc(), view(x, dims), order(dims.size(), 1 + grouped));
  }
  Value cutQuery() { return cut(op.getQuery(), true, shape.columns); }
  Value cutKey() { return cut(op.getKey(), false, shape.columns); }
  Value cutValue() { return cut(op.getValue(), false, shape.valueColumns); }

  /// The other way round, in the shape of `like`.
  Value join(Value x, bool grouped, TensorType like) {
    SmallVector<int64_t> axes = order(tensor(x).getRank(), 1 + grouped);
    Value moved = makeTranspose(builder, op.getLoc(), x, invertPermutationVector(axes));
    return view(moved, SmallVector<Attribute>(like.getDims()));
  }

  /// lhs times rhs, or with `turns` transposed lhs times rhs, for every sequence and key head.
  Value multiply(Value lhs, Value rhs, ArrayRef<Attribute> matrix, bool turnsLhs, bool turnsRhs,
                 ContractionPass pass, StringRef label) {
    return ContractOp::create(builder, op.getLoc(), shape.of(matrix), lhs, rhs, Value(), turnsLhs,
                              turnsRhs, pass, builder.getStringAttr(label),
                              static_cast<int64_t>(shape.sequences.size()) + 1);
  }

private:
  /// Of an input the elements may be others until InsertCasts.
  Value view(Value x, ArrayRef<Attribute> dims) {
    return ViewOp::create(builder, op.getLoc(),
                          tensor(x).withDims(dims).withElementType(codeTypeOf(x)), x);
  }
  /// Times behind so many dimensions of heads.
  SmallVector<int64_t> order(size_t rank, int64_t heads) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
    auto times = axes.begin() + static_cast<ptrdiff_t>(shape.sequences.size());
    std::rotate(times, times + 1, times + 1 + heads);
    return axes;
  }

  AttentionOp op;
  OpBuilder &builder;
  AttentionShape shape;
};

} // namespace

//===--- Formulas ---===//

SmallVector<Value> AttentionOp::lower(OpBuilder &builder) { // D61
  AttentionShape shape(*this);
  Heads heads(*this, builder);
  Value products =
      heads.multiply(heads.cutQuery(), heads.cutKey(), {shape.group, shape.queries, shape.keys},
                     false, true, ContractionPass::Forward, "scores");
  Value weights = AttentionRows(*this).makeWeights(builder, products);
  Value mixed =
      heads.multiply(weights, heads.cutValue(), {shape.group, shape.queries, shape.valueColumns},
                     false, false, ContractionPass::Forward, "attention");
  return {heads.join(mixed, true, getType())};
}

/// D62, for those operands that are `wanted`.
static void buildPass(AttentionOp op, OpBuilder &builder, Value arriving, ContractionPass pass,
                      ArrayRef<bool> wanted, MutableArrayRef<Value> gradients) {
  AttentionShape shape(op);
  Heads heads(op, builder);
  Value query = heads.cutQuery(), key = heads.cutKey(), value = heads.cutValue();
  Value g = heads.cut(arriving, true, shape.valueColumns);
  SmallVector<Attribute> square{shape.group, shape.queries, shape.keys};
  Value products = heads.multiply(query, key, square, false, true, pass, "scores");
  Value ofWeights = heads.multiply(g, value, square, false, true, pass, "weights_grad");
  auto [p, b] = AttentionRows(op).makeGradients(builder, products, ofWeights);
  auto gradient = [&](unsigned operand, Value lhs, Value rhs, ArrayRef<Attribute> matrix,
                      StringRef label) {
    if (!wanted[operand])
      return;
    bool isQuery = operand == 0;
    Value product = heads.multiply(lhs, rhs, matrix, !isQuery, false, pass, label);
    gradients[operand] = heads.join(product, isQuery, gradientType(op.getOperand(operand)));
  };
  gradient(0, b, key, {shape.group, shape.queries, shape.columns}, "query_grad");
  gradient(1, b, query, {shape.keys, shape.columns}, "key_grad");
  gradient(2, p, g, {shape.keys, shape.valueColumns}, "value_grad");
}

/// Once for values and once for parameters, whose pass may read its operands otherwise.
SmallVector<Value> AttentionOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  SmallVector<Value> gradients(getNumOperands());
  for (ContractionPass pass : {ContractionPass::InputGradient, ContractionPass::WeightGradient}) {
    bool wanted[3];
    for (unsigned i = 0; i < 3; ++i)
      wanted[i] = (getOperand(i).getDefiningOp<ParameterOp>() != nullptr) ==
                  (pass == ContractionPass::WeightGradient);
    if (llvm::is_contained(wanted, true))
      buildPass(*this, builder, resultGradients[0], pass, wanted, gradients);
  }
  return gradients;
}

} // namespace halftone::ir
