// SPDX-License-Identifier: Apache-2.0
// The matrix is that of NVIDIA's TransformerEngine (get_rht_matrix of nvfp4_tensor.py).
#include "codegen/passes/Rotation.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;

namespace halftone::ir {
namespace {

constexpr StringLiteral kRotationAttr = "halftone.rotation";
constexpr int64_t kSize = encoding::kRotated;
/// Of get_wgrad_sign_vector().
constexpr int kSigns[kSize] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};

/// Sums of neighbours, then of neighbouring sums, each second one with the sign that a bit of
/// `place` says: an element of a Hadamard matrix times them.
Value transformed(Scalars &s, SmallVector<Value> terms, Value place) {
  for (int64_t bit = 0; terms.size() > 1; ++bit) {
    Value isSet = s.compare(arith::CmpIPredicate::ne,
                            s.both(s.shiftRight(place, bit), s.integer(1)), s.integer(0));
    Value sign = s.select(isSet, s.like(terms[0], -1), s.like(terms[0], 1));
    for (size_t i = 0; i < terms.size() / 2; ++i)
      terms[i] = s.add(terms[2 * i], s.mul(sign, terms[2 * i + 1]));
    terms.resize(terms.size() / 2);
  }
  return terms[0];
}

/// What rules round an operand to before it is multiplied: no vector is scaled (P51).
Encoding readBy(ContractOp contract, unsigned operand, Attribute chain) {
  auto points = cast<ArrayAttr>(chain).getAsRange<RoundingPointAttr>();
  if (points.empty() || tensor(contract->getOperand(operand)).getRank() < 2)
    return Encoding();
  return (*std::prev(points.end())).getEncoding();
}

} // namespace

MapOp rotated(OpBuilder &builder, Location loc, Value x, const encoding::Scaling &scaling) {
  TensorType type = tensor(x);
  bool areInRow = scaling.rows == 1;
  unsigned dim = type.getRank() - (areInRow ? 1 : 2);
  Attribute extent = type.getDims()[dim];
  auto number = dyn_cast<IntegerAttr>(extent);
  bool mayEndEarly = !number || number.getInt() % kSize != 0;
  Space space{type, {}, {AccessAttr::get(builder.getContext(), AccessKind::Full)}};
  for (int64_t inside = 0; inside < kSize; ++inside) {
    SmallVector<AffineExpr> at = axesOf(type);
    at[dim] = at[dim].floorDiv(kSize) * kSize + inside;
    space.reads.push_back(readAt(at, type, type));
  }
  if (mayEndEarly)
    space.reads.push_back(space.writes[0]);
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value place = areInRow ? s.columnIndex() : s.axisIndex(dim);
    SmallVector<Value> terms;
    for (int64_t r = 0; r < kSize; ++r)
      terms.push_back(s.mul(e[r], s.like(e[r], 0.25 * kSigns[r])));
    Value y = transformed(s, std::move(terms), place);
    if (!mayEndEarly)
      return {y};
    Value end = s.plus(s.both(place, s.integer(-kSize)), s.integer(kSize));
    Value isWhole =
        s.compare(arith::CmpIPredicate::sle, end, s.count(builder.getI32Type(), {extent}));
    return {s.select(isWhole, y, e[kSize])};
  };
  SmallVector<Value> operands(space.reads.size(), x);
  return makeMap(builder, loc, "rotate", space, operands, type, code);
}

void noteRotation(Operation *op) {
  for (StringRef name : {StringRef(kRotationAttr), StringRef(kInternalAttr)})
    op->setAttr(name, UnitAttr::get(op->getContext()));
}

bool isRotation(Operation *op) { return op->hasAttr(kRotationAttr); }

LogicalResult checkRotations(ContractOp contract) {
  auto precision = contract->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
  if (!precision || precision.getOperands().size() < 2)
    return success();
  Encoding reads[2];
  for (unsigned i : {0u, 1u})
    reads[i] = readBy(contract, i, precision.getOperands()[i]);
  auto fail = [&] { return contract.emitError() << "'" << getLayer(contract) << "' "; };
  if (reads[0].scaling.rotated != reads[1].scaling.rotated)
    return fail() << "multiplies an operand in rotated blocks by one that is not rotated, so that "
                     "its sums would mean nothing; state rotated for both operands of a pass, or "
                     "for none (P106)";
  bool alongRows[] = {!contract.getTransposeLhs(), contract.getTransposeRhs()};
  for (unsigned i : {0u, 1u})
    if (reads[i].scaling.rotated && alongRows[i] != (reads[i].scaling.rows == 1))
      return fail() << "rotates blocks of an operand that lie across what it sums over; state "
                       "block 16 where it sums along the last dimension, block 16 by 1 where along "
                       "the one in front of that (P106)";
  return success();
}

} // namespace halftone::ir
