// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"

#include "codegen/ir/Transforms.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace halftone::ir {

namespace {

using Results = SmallVector<AffineExpr>;

class MapBuilder {
public:
  MapBuilder(const Axes &axes, TensorType tensor)
      : axes(axes), tensor(tensor), context(tensor.getContext()),
        rows(axes.domain.empty() ? 0 : axes.domain.size() - 1) {}

  AffineMap build(AccessAttr access, bool transposed) {
    switch (access.getKind()) {
    case AccessKind::Start: // of a product its result's elements, of sums over rows their columns
      if (axes.reduction.empty())
        return fit(column());
      [[fallthrough]];
    case AccessKind::Full:
      return fit(joined(range(0, rows), column()));
    case AccessKind::Window:
      return fit(joined(range(0, rows), {column()[0] + access.getOffset()}));
    case AccessKind::Column:
      return fit(column());
    case AccessKind::Row:
      return fit(range(0, rows));
    case AccessKind::Scalar:
      return fit({});
    case AccessKind::Lhs:
      return access.getMap() ? access.getMap().getValue() : buildLhs(transposed);
    case AccessKind::Rhs:
      return access.getMap() ? access.getMap().getValue() : buildRhs(transposed);
    case AccessKind::Segment: // which no map of axes is
    case AccessKind::Values:
    case AccessKind::Lhs2:
    case AccessKind::Rhs2:
    case AccessKind::Turns:
    case AccessKind::Factor:
    case AccessKind::Transformed:
      return {};
    case AccessKind::LhsScales:
    case AccessKind::RhsScales:
    case AccessKind::General:
      return access.getMap() ? access.getMap().getValue() : AffineMap();
    }
    llvm_unreachable("all classes are listed");
  }

private:
  Results range(unsigned first, unsigned last) {
    Results axesInRange;
    for (unsigned axis = first; axis < last; ++axis)
      axesInRange.push_back(getAffineDimExpr(axis, context));
    return axesInRange;
  }
  Results column() { return range(rows, axes.domain.size()); }
  Results reduced() { return range(axes.domain.size(), axes.size()); }
  static Results joined(Results a, const Results &b) {
    a.append(b);
    return a;
  }

  /// The last of the dimensions is one axis of the domain, whose batch precedes it.
  AffineMap buildLhs(bool transposed) {
    if (!transposed)
      return fit(joined(range(0, rows), reduced()));
    unsigned batch = rows ? rows - 1 : 0;
    return fit(joined(joined(range(0, batch), reduced()), range(batch, rows)));
  }
  AffineMap buildRhs(bool transposed) {
    unsigned batchAxes = countBatchAxes(axes.reduction, tensor);
    if (batchAxes > rows)
      return {};
    Results batch = range(0, batchAxes);
    return fit(transposed ? joined(joined(batch, column()), reduced())
                          : joined(joined(batch, reduced()), column()));
  }

  /// Axes of extent 1 that the tensor does not spell join a neighbour: the first ones, unless
  /// others then stand where it has other extents.
  AffineMap fit(const Results &results) {
    AffineMap first = dropFirstUnits(results);
    return first && meets(first) ? first : dropUnspelled(results).value_or(first);
  }

  Attribute extentOf(AffineExpr expr) const {
    auto axis = dyn_cast<AffineDimExpr>(expr);
    return axis ? axes.extent(axis.getPosition()) : Attribute();
  }
  static bool isUnit(Attribute extent) {
    auto number = dyn_cast_or_null<IntegerAttr>(extent);
    return number && number.getInt() == 1;
  }

  /// Whether all axes but those of extent 1 are as long as the dimensions that they stand for.
  bool meets(AffineMap map) const {
    bool meets = true;
    for (auto [expr, dim] : llvm::zip_equal(map.getResults(), tensor.getDims()))
      expr.walk([&, dim = dim](AffineExpr part) {
        Attribute extent = extentOf(part);
        meets &= !extent || isUnit(extent) || extent == dim;
      });
    return meets;
  }

  /// Each dimension by the first axis of its extent behind that of the one before; none where other
  /// axes than units are left.
  std::optional<AffineMap> dropUnspelled(const Results &results) const {
    Results spelled, left;
    for (AffineExpr expr : results) {
      Attribute extent = extentOf(expr);
      if (spelled.size() < tensor.getRank() && extent == tensor.getDims()[spelled.size()])
        spelled.push_back(expr);
      else if (isUnit(extent))
        left.push_back(expr);
      else
        return std::nullopt;
    }
    if (spelled.size() != tensor.getRank() || spelled.empty())
      return std::nullopt;
    for (AffineExpr unit : left)
      spelled.back() = spelled.back() + unit;
    return AffineMap::get(axes.size(), 0, spelled, context);
  }

  AffineMap dropFirstUnits(Results results) {
    while (results.size() > tensor.getRank()) {
      auto *unit = llvm::find_if(results, [&](AffineExpr expr) { return isUnit(extentOf(expr)); });
      if (unit == results.end())
        return {};
      AffineExpr axis = *unit;
      results.erase(unit);
      if (!results.empty())
        results.back() = results.back() + axis;
    }
    if (results.size() != tensor.getRank())
      return {};
    return AffineMap::get(axes.size(), 0, results, context);
  }

  const Axes &axes;
  TensorType tensor;
  MLIRContext *context;
  unsigned rows; ///< axes of the domain that are not columns
};

} // namespace

Axes axesOf(KernelOp kernel) {
  return {kernel.getDomain().getValue(), kernel.getReduction().getValue()};
}

unsigned countBatchAxes(ArrayRef<Attribute> reduction, TensorType rhs) {
  unsigned matrix = reduction.size() + 1;
  return rhs.getRank() > matrix ? rhs.getRank() - matrix : 0;
}

unsigned countBatchAxesOfSegments(TensorType sums) {
  return sums.getRank() > 2 ? sums.getRank() - 2 : 0;
}

AffineMap getMap(AccessAttr access, const Axes &axes, TensorType tensor, bool transposed) {
  return MapBuilder(axes, tensor).build(access, transposed);
}

/// A window and what is read by a map of its own may leave the operand.
static bool fits(AccessAttr access, const Axes &axes, TensorType tensor, bool transposed) {
  AffineMap map = getMap(access, axes, tensor, transposed);
  if (!map || map.getNumDims() != axes.size() || map.getNumResults() != tensor.getRank() ||
      (isMatrix(access.getKind()) && access.getKind() != AccessKind::Start &&
       axes.reduction.empty()))
    return false;
  if (access.getMap())
    return true;
  unsigned inside = tensor.getRank() - (access.getKind() == AccessKind::Window);
  return llvm::all_of(llvm::seq(inside),
                      [&](unsigned dim) { return staysInside(map, dim, axes, tensor); });
}

SmallVector<AffineExpr> axesOf(TensorType domain) {
  SmallVector<AffineExpr> axes;
  for (unsigned axis = 0; axis < domain.getRank(); ++axis)
    axes.push_back(getAffineDimExpr(axis, domain.getContext()));
  return axes;
}

AccessAttr readAt(ArrayRef<AffineExpr> at, TensorType domain, TensorType operand,
                  ArrayRef<Attribute> lengths) {
  MLIRContext *context = domain.getContext();
  auto map = AffineMap::get(domain.getRank(), lengths.size(), at, context);
  auto isLength = [](AffineExpr expr) {
    bool is = false;
    expr.walk([&](AffineExpr part) { is |= isa<AffineSymbolExpr>(part); });
    return is;
  };
  if (llvm::any_of(at, isLength))
    return AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map), {}, {},
                           lengths);
  return recogniseAccess(AffineMap::get(domain.getRank(), 0, at, context), {domain.getDims(), {}},
                         operand);
}

/// Whether the axes that dimension `dim` is read by reach all of it, so that what lies behind it is
/// as far apart as in the domain. One of extent 1 reads a single place of a longer dimension.
static bool reachesAll(AffineMap map, unsigned dim, const Axes &axes, TensorType tensor) {
  auto one = IntegerAttr::get(IntegerType::get(tensor.getContext(), 64), 1);
  bool reaches = tensor.getDims()[dim] == one;
  map.getResult(dim).walk([&](AffineExpr expr) {
    if (auto axis = dyn_cast<AffineDimExpr>(expr))
      reaches |= axes.extent(axis.getPosition()) == tensor.getDims()[dim];
  });
  return reaches;
}

AccessAttr recogniseAccess(AffineMap map, const Axes &axes, TensorType tensor) {
  MLIRContext *context = tensor.getContext();
  auto reachesAllBut = [&](unsigned last) {
    return llvm::all_of(llvm::seq(tensor.getRank() - last),
                        [&](unsigned dim) { return reachesAll(map, dim, axes, tensor); });
  };
  for (AccessKind kind :
       {AccessKind::Full, AccessKind::Column, AccessKind::Row, AccessKind::Scalar}) {
    auto named = AccessAttr::get(context, kind);
    if (getMap(named, axes, tensor, false) == map && fits(named, axes, tensor, false) &&
        reachesAllBut(0))
      return named;
  }
  if (map.getNumResults() == axes.domain.size() && !axes.domain.empty()) {
    AffineExpr column = getAffineDimExpr(axes.domain.size() - 1, context);
    if (auto offset = dyn_cast<AffineConstantExpr>(map.getResults().back() - column)) {
      auto window = AccessAttr::get(context, AccessKind::Window, offset.getValue());
      if (getMap(window, axes, tensor, false) == map && fits(window, axes, tensor, false) &&
          reachesAllBut(1))
        return window;
    }
  }
  return AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map), {}, {});
}

bool staysInside(AffineMap map, unsigned dim, const Axes &axes, TensorType tensor) {
  SmallVector<AffineExpr> terms{map.getResult(dim)};
  bool known = false;
  while (!terms.empty()) { // a sum of axes, all but one of extent 1
    AffineExpr term = terms.pop_back_val();
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(term);
        sum && term.getKind() == AffineExprKind::Add) {
      terms.append({sum.getLHS(), sum.getRHS()});
      continue;
    }
    auto axis = dyn_cast<AffineDimExpr>(term);
    if (!axis)
      return false;
    Attribute extent = axes.extent(axis.getPosition());
    auto number = dyn_cast<IntegerAttr>(extent);
    if (number && number.getInt() == 1)
      continue;
    if (known || extent != tensor.getDims()[dim])
      return false;
    known = true;
  }
  return true;
}

std::optional<int64_t> getLineOffset(KernelOp kernel, unsigned input) {
  AccessAttr access = kernel.getInputAccess(input);
  AffineMap map = access.getMap().getValue();
  IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
  unsigned column = kernel.getDomain().size() - 1;
  auto varies = [&](AffineExpr expr) { return expr.isFunctionOfDim(column); };
  auto indexVaries = [&](int64_t index) {
    AccessKind kind = kernel.getInputAccess(index).getKind();
    return kind != AccessKind::Row && kind != AccessKind::Scalar;
  };
  if (map.getNumResults() == 0 || llvm::any_of(map.getResults().drop_back(), varies) ||
      (where && llvm::any_of(where.getConstraints(), varies)) ||
      llvm::any_of(access.getIndices(), indexVaries))
    return std::nullopt;
  AffineExpr last = map.getResults().back();
  if (auto offset =
          dyn_cast<AffineConstantExpr>(last - getAffineDimExpr(column, kernel.getContext())))
    return offset.getValue();
  return std::nullopt;
}

//===--- Verifiers ---===//

LogicalResult verifyAccess(Operation *op, const Axes &axes, AccessAttr access, TensorType tensor,
                           bool transposed) {
  if (fits(access, axes, tensor, transposed))
    return success();
  return op->emitOpError() << tensor << " cannot be accessed as "
                           << stringifyAccessKind(access.getKind()) << " of domain "
                           << formatDims(axes.domain);
}

static LogicalResult verifyIndices(KernelOp kernel, AccessAttr access) {
  for (int64_t index : access.getIndices()) {
    if (index < 0 || index >= static_cast<int64_t>(kernel.getInputs().size()))
      return kernel.emitOpError() << "reads through operand " << index << ", which it has not";
    auto type = cast<TensorType>(kernel.getInputs()[index].getType());
    if (!type.getElementType().isInteger(32))
      return kernel.emitOpError() << "reads through operand " << index << ", which holds "
                                  << type.getElementType() << ": indices are i32";
    AccessKind kind = kernel.getInputAccess(index).getKind();
    if (kind == AccessKind::Window || kind == AccessKind::General || isMatrix(kind))
      return kernel.emitOpError() << "reads through operand " << index << " accessed as "
                                  << stringifyAccessKind(kind)
                                  << ": an index is full, column, row or scalar";
  }
  return success();
}

static LogicalResult verifyGeneral(KernelOp kernel, AccessAttr access, TensorType tensor) {
  Axes axes = axesOf(kernel);
  if (!access.getMap())
    return kernel.emitOpError("has a general access without a map");
  AffineMap map = access.getMap().getValue();
  if (map.getNumDims() != axes.size() || map.getNumResults() != tensor.getRank() ||
      map.getNumSymbols() != access.getIndices().size() + access.getLengths().size())
    return kernel.emitOpError() << "reads " << tensor << " by a map of " << map.getNumDims()
                                << " axes, " << map.getNumSymbols() << " indices and "
                                << map.getNumResults() << " dimensions; it wants " << axes.size()
                                << ", " << access.getIndices().size() + access.getLengths().size()
                                << " and " << tensor.getRank();
  IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet();
  if (where && (where.getNumDims() != axes.size() || where.getNumSymbols() != 0))
    return kernel.emitOpError() << "has a predicate of " << where.getNumDims() << " axes and "
                                << where.getNumSymbols() << " indices; it wants " << axes.size()
                                << " and 0";
  auto isPlain = [&](AffineExpr expr) { // lengths may be factors and divisors
    bool hasCeiling = false;
    expr.walk([&](AffineExpr part) { hasCeiling |= part.getKind() == AffineExprKind::CeilDiv; });
    return !hasCeiling && (expr.isPureAffine() || !access.getLengths().empty());
  };
  if (!llvm::all_of(map.getResults(), isPlain) ||
      (where && !llvm::all_of(where.getConstraints(), isPlain)))
    return kernel.emitOpError("has a map or predicate with ceildiv or a divisor that is no number: "
                              "write sums, multiples, floordiv and mod");
  if (!where)
    if (AccessAttr named = recogniseAccess(map, axes, tensor);
        named.getKind() != AccessKind::General && access.isOfAxes())
      return kernel.emitOpError() << "has a general access that is "
                                  << stringifyAccessKind(named.getKind())
                                  << ": name it, since that has a loop of its own";
  return verifyIndices(kernel, access);
}

/// What is multiplied by elements, or sums of such products: a row of its own for each of the
/// domain's, or for each of its columns.
static LogicalResult verifyLines(KernelOp kernel, AccessKind kind, TensorType tensor,
                                 bool ofColumns) {
  SmallVector<Attribute> before(kernel.getDomainType().getRowDims());
  if (ofColumns) {
    before.assign(kernel.getBatchDims().begin(), kernel.getBatchDims().end());
    before.push_back(kernel.getDomain().getValue().back());
  }
  if (tensor.getDims().drop_back() == ArrayRef<Attribute>(before) && tensor.getColumns())
    return success();
  return kernel.emitOpError() << tensor << " cannot be accessed as " << stringifyAccessKind(kind)
                              << " of domain " << formatDims(kernel.getDomain().getValue())
                              << ": it wants a number of columns behind " << formatDims(before);
}

/// What transforms multiply by: a row of cosines and one of sines.
static LogicalResult verifyTurns(KernelOp kernel, TensorType tensor) {
  if (tensor.getRank() == 2 && tensor.getStaticElements() && tensor.getElementType().isF32() &&
      cast<IntegerAttr>(tensor.getDims().front()).getInt() == 2)
    return success();
  return kernel.emitOpError() << "turns by " << tensor
                              << ": turns are two rows in f32, of numbers of places";
}

/// A spectrum of the channels of the kernel's sequences, or of its spectra, for all leading
/// dimensions the same.
static LogicalResult verifyFactor(KernelOp kernel, TensorType tensor) {
  TensorType domain = kernel.getDomainType();
  bool isOfSpectra = domain.getRank() >= 4 && tensor.getDims() == domain.getDims().take_back(4);
  bool isOfSequences = isSequence(domain) && tensor.getRank() == 4 && tensor.getStaticElements() &&
                       tensor == typeOfSpectrum(domain.withDims(domain.getDims().take_back(2)),
                                                cast<IntegerAttr>(tensor.getDims()[1]).getInt());
  if (tensor.getElementType().isF32() && (isOfSpectra || isOfSequences))
    return success();
  return kernel.emitOpError() << "multiplies spectra of " << formatDims(domain.getDims()) << " by "
                              << tensor << ", which is none of the same channels";
}

TensorType withHeadsMoved(AccessAttr access, TensorType lies) {
  AffineMap map = access.getMap().getValue();
  size_t rank = lies.getRank();
  if (rank < 3 || map.getNumDims() != rank || map.getNumResults() != rank || !map.isPermutation())
    return {};
  SmallVector<Attribute> dims(rank);
  size_t times = rank;
  for (auto [i, dim] : llvm::enumerate(lies.getDims())) {
    unsigned to = map.getDimPosition(i);
    dims[to] = dim;
    if (to + 2 == rank)
      times = i;
    bool stays = i < times || i + 1 == rank;
    if (to + 2 != rank && to != (stays ? i : i - 1))
      return {};
  }
  return lies.withDims(dims);
}

static bool isOfAttention(KernelOp kernel) {
  return kernel.getSkeleton() == Skeleton::Attention ||
         kernel.getSkeleton() == Skeleton::AttentionColumns;
}

/// An access to heads in place becomes that to the same, moved.
static LogicalResult moveHeads(KernelOp kernel, AccessAttr &access, TensorType &tensor) {
  if (!isOfAttention(kernel) || !isInPlace(access))
    return success();
  TensorType moved = withHeadsMoved(access, tensor);
  if (!moved)
    return kernel.emitOpError() << "accesses " << tensor << " as "
                                << stringifyAccessKind(access.getKind())
                                << " by a map that does not move heads before the times";
  tensor = moved;
  access = AccessAttr::get(kernel.getContext(), access.getKind());
  return success();
}

LogicalResult verifyInputAccess(KernelOp kernel, unsigned input) {
  AccessAttr access = kernel.getInputAccess(input);
  auto tensor = cast<TensorType>(kernel.getInputs()[input].getType());
  if (failed(moveHeads(kernel, access, tensor)))
    return failure();
  if (access.getKind() == AccessKind::Values || access.getKind() == AccessKind::Rhs2)
    return verifyLines(kernel, access.getKind(), tensor, true);
  if (access.getKind() == AccessKind::Lhs2)
    return verifyLines(kernel, access.getKind(), tensor, false);
  if (access.getKind() == AccessKind::General)
    return verifyGeneral(kernel, access, tensor);
  if (access.getKind() == AccessKind::Turns)
    return verifyTurns(kernel, tensor);
  if (access.getKind() == AccessKind::Factor)
    return verifyFactor(kernel, tensor);
  return verifyAccess(kernel, axesOf(kernel), access, tensor,
                      access.getKind() == AccessKind::Lhs ? kernel.getTransposeLhs()
                                                          : kernel.getTransposeRhs());
}

/// Rows in a number, since what a row is added to is told from numbers alone.
static LogicalResult verifySegments(KernelOp kernel, TensorType tensor) {
  ArrayRef<Attribute> dims = tensor.getDims(), domain = kernel.getDomain().getValue();
  unsigned batch = countBatchAxesOfSegments(tensor);
  if (dims.size() < 2 || !getStaticProduct(dims.take_back(2)) ||
      tensor.getColumns() != kernel.getColumns() || !tensor.getElementType().isF32())
    return kernel.emitOpError() << "sums into segments of " << tensor
                                << "; they are rows in f32 of " << formatDims(domain.take_back())
                                << " columns, in a number";
  if (batch > 0 && (domain.size() < dims.size() || domain.take_front(batch) != dims.drop_back(2)))
    return kernel.emitOpError() << "sums into segments of " << tensor << ", of a batch that domain "
                                << formatDims(domain) << " does not begin with";
  return success();
}

/// A sequence of the domain's spectra, or the other way round: the ones' places before the last
/// dimension, the others' before the last two. Of a pass also a spectrum of a spectrum.
static LogicalResult verifyTransformed(KernelOp kernel, TensorType tensor) {
  bool isProduct = kernel.getSkeleton() == Skeleton::ConvolutionPass ||
                   kernel.getSkeleton() == Skeleton::CorrelationPass;
  bool isPass = isProduct || kernel.getSkeleton() == Skeleton::TransformPass ||
                kernel.getSkeleton() == Skeleton::InverseTransformPass;
  bool isInverse = kernel.getSkeleton() == Skeleton::InverseTransform ||
                   kernel.getSkeleton() == Skeleton::InverseTransformPass;
  TensorType domain = kernel.getDomainType();
  size_t numbers = isProduct ? kSequenceDims : kSpectrumDims;
  if (isPass && domain.getRank() >= numbers && tensor.getElementType().isF32() &&
      tensor.hasSameDims(domain) && getStaticProduct(tensor.getDims().take_back(numbers)))
    return success();
  TensorType sequence = isInverse ? tensor : domain, spectrum = isInverse ? domain : tensor;
  if (tensor.getElementType().isF32() && sequence.getRank() >= 2 &&
      spectrum.getRank() == sequence.getRank() + 2 &&
      sequence.getDims().drop_back(2) == spectrum.getDims().drop_back(4) &&
      llvm::all_of(llvm::concat<const Attribute>(sequence.getDims().take_back(2),
                                                 spectrum.getDims().take_back(4)),
                   [](Attribute dim) { return isa<IntegerAttr>(dim); }))
    return success();
  return kernel.emitOpError() << "makes " << tensor << " of " << domain
                              << ", which are no sequence and spectrum of one another";
}

/// Columns of a wider tensor, of which a kernel stores all of its own.
static LogicalResult verifyColumns(KernelOp kernel, int64_t offset, TensorType tensor) {
  std::optional<int64_t> columns = kernel.getColumns(), all = tensor.getColumns();
  if (columns && all && offset >= 0 && offset + *columns <= *all &&
      tensor.getRowDims() == kernel.getDomainType().getRowDims())
    return success();
  return kernel.emitOpError() << "stores domain " << formatDims(kernel.getDomain().getValue())
                              << " from column " << offset << " on of " << tensor
                              << ", which has no such columns";
}

bool holdsColumnSums(ArrayRef<Attribute> domain, TensorType tensor) {
  unsigned batch = tensor.getRank() - 1;
  return tensor.getRank() > 0 && batch < domain.size() &&
         tensor.getDims().back() == domain.back() &&
         tensor.getRowDims() == domain.take_front(batch);
}

LogicalResult verifyResultAccess(KernelOp kernel, unsigned result) {
  AccessAttr access = kernel.getResultAccess(result);
  auto tensor = cast<TensorType>(kernel.getStored()[result].getType());
  if (failed(moveHeads(kernel, access, tensor)))
    return failure();
  if (access.getKind() == AccessKind::General)
    return kernel.emitOpError() << "stores result " << result
                                << " by a general access: read by the inverse map instead";
  if (access.getKind() == AccessKind::Segment)
    return verifySegments(kernel, tensor);
  if (access.getKind() == AccessKind::Transformed)
    return verifyTransformed(kernel, tensor);
  if (isSumOfProducts(access.getKind()))
    return verifyLines(kernel, access.getKind(), tensor,
                       access.getKind() == AccessKind::Lhs || access.getKind() == AccessKind::Lhs2);
  if (access.getKind() == AccessKind::Window)
    return verifyColumns(kernel, access.getOffset(), tensor);
  if (access.getKind() == AccessKind::Column &&
      holdsColumnSums(kernel.getDomain().getValue(), tensor))
    return success();
  return verifyAccess(kernel, axesOf(kernel), access, tensor);
}

} // namespace halftone::ir
