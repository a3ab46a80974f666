// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

static LogicalResult verifyBatch(ContractOp op) {
  size_t axes = op.getBatchAxes();
  if (axes == 0)
    return success();
  TensorType lhs = tensor(op.getLhs()), rhs = tensor(op.getRhs()), result = op.getType();
  for (TensorType type : {lhs, rhs, result})
    if (type.getRank() < axes + 2)
      return op.emitOpError() << type << " has no matrix behind a batch of " << axes
                              << (axes == 1 ? " axis" : " axes");
  for (TensorType type : {rhs, result})
    if (type.getDims().take_front(axes) != lhs.getDims().take_front(axes))
      return op.emitOpError() << "has a batch of " << formatDims(lhs.getDims().take_front(axes))
                              << " in lhs but " << formatDims(type.getDims().take_front(axes))
                              << (type == rhs ? " in rhs" : " in its result");
  return success();
}

/// Whether the matrices behind a batch of so many axes are those of a product.
template <typename Op> static LogicalResult verifyMatrices(Op op, size_t batchAxes) {
  auto matrix = [&](TensorType type, bool transpose) {
    ArrayRef<Attribute> dims = type.getDims().drop_front(batchAxes);
    ArrayRef<Attribute> rows = dims.drop_back(), columns = dims.take_back();
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(tensor(op.getLhs()), op.getTransposeLhs());
  auto [k2, n] = matrix(tensor(op.getRhs()), op.getTransposeRhs());
  if (k != k2)
    return op.emitOpError() << "sums over " << formatDims(k) << " of lhs but " << formatDims(k2)
                            << " of rhs";
  auto [rows, columns] = matrix(op.getType(), false);
  if (rows != m || columns != n)
    return op.emitOpError() << "result " << op.getType() << " is not " << formatDims(m) << " by "
                            << formatDims(n);
  return success();
}

LogicalResult ContractOp::verify() {
  if (failed(verifyBatch(*this)) || failed(verifyMatrices(*this, getBatchAxes())))
    return failure();
  if (getStart() && tensor(getStart()) != getType())
    return emitOpError() << "starts from " << tensor(getStart()) << ", which is no " << getType();
  return success();
}

static SmallVector<Attribute> reductionOf(TensorType lhs, bool transposed, size_t batchAxes) {
  ArrayRef<Attribute> dims = lhs.getDims().drop_front(batchAxes);
  ArrayRef<Attribute> reduced = transposed ? dims.drop_back() : dims.take_back();
  if (reduced.empty()) // a single row
    return {IntegerAttr::get(IntegerType::get(lhs.getContext(), 64), 1)};
  return SmallVector<Attribute>(reduced);
}

SmallVector<Attribute> ContractOp::getReduction() {
  return reductionOf(tensor(getLhs()), getTransposeLhs(), getBatchAxes());
}

Skeleton ContractOp::getSkeleton() { return Skeleton::Contraction; }

TensorType ContractOp::getDomain() { return getType(); }

SmallVector<AccessAttr> ContractOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Start});
  list.resize(getNumOperands());
  return list;
}

SmallVector<AccessAttr> ContractOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> ContractOp::buildBody(OpBuilder &, ValueRange, Value accumulator) {
  return {accumulator};
} // D40

//===--- Of codes in blocks ---===//

/// Of an operand, with so many lines and places of the sum to a block.
static LogicalResult verifyBlocks(ScaledContractOp op, TensorType matrix, TensorType scales,
                                  ArrayRef<int64_t> block, bool alongSum) {
  // Places that an instruction multiplies by one scale, or of a part of the sum (N17).
  const int64_t kScaled = op.getByFactors() ? 128 : 32;
  if (block.size() != 2 || block[0] < 1 || block[1] < 1 || block[1] % kScaled != 0)
    return op.emitOpError() << "wants blocks of one line or more by a multiple of " << kScaled
                            << " places of the sum";
  if (matrix.getRank() < 2 || bitsOf(matrix.getElementType()) != 8)
    return op.emitOpError() << "multiplies blocks of " << matrix << ", which is no matrix of codes";
  SmallVector<Attribute> dims(matrix.getDims());
  dims.back() = countParts(dims.back(), block[alongSum]);
  dims[dims.size() - 2] = countParts(dims[dims.size() - 2], block[!alongSum]);
  if (scales.getDims() != ArrayRef<Attribute>(dims) || !scales.getElementType().isF32())
    return op.emitOpError() << "has " << scales << " as scales of " << matrix << ", not "
                            << formatDims(dims) << " in f32";
  return success();
}

bool ScaledContractOp::isPacked() { return tensor(getLhs()).getElementType().isInteger(32); }

/// Of codes of 4 bits.
static LogicalResult verifyPacked(ScaledContractOp op) {
  constexpr int64_t kWords = 8;
  TensorType result = op.getType();
  SmallVector<Attribute> sums = op.getReduction();
  auto rows = result.getDims().drop_back(), columns = result.getDims().take_back();
  auto check = [&](Value operand, Value scales, ArrayRef<Attribute> lines) -> LogicalResult {
    SmallVector<Attribute> dims(lines);
    llvm::append_range(dims, sums);
    TensorType words = result.withElementType(IntegerType::get(op.getContext(), 32)).withDims(dims);
    if (tensor(operand) != words || tensor(scales) != words.withDims(words.getRowDims()))
      return op.emitOpError() << "has " << tensor(operand) << " by " << tensor(scales)
                              << " as packed codes and scales, not " << words << " by "
                              << words.withDims(words.getRowDims());
    return success();
  };
  ArrayRef<int64_t> block = op.getLhsBlock();
  auto last = sums.size() < 2 ? IntegerAttr() : dyn_cast<IntegerAttr>(sums.back());
  if (!last || last.getInt() != kWords)
    return op.emitOpError("sums packed codes over parts of eight words, and over no others");
  if (op.getTransposeLhs() || !op.getTransposeRhs() || block != op.getRhsBlock() ||
      block.size() != 2 || block[0] != 1 || (block[1] != 16 && block[1] != 32))
    return op.emitOpError(
        "multiplies packed codes that lie along the sum, in blocks of one line by 16 or 32 places");
  if (failed(check(op.getLhs(), op.getLhsScales(), rows)))
    return failure();
  return check(op.getRhs(), op.getRhsScales(), columns);
}

LogicalResult ScaledContractOp::verify() {
  if (isPacked() && getByFactors())
    return emitOpError("multiplies sums of packed codes by no factors");
  if (isPacked())
    return verifyPacked(*this);
  if (failed(verifyMatrices(*this, 0)) ||
      failed(verifyBlocks(*this, tensor(getLhs()), tensor(getLhsScales()), getLhsBlock(),
                          !getTransposeLhs())))
    return failure();
  return verifyBlocks(*this, tensor(getRhs()), tensor(getRhsScales()), getRhsBlock(),
                      getTransposeRhs());
}

SmallVector<Attribute> ScaledContractOp::getReduction() {
  if (isPacked())
    return SmallVector<Attribute>(tensor(getLhs()).getDims().drop_front(
        std::min(getType().getRank() - 1, tensor(getLhs()).getRank())));
  return reductionOf(tensor(getLhs()), getTransposeLhs(), 0);
}

Skeleton ScaledContractOp::getSkeleton() { return Skeleton::Contraction; }

TensorType ScaledContractOp::getDomain() { return getType(); }

/// Where the scale of an operand's element lies, by the domain's axes and those of the sum behind
/// them: `lines` of the former are the operand's, in front of the sum's or behind them.
static AccessAttr accessOfScales(MLIRContext *context, AccessKind kind, unsigned axes,
                                 unsigned firstLine, unsigned lines, unsigned sums, bool alongSum,
                                 ArrayRef<int64_t> block) {
  auto range = [&](unsigned first, unsigned count, int64_t size) {
    SmallVector<AffineExpr> at;
    for (unsigned axis = first; axis < first + count; ++axis)
      at.push_back(getAffineDimExpr(axis, context));
    at.back() = at.back().floorDiv(size);
    return at;
  };
  SmallVector<AffineExpr> ofLines = range(firstLine, lines, block[0]),
                          ofSum = range(axes - sums, sums, block[1]);
  SmallVector<AffineExpr> at = alongSum ? ofLines : ofSum;
  llvm::append_range(at, alongSum ? ofSum : ofLines);
  return AccessAttr::get(context, kind, 0, AffineMapAttr::get(AffineMap::get(axes, 0, at, context)),
                         {}, {});
}

SmallVector<AccessAttr> ScaledContractOp::getOperandAccesses() {
  unsigned domain = getType().getRank(), sums = getReduction().size();
  auto ofParts = [&](AccessKind kind, unsigned first, unsigned last) {
    SmallVector<AffineExpr> at;
    for (unsigned axis = 0; axis + 1 < domain + sums; ++axis)
      if ((axis >= first && axis < last) || axis >= domain)
        at.push_back(getAffineDimExpr(axis, getContext()));
    return AccessAttr::get(getContext(), kind, 0,
                           AffineMapAttr::get(AffineMap::get(domain + sums, 0, at, getContext())),
                           {}, {});
  };
  if (isPacked())
    return {AccessAttr::get(getContext(), AccessKind::Lhs),
            ofParts(AccessKind::LhsScales, 0, domain - 1),
            AccessAttr::get(getContext(), AccessKind::Rhs),
            ofParts(AccessKind::RhsScales, domain - 1, domain)};
  auto scales = [&](AccessKind kind, unsigned firstLine, unsigned lines, bool alongSum,
                    ArrayRef<int64_t> block) {
    return accessOfScales(getContext(), kind, domain + sums, firstLine, lines, sums, alongSum,
                          block);
  };
  return {AccessAttr::get(getContext(), AccessKind::Lhs),
          scales(AccessKind::LhsScales, 0, domain - 1, !getTransposeLhs(), getLhsBlock()),
          AccessAttr::get(getContext(), AccessKind::Rhs),
          scales(AccessKind::RhsScales, domain - 1, 1, getTransposeRhs(), getRhsBlock())};
}

SmallVector<AccessAttr> ScaledContractOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> ScaledContractOp::buildBody(OpBuilder &, ValueRange, Value accumulator) {
  return {accumulator};
}

} // namespace halftone::ir
