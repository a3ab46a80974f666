// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Windows.h"

#include "codegen/ir/Accesses.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace halftone::ir {

Windows::Windows(Numbers kernel, std::optional<Numbers> stride, std::optional<Numbers> dilation,
                 std::optional<Numbers> padding, int64_t groups)
    : groups(groups) {
  size_t rank = kernel.size();
  for (size_t d = 0; d < rank; ++d)
    spatial.push_back({kernel[d], stride ? (*stride)[d] : 1, dilation ? (*dilation)[d] : 1,
                       padding ? (*padding)[d] : 0, padding ? (*padding)[rank + d] : 0});
}

int64_t Windows::countTaps() const {
  int64_t taps = 1;
  for (const Along &along : spatial)
    taps *= along.kernel;
  return taps;
}

bool Windows::areElements() const {
  return llvm::all_of(spatial, [](const Along &along) { return along.isElement(); });
}

bool Windows::arePadded() const {
  return llvm::any_of(spatial, [](const Along &along) { return along.before + along.after > 0; });
}

/// What a dimension that is a symbol has beside a multiple of that.
static int64_t addedTo(Attribute dim) {
  return symbolicExtentOf(cast<StringAttr>(dim).getValue()).added;
}

bool Windows::fit(TensorType x, TensorType windows) const {
  size_t rank = spatial.size();
  if (x.getRank() <= rank || windows.getRank() != x.getRank() ||
      x.getDims().drop_back(rank + 1) != windows.getDims().drop_back(rank + 1))
    return false;
  for (auto [along, from, to] :
       llvm::zip(spatial, x.getDims().take_back(rank + 1), windows.getDims().take_back(rank + 1))) {
    auto length = dyn_cast<IntegerAttr>(from), count = dyn_cast<IntegerAttr>(to);
    int64_t reach = along.dilation * (along.kernel - 1), zeros = along.before + along.after;
    if (!length) { // a part of the length, whatever its symbol is bound to
      if (!isa<StringAttr>(to))
        return false;
      int64_t added = addedTo(from), more = addedTo(to);
      if (repeatDim(lengthenDim(to, -more), along.stride) != lengthenDim(from, -added) ||
          llvm::divideFloorSigned(added + zeros - reach - 1, along.stride) + 1 != more)
        return false;
      continue;
    }
    int64_t behind = length.getInt() + zeros - reach - 1; // the first window's other places
    if (!count || behind < 0 || count.getInt() != behind / along.stride + 1)
      return false;
  }
  return true;
}

namespace {

/// Of an input the elements may be others until InsertCasts.
Value viewAs(OpBuilder &builder, Location loc, Value x, ArrayRef<Attribute> dims) {
  if (tensor(x).getDims() == dims)
    return x;
  return ViewOp::create(builder, loc, tensor(x).withDims(dims).withElementType(codeTypeOf(x)), x);
}

/// x with its last dimensions, from `first` on, as one.
Value joinLast(OpBuilder &builder, Location loc, Value x, size_t first) {
  ArrayRef<Attribute> all = tensor(x).getDims();
  SmallVector<Attribute> dims(all.take_front(first));
  dims.push_back(builder.getI64IntegerAttr(*getStaticProduct(all.drop_front(first))));
  return viewAs(builder, loc, x, dims);
}

/// x with dimension `at`, a number, cut into `count` and the rest.
Value cutDimension(OpBuilder &builder, Location loc, Value x, size_t at, int64_t count) {
  SmallVector<Attribute> dims(tensor(x).getDims());
  int64_t extent = cast<IntegerAttr>(dims[at]).getInt();
  dims[at] = builder.getI64IntegerAttr(extent / count);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), builder.getI64IntegerAttr(count));
  return viewAs(builder, loc, x, dims);
}

/// All dimensions in order, but the one at `from`, which is moved to `to`.
SmallVector<int64_t> moveAxis(size_t rank, size_t from, size_t to) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  axes.erase(axes.begin() + static_cast<ptrdiff_t>(from));
  axes.insert(axes.begin() + static_cast<ptrdiff_t>(to), static_cast<int64_t>(from));
  return axes;
}

/// The element of `operand` at `at` where all remainders are 0.
AccessAttr readAt(ArrayRef<AffineExpr> at, ArrayRef<AffineExpr> remainders,
                  ArrayRef<Attribute> domain, TensorType operand) {
  MLIRContext *context = operand.getContext();
  auto axes = static_cast<unsigned>(domain.size());
  auto map = AffineMap::get(axes, 0, at, context);
  if (remainders.empty())
    return recogniseAccess(map, {domain, {}}, operand);
  SmallVector<bool> areZero(remainders.size(), true);
  auto where = IntegerSet::get(axes, 0, remainders, areZero);
  return AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map),
                         IntegerSetAttr::get(where), {});
}

} // namespace

Value Windows::cut(OpBuilder &builder, Location loc, Value x) const {
  if (!isCut())
    return x;
  size_t rank = tensor(x).getRank();
  Value parts = cutDimension(builder, loc, x, rank - 1, groups);
  return makeTranspose(builder, loc, parts, moveAxis(rank + 1, rank - 1, 0));
}

Value Windows::join(OpBuilder &builder, Location loc, Value x, TensorType like) const {
  if (isCut()) {
    size_t rank = tensor(x).getRank();
    x = makeTranspose(builder, loc, x, moveAxis(rank, 0, rank - 2));
  }
  return viewAs(builder, loc, x, like.getDims());
}

Value Windows::collect(OpBuilder &builder, Location loc, StringRef label, Value x,
                       TensorType places, FindPlace find) const {
  MLIRContext *context = builder.getContext();
  if (isCut())
    x = cutDimension(builder, loc, x, tensor(x).getRank() - 1, groups);
  SmallVector<Attribute> dims;
  if (isCut())
    dims.push_back(builder.getI64IntegerAttr(groups));
  dims.append(places.getRowDims().begin(), places.getRowDims().end());
  size_t taps = dims.size();
  for (const Along &along : spatial)
    dims.push_back(builder.getI64IntegerAttr(along.kernel));
  dims.push_back(tensor(x).getDims().back());
  TensorType type = tensor(x).withDims(dims).withElementType(codeTypeOf(x));

  SmallVector<AffineExpr> at, remainders;
  auto axis = [&](size_t number) {
    return getAffineDimExpr(static_cast<unsigned>(number), context);
  };
  size_t firstSpatial = taps - spatial.size();
  for (size_t image = isCut() ? 1 : 0; image < firstSpatial; ++image)
    at.push_back(axis(image));
  for (auto [d, along] : llvm::enumerate(spatial)) {
    Place place = find(along, axis(firstSpatial + d), axis(taps + d));
    at.push_back(place.at);
    if (place.remainder)
      remainders.push_back(place.remainder);
  }
  if (isCut())
    at.push_back(axis(0));
  at.push_back(axis(dims.size() - 1));

  Space space{
      type, {readAt(at, remainders, dims, tensor(x))}, accesses(context, {AccessKind::Full})};
  Value collected = makeMap(builder, loc, label, space, x, type, [](Scalars &, ValueRange e) {
                      return SmallVector<Value>{e[0]};
                    }).getOutputs()[0];
  return joinLast(builder, loc, collected, taps);
}

Value Windows::gather(OpBuilder &builder, Location loc, Value x, TensorType windows) const {
  if (areElements())
    return cut(builder, loc, x);
  return collect(builder, loc, "windows", x, windows, findElement);
}

Value Windows::scatter(OpBuilder &builder, Location loc, Value g, TensorType inputs) const {
  if (areElements())
    return cut(builder, loc, g);
  return collect(builder, loc, "windows_of", g, inputs, findWindow);
}

Windows::Place Windows::findElement(const Along &along, AffineExpr window, AffineExpr element) {
  return {window * along.stride + element * along.dilation - along.before, {}};
}

Windows::Place Windows::findWindow(const Along &along, AffineExpr place, AffineExpr element) {
  AffineExpr from = place - element * along.dilation + along.before;
  if (along.stride == 1)
    return {from, {}};
  return {from.floorDiv(along.stride), from % along.stride};
}

Value Windows::asRows(OpBuilder &builder, Location loc, Value weight) const {
  Value rows = joinLast(builder, loc, weight, 1);
  return isCut() ? cutDimension(builder, loc, rows, 0, groups) : rows;
}

Value Windows::asColumns(OpBuilder &builder, Location loc, Value weight) const {
  size_t front = isCut() ? 1 : 0;
  Value cutWeight = isCut() ? cutDimension(builder, loc, weight, 0, groups) : weight;
  SmallVector<Attribute> dims(tensor(cutWeight).getDims().take_front(front + 1));
  dims.push_back(builder.getI64IntegerAttr(countTaps()));
  dims.push_back(tensor(weight).getDims().back());
  Value byTaps = viewAs(builder, loc, cutWeight, dims);
  Value turned = makeTranspose(builder, loc, byTaps, moveAxis(dims.size(), front, front + 1));
  SmallVector<Attribute> matrix(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(front));
  matrix.push_back(builder.getI64IntegerAttr(*getStaticProduct(ArrayRef(dims).slice(front, 2))));
  matrix.push_back(dims.back());
  return viewAs(builder, loc, turned, matrix);
}

Value Windows::asWeight(OpBuilder &builder, Location loc, Value rows, TensorType weight) const {
  size_t front = isCut() ? 1 : 0;
  Value byTaps = cutDimension(builder, loc, rows, front + 1, countTaps());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, tensor(byTaps).getRank()));
  std::swap(order[front], order[front + 2]); // [groups, outputs of a group, taps, channels]
  return viewAs(builder, loc, makeTranspose(builder, loc, byTaps, order), weight.getDims());
}

Value Windows::multiply(OpBuilder &builder, Location loc, Value lhs, Value rhs, bool turnsLhs,
                        bool turnsRhs, ContractionPass pass, StringRef label) const {
  ArrayRef<Attribute> ofLhs = tensor(lhs).getDims(), ofRhs = tensor(rhs).getDims();
  size_t batch = isCut() ? 1 : 0;
  SmallVector<Attribute> dims(
      ofLhs.drop_back()); // the rows of lhs, or its columns where it is turned
  if (turnsLhs) {
    dims.truncate(batch);
    dims.push_back(ofLhs.back());
  }
  dims.push_back(turnsRhs ? ofRhs[batch] : ofRhs.back());
  return ContractOp::create(
      builder, loc, gradientType(lhs).withDims(dims), lhs, rhs, Value(), turnsLhs, turnsRhs, pass,
      label.empty() ? StringAttr() : builder.getStringAttr(label), static_cast<int64_t>(batch));
}

Value Windows::finish(OpBuilder &builder, Operation *layer, Value product, Value bias) const {
  Location loc = layer->getLoc();
  TensorType type = tensor(layer->getResult(0));
  Encoding rounded = internalEncoding(layer, "product");
  if (!bias && rounded.element == Element::f32)
    return product;
  SmallVector<Value> inputs{product};
  if (bias)
    inputs.push_back(bias);
  auto map = makeMap(builder, loc, layer->getName().stripDialect(), inputs, type,
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value sum = s.round(e[0], rounded);
                       return {bias ? s.add(sum, e[1]) : sum};
                     });
  return map.getOutputs()[0];
}

//===--- Element by element ---===//

SmallVector<int64_t> Windows::takeApart(int64_t element) const {
  SmallVector<int64_t> numbers(spatial.size());
  for (size_t d = spatial.size(); d-- > 0; element /= spatial[d].kernel)
    numbers[d] = element % spatial[d].kernel;
  return numbers;
}

SmallVector<AccessAttr> Windows::read(TensorType domain, TensorType operand, FindPlace find) const {
  MLIRContext *context = domain.getContext();
  size_t first = domain.getRank() - 1 - spatial.size();
  SmallVector<AccessAttr> reads;
  for (int64_t element = 0; element < countTaps(); ++element) {
    SmallVector<AffineExpr> at = axesOf(domain), remainders;
    for (auto [d, number] : llvm::enumerate(takeApart(element))) {
      Place place = find(spatial[d], at[first + d], getAffineConstantExpr(number, context));
      at[first + d] = place.at;
      if (place.remainder)
        remainders.push_back(place.remainder);
    }
    reads.push_back(readAt(at, remainders, domain.getDims(), operand));
  }
  return reads;
}

bool Windows::areOfChannels(TensorType x, TensorType y) const {
  constexpr int64_t kMostElements = 64;
  return isCut() && x.getColumns() == groups && y.getColumns() == groups && !areElements() &&
         countTaps() <= kMostElements;
}

Value Windows::chain(OpBuilder &builder, Location loc, StringRef label, Value weight, Value operand,
                     ArrayRef<AccessAttr> reads, TensorType result) const {
  MLIRContext *context = builder.getContext();
  // The elements of neighbouring channels lie side by side then.
  Value byChannels =
      viewAs(builder, loc, weight,
             {tensor(weight).getDims().front(), builder.getI64IntegerAttr(countTaps())});
  Value taps = makeTranspose(builder, loc, byChannels, {1, 0});
  AffineExpr channel = getAffineDimExpr(result.getRank() - 1, context);
  Space space{result, {}, accesses(context, {AccessKind::Full})};
  SmallVector<Value> operands;
  for (auto [p, read] : llvm::enumerate(reads)) {
    operands.append({taps, operand});
    auto element = getAffineConstantExpr(static_cast<int64_t>(p), context);
    space.reads.append({readAt({element, channel}, {}, result.getDims(), tensor(taps)), read});
  }
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value sum = s.like(e[0], 0);
    for (size_t p = 0; p < reads.size(); ++p)
      sum = s.fma(e[2 * p], e[2 * p + 1], sum);
    return {sum};
  };
  return makeMap(builder, loc, label, space, operands, result, code).getOutputs()[0];
}

SmallVector<AccessAttr> Windows::readElements(TensorType windows, TensorType x) const {
  return read(windows, x, findElement);
}

SmallVector<AccessAttr> Windows::readWindows(TensorType x, TensorType windows) const {
  return read(x, windows, findWindow);
}

Value Windows::isInsideAlong(Scalars &s, TensorType windows, TensorType x, size_t d,
                             int64_t number) const {
  using Predicate = arith::CmpIPredicate;
  const Along &along = spatial[d];
  size_t axis = x.getRank() - 1 - spatial.size() + d;
  Value inside;
  auto require = [&](Predicate predicate, Value bound) {
    Value holds = s.compare(predicate, s.axisIndex(static_cast<int64_t>(axis)), bound);
    inside = inside ? s.both(inside, holds) : holds;
  };
  int64_t shift = number * along.dilation - along.before;
  if (int64_t first = llvm::divideCeilSigned(-shift, along.stride); first > 0)
    require(Predicate::sge, s.integer(first));
  auto length = dyn_cast<IntegerAttr>(x.getDims()[axis]);
  if (!length) { // a whole number of strides, and what is added
    shift += along.stride * addedTo(windows.getDims()[axis]) - addedTo(x.getDims()[axis]);
    if (int64_t outside = -llvm::divideFloorSigned(-1 - shift, along.stride) - 1; outside > 0)
      require(Predicate::slt, s.minus(s.length(windows.getDims()[axis]), s.integer(outside)));
    return inside;
  }
  int64_t last = llvm::divideFloorSigned(length.getInt() - 1 - shift, along.stride);
  if (last + 1 < cast<IntegerAttr>(windows.getDims()[axis]).getInt())
    require(Predicate::sle, s.integer(last));
  return inside;
}

Value Windows::isInside(Scalars &s, TensorType windows, TensorType x, int64_t element) const {
  Value inside;
  for (auto [d, number] : llvm::enumerate(takeApart(element)))
    if (Value along = isInsideAlong(s, windows, x, d, number))
      inside = inside ? s.both(inside, along) : along;
  return inside;
}

Value Windows::countInside(Scalars &s, TensorType windows, TensorType x) const {
  Value counted;
  int64_t known = 1;
  for (auto [d, along] : llvm::enumerate(spatial)) {
    int64_t always = 0;
    Value sometimes;
    for (int64_t number = 0; number < along.kernel; ++number) {
      Value inside = isInsideAlong(s, windows, x, d, number);
      if (!inside) {
        ++always;
        continue;
      }
      Value one = s.select(inside, s.integer(1), s.integer(0));
      sometimes = sometimes ? s.plus(sometimes, one) : one;
    }
    if (!sometimes) {
      known *= always;
      continue;
    }
    Value all = s.plus(sometimes, s.integer(always));
    counted = counted ? s.times(counted, all) : all;
  }
  if (!counted)
    return s.constant(Float32Type::get(x.getContext()), static_cast<double>(known));
  return s.number(s.times(counted, s.integer(known)));
}

//===--- What layers of windows share ---===//

LogicalResult verifyWindows(Operation *op, Windows::Numbers kernel,
                            std::optional<Windows::Numbers> stride,
                            std::optional<Windows::Numbers> dilation,
                            std::optional<Windows::Numbers> padding, int64_t groups) {
  size_t rank = kernel.size();
  auto fits = [](Windows::Numbers list, size_t size, int64_t least) {
    return list.size() == size && llvm::all_of(list, [&](int64_t n) { return n >= least; });
  };
  if (rank >= 1 && rank <= 3 && fits(kernel, rank, 1) && (!stride || fits(*stride, rank, 1)) &&
      (!dilation || fits(*dilation, rank, 1)) && (!padding || fits(*padding, 2 * rank, 0)) &&
      groups >= 1)
    return success();
  return op->emitOpError("wants a kernel, and strides and dilations if any, of 1 or more and "
                         "paddings of 0 or more for one to three dimensions");
}

LogicalResult verifyWindowWeights(Operation *op, TensorType x, TensorType y,
                                  Windows::Numbers kernel, int64_t groups, Value weight,
                                  Value bias) {
  std::optional<int64_t> channels = x.getColumns(), outputs = y.getColumns();
  if (!channels || !outputs || *channels % groups != 0 || *outputs % groups != 0)
    return op->emitOpError() << "cannot cut " << x << " and " << y << " into " << groups
                             << " groups";
  Builder builder(op->getContext());
  SmallVector<Attribute> needed{builder.getI64IntegerAttr(*outputs)};
  for (int64_t extent : kernel)
    needed.push_back(builder.getI64IntegerAttr(extent));
  needed.push_back(builder.getI64IntegerAttr(*channels / groups));
  if (tensor(weight).getDims() != ArrayRef(needed))
    return op->emitOpError() << "weight " << tensor(weight) << " is not " << formatDims(needed);
  if (bias && tensor(bias).getDims() != y.getDims().take_back())
    return op->emitOpError() << "bias " << tensor(bias) << " does not have one value per output of "
                             << y;
  return success();
}

LogicalResult continueWindows(Operation *layer, TensorType x, size_t spatial,
                              const Continuation &before) {
  if (llvm::is_contained(x.getRowDims().take_back(spatial), before.time))
    return refuseToContinue(layer, "lets a token depend on others than those before it");
  return keepsTimesApart(layer, before);
}

} // namespace halftone::ir
