// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/CopiedColumns.h"

#include "codegen/ir/Forms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::ir {

namespace {

class CopiedRowFinder {
public:
  CopiedRowFinder(KernelOp kernel, Type stored) : kernel(kernel), stored(stored) {}

  /// Whether the value is, in columns [begin, end), an operand's element; notes which.
  bool find(Value value, int64_t begin, int64_t end) {
    if (begin >= end)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return findOperand(argument, begin, end);
    if (auto select = value.getDefiningOp<arith::SelectOp>()) {
      std::optional<int64_t> bound = findBound(select.getCondition());
      return bound && find(select.getTrueValue(), begin, std::min(end, *bound)) &&
             find(select.getFalseValue(), std::max(begin, *bound), end);
    }
    if (auto rounding = value.getDefiningOp<arith::TruncFOp>()) {
      row.rounds = true;
      return find(rounding.getIn(), begin, end);
    }
    // What is widened from the format that it is rounded to is rounded to itself.
    auto widening = value.getDefiningOp<arith::ExtFOp>();
    return widening && row.rounds && widening.getIn().getType() == stored &&
           find(widening.getIn(), begin, end);
  }

  CopiedRow row;

private:
  /// The column that columns are compared with: those below it are chosen.
  std::optional<int64_t> findBound(Value condition) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || (compare.getPredicate() != arith::CmpIPredicate::slt &&
                     compare.getPredicate() != arith::CmpIPredicate::ult))
      return std::nullopt;
    Operation *place = compare.getLhs().getDefiningOp();
    auto axis = dyn_cast_or_null<AxisIndexOp>(place);
    bool isColumn = isa_and_nonnull<ColumnIndexOp>(place) ||
                    (axis && axis.getAxis() + 1 == kernel.getDomain().size());
    auto constant = compare.getRhs().getDefiningOp<arith::ConstantOp>();
    if (!isColumn || !constant)
      return std::nullopt;
    return cast<IntegerAttr>(constant.getValue()).getInt();
  }

  bool findOperand(BlockArgument argument, int64_t begin, int64_t end) {
    for (unsigned input = 0; input < kernel.getInputs().size(); ++input) {
      if (kernel.getElement(input) != argument)
        continue;
      AccessAttr access = kernel.getInputAccess(input);
      TensorType operand = tensor(kernel.getInputs()[input]);
      bool isOfRow = access.getKind() == AccessKind::Window || access.getKind() == AccessKind::Full;
      int64_t from = begin + access.getOffset(), count = end - begin;
      if (!isOfRow || argument.getType() != stored || !operand.getColumns() ||
          operand.getRowDims() != kernel.getDomainType().getRowDims() || from < 0 ||
          from + count > *operand.getColumns())
        return false;
      row.parts.push_back({input, begin, end, from});
      return true;
    }
    return false;
  }

  KernelOp kernel;
  Type stored;
};

} // namespace

std::optional<CopiedRow> findCopiedRow(KernelOp kernel, unsigned result) {
  if (kernel.getResultAccess(result).getKind() != AccessKind::Full || !kernel.getColumns() ||
      !tensor(kernel.getStored()[result]).hasSameDims(kernel.getDomainType()))
    return std::nullopt;
  CopiedRowFinder finder(kernel, tensor(kernel.getStored()[result]).getElementType());
  if (!finder.find(kernel.getYield().getStores()[result], 0, *kernel.getColumns()))
    return std::nullopt;
  return finder.row;
}

bool copiesAlone(KernelOp kernel) {
  return kernel->getNumResults() == 1 && kernel.getSkeleton() == Skeleton::Pointwise;
}

template <class List> static auto without(const List &list, unsigned number) {
  SmallVector<std::decay_t<decltype(*list.begin())>> left(list.begin(), list.end());
  left.erase(left.begin() + number);
  return left;
}

KernelOp dropResult(KernelOp kernel, unsigned result) {
  OpBuilder builder(kernel);
  KernelYieldOp yield = kernel.getYield();
  SmallVector<Value> stores = without(yield.getStores(), result);
  auto left = without(kernel->getResults(), result);
  auto fewer =
      KernelOp::create(builder, kernel.getLoc(), without(kernel.getStored().getTypes(), result),
                       kernel.getFinished().getTypes(), kernel.getNameAttr(),
                       kernel.getSkeletonAttr(), kernel.getDomainAttr(), kernel.getReductionAttr(),
                       kernel.getInputs(), kernel.getInputAccessesAttr(),
                       builder.getArrayAttr(without(kernel.getResultAccesses().getValue(), result)),
                       kernel.getTransposeLhsAttr(), kernel.getTransposeRhsAttr(),
                       kernel.getFusedAttr(), kernel.getCpuTileAttr(), kernel.getCudaTileAttr(),
                       kernel.getCudaPlansAttr(), kernel.getAccumulationAttr());
  fewer->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  if (auto values = kernel->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr))
    fewer->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr(without(values.asArrayRef(), result)));
  yield.getStoresMutable().assign(stores);
  fewer.getBody().takeBody(kernel.getBody());
  fewer.getFinish().takeBody(kernel.getFinish());
  for (auto [before, after] : llvm::zip_equal(left, fewer->getResults()))
    before.replaceAllUsesWith(after);
  kernel.erase();
  return fewer;
}

/// Column by column the element of the part that has it.
static void buildSelection(KernelOp kernel, ArrayRef<CopiedColumns> parts, bool rounds) {
  Block &body = kernel.getBody().front();
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  Type element = tensor(kernel.getStored()[0]).getElementType();
  SmallVector<Value> elements;
  for (size_t i = 0; i < parts.size(); ++i)
    body.addArgument(element, loc);
  for (Value argument : body.getArguments())
    elements.push_back(
        rounds ? arith::ExtFOp::create(builder, loc, builder.getF32Type(), argument).getResult()
               : argument);
  Value chosen = elements.back();
  for (size_t i = parts.size() - 1; i > 0; --i) {
    auto column = ColumnIndexOp::create(builder, loc, builder.getI32Type());
    auto bound = arith::ConstantIntOp::create(builder, loc, parts[i].begin - parts.front().begin,
                                              builder.getI32Type().getWidth());
    auto isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column, bound);
    chosen = arith::SelectOp::create(builder, loc, isBefore, elements[i - 1], chosen);
  }
  if (rounds)
    chosen = arith::TruncFOp::create(builder, loc, element, chosen);
  KernelYieldOp::create(builder, loc, chosen, ValueRange(), Value());
}

KernelOp copyColumns(KernelOp copy, ArrayRef<CopiedColumns> rest, bool rounds) {
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  int64_t begin = rest.front().begin;
  auto access = [&](int64_t offset) -> Attribute {
    return AccessAttr::get(builder.getContext(), AccessKind::Window, offset);
  };
  SmallVector<Attribute> domain(copy.getDomain().getValue()), reads;
  domain.back() = builder.getI64IntegerAttr(rest.back().end - begin);
  SmallVector<Value> inputs;
  for (const CopiedColumns &part : rest) {
    inputs.push_back(copy.getInputs()[part.input]);
    reads.push_back(access(part.from + begin - part.begin));
  }
  auto kernel = KernelOp::create(builder, loc, copy.getStored().getTypes(), TypeRange(),
                                 copy.getNameAttr(), copy.getSkeletonAttr(),
                                 builder.getArrayAttr(domain), copy.getReductionAttr(), inputs,
                                 builder.getArrayAttr(reads), builder.getArrayAttr(access(begin)),
                                 UnitAttr(), UnitAttr(), copy.getFusedAttr(), DenseI64ArrayAttr(),
                                 DenseI64ArrayAttr(), ArrayAttr(), copy.getAccumulationAttr());
  kernel->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  kernel->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr({-1}));
  kernel.getBody().push_back(new Block);
  buildSelection(kernel, rest, rounds);
  return kernel;
}

} // namespace halftone::ir
