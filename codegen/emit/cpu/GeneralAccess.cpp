// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/cpu/GeneralAccess.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/ir/Accesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::cpu {

namespace {

/// Affine expressions as i64: a scalar where all lanes agree, else a vector.
class LaneIndices {
public:
  LaneIndices(Code &code, unsigned lanes) : code(code), lanes(lanes) {}

  template <class Op> Value combine(Value a, Value b) {
    if (isa<VectorType>(a.getType()) || isa<VectorType>(b.getType()))
      a = code.splat(a, lanes), b = code.splat(b, lanes);
    return Op::create(code.builder, code.loc, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    if (isa<VectorType>(a.getType()) || isa<VectorType>(b.getType()))
      a = code.splat(a, lanes), b = code.splat(b, lanes);
    return arith::CmpIOp::create(code.builder, code.loc, predicate, a, b);
  }

  Value evaluate(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return code.integer(constant.getValue());
    if (auto axis = dyn_cast<AffineDimExpr>(expr))
      return axes[axis.getPosition()];
    if (auto index = dyn_cast<AffineSymbolExpr>(expr))
      return indices[index.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value a = evaluate(binary.getLHS()), b = evaluate(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Add)
      return combine<arith::AddIOp>(a, b);
    if (expr.getKind() == AffineExprKind::Mul)
      return combine<arith::MulIOp>(a, b);
    Value rest = floorModulo(a, b);
    if (expr.getKind() == AffineExprKind::Mod)
      return rest;
    return combine<arith::DivSIOp>(combine<arith::SubIOp>(a, rest), b);
  }

  Values axes, indices;

private:
  Value floorModulo(Value a, Value b) {
    Value positive = combine<arith::AddIOp>(combine<arith::RemSIOp>(a, b), b);
    return combine<arith::RemSIOp>(positive, b);
  }

  Code &code;
  unsigned lanes;
};

/// The row's number taken apart, and the columns.
Values axesOf(Code &code, Frame &frame, const ColumnRange &element) {
  Values axes = takeApart(code, frame, element.row, frame.kernel.getDomainType().getRowDims());
  axes.push_back(arith::AddIOp::create(code.builder, code.loc,
                                       code.splat(element.column, element.lanes),
                                       code.lanesOf(code.i64(), element.lanes)));
  return axes;
}

} // namespace

namespace {

/// One operand at one element.
class Reading {
public:
  Reading(Code &code, Frame &frame, unsigned input, Values axes, const ColumnRange &element,
          ValueRange indices)
      : code(code), frame(frame), element(element), access(frame.kernel.getInputAccess(input)),
        type(cast<ir::TensorType>(frame.kernel.getInputs()[input].getType())), input(input),
        lanes(code, element.lanes), inside(element.mask) {
    lanes.axes = std::move(axes);
    for (Value index : indices) {
      Type wide = isa<VectorType>(index.getType()) ? Type(code.vector(code.i64(), element.lanes))
                                                   : code.i64();
      lanes.indices.push_back(arith::ExtSIOp::create(code.builder, code.loc, wide, index));
    }
    for (Attribute length : access.getLengths())
      lanes.indices.push_back(frame.product(code, length));
  }

  /// Lanes that lie side by side in the operand, `offset` columns on.
  Value loadLine(int64_t offset) {
    Value line = findPlace();
    Value first = code.add(line, code.add(element.column, code.integer(offset)));
    Type storage = storageOf(type.getElementType());
    return code.load(code.vector(storage, element.lanes),
                     code.address(frame.input(input), storage, first),
                     inside ? code.splat(inside, element.lanes) : Value());
  }

  Value gather() {
    unsigned last = type.getRank();
    Value place = findPlace();
    if (last > 0)
      place = lanes.combine<arith::AddIOp>(
          place, lanes.evaluate(access.getMap().getValue().getResult(last - 1)));
    Value all = arith::ConstantIntOp::create(code.builder, code.loc, 1, 1);
    return code.gather(storageOf(type.getElementType()), frame.input(input),
                       code.splat(place, element.lanes),
                       code.splat(inside ? inside : all, element.lanes));
  }

  /// Of one lane.
  Line line() {
    Value index = findPlace(type.getRank() - 1);
    return {index, inside};
  }

  Run run() {
    AffineMap map = access.getMap().getValue();
    const unsigned dim = type.getRank() - 2;
    Value index = findPlace(dim);
    Run result{{index, inside}, lanes.evaluate(map.getResult(dim)), {}};
    if (!staysInside(map, dim, ir::axesOf(frame.kernel), type))
      result.extent = frame.product(code, type.getDims()[dim]);
    return result;
  }

private:
  /// Where the line begins that the last dimension counts, and which lanes are inside: of those
  /// dimensions that are looked at.
  Value findPlace() { return findPlace(type.getRank()); }
  Value findPlace(unsigned looksAt) {
    AffineMap map = access.getMap().getValue();
    Value place = code.integer(0);
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      Value extent = frame.product(code, type.getDims()[dim]);
      bool isLast = dim + 1 == type.getRank();
      Value at = dim < looksAt ? lanes.evaluate(map.getResult(dim)) : Value();
      if (at &&
          !staysInside(map, dim, ir::axesOf(frame.kernel), type)) // below zero is above, unsigned
        require(lanes.compare(arith::CmpIPredicate::ult, at, extent));
      place = lanes.combine<arith::MulIOp>(place, extent);
      if (at && !isLast)
        place = lanes.combine<arith::AddIOp>(place, at);
    }
    IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
    for (unsigned i = 0; where && i < where.getNumConstraints(); ++i)
      require(lanes.compare(where.isEq(i) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                            lanes.evaluate(where.getConstraint(i)), code.integer(0)));
    return place;
  }
  void require(Value condition) {
    inside = inside ? lanes.combine<arith::AndIOp>(inside, condition) : condition;
  }

  Code &code;
  Frame &frame;
  const ColumnRange &element;
  AccessAttr access;
  ir::TensorType type;
  unsigned input;
  LaneIndices lanes;
  Value inside; ///< null for all lanes
};

} // namespace

static Values takeApart(Code &code, Value index, size_t count,
                        function_ref<Value(size_t axis)> extentOf) {
  Values places(count);
  for (size_t i = count; i-- > 0;) {
    Value extent = extentOf(i);
    places[i] =
        i == 0 ? index : Value(arith::RemSIOp::create(code.builder, code.loc, index, extent));
    if (i > 0)
      index = arith::DivSIOp::create(code.builder, code.loc, index, extent);
  }
  return places;
}

Values takeApart(Code &code, Frame &frame, Value index, ArrayRef<Attribute> dims) {
  return takeApart(code, index, dims.size(),
                   [&](size_t axis) { return frame.product(code, dims[axis]); });
}

Values takeApart(Code &code, Value index, ValueRange extents) {
  return takeApart(code, index, extents.size(), [&](size_t axis) { return extents[axis]; });
}

Line findLine(Code &code, Frame &frame, unsigned input, ValueRange axes) {
  return Reading(code, frame, input, Values(axes), {{}, {}, {}, 1}, {}).line();
}

Run findRun(Code &code, Frame &frame, unsigned input, ValueRange axes) {
  return Reading(code, frame, input, Values(axes), {{}, {}, {}, 1}, {}).run();
}

Value loadGeneral(Code &code, Frame &frame, unsigned input, const ColumnRange &element,
                  ValueRange indices) {
  Reading reading(code, frame, input, axesOf(code, frame, element), element, indices);
  if (std::optional<int64_t> offset = getLineOffset(frame.kernel, input))
    return reading.loadLine(*offset);
  return reading.gather();
}

} // namespace halftone::cpu
