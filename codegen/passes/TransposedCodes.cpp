// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/TransposedCodes.h"

#include <cmath>

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/skeletons/KernelGroup.h"
#include "codegen/skeletons/Pointwise.h"
#include "codegen/skeletons/contraction/Contraction.h"

using namespace mlir;

namespace halftone::ir {

static bool liesAlong(ContractOp contract, unsigned operand) {
  return operand == 0 ? !contract.getTransposeLhs() : contract.getTransposeRhs();
}

static void layAlong(ContractOp contract, unsigned operand) {
  if (operand == 0)
    contract.setTransposeLhs(false);
  else
    contract.setTransposeRhs(true);
}

/// One dimension for several; null where two of them are symbols.
static Attribute joined(ArrayRef<Attribute> dims) {
  Attribute symbol;
  int64_t numbers = 1;
  for (Attribute dim : dims) {
    if (auto number = dyn_cast<IntegerAttr>(dim))
      numbers *= number.getInt();
    else if (symbol)
      return {};
    else
      symbol = dim;
  }
  return symbol ? repeatDim(symbol, numbers)
                : IntegerAttr::get(IntegerType::get(dims.front().getContext(), 64), numbers);
}

/// As long as a multiple of what is copied.
static Attribute padded(Attribute dim) {
  return repeatDim(countParts(dim, skeletons::kCopiedBytes), skeletons::kCopiedBytes);
}

double TransposedCodes::extent(ArrayRef<Attribute> dims) const {
  double product = 1;
  for (Attribute dim : dims) {
    auto symbol = dyn_cast<StringAttr>(dim);
    product *= static_cast<double>(symbol ? assumedSize(sizes, symbol.getValue())
                                          : cast<IntegerAttr>(dim).getInt());
  }
  return product;
}

/// Whether 8 bits save more than copies take that there are none of yet.
bool TransposedCodes::gains(ContractOp contract, std::array<Value, 2> codes) const {
  constexpr double kTile = skeletons::kTurnedTile, kThreads = skeletons::kTurnedThreads;
  constexpr double kResultBytes = 4, kBodyOperations = 2;
  TensorType result = contract.getType();
  double rows = extent(result.getRowDims()), columns = extent(result.getDims().take_back()),
         depth = extent(contract.getReduction());
  auto product = [&](int64_t bytes, bool promotes) {
    auto element = static_cast<double>(bytes);
    Problem problem;
    problem.rows = rows;
    problem.columns = columns;
    problem.depth = depth;
    problem.elementBytes = element;
    problem.bytes = (rows + columns) * depth * element + rows * columns * kResultBytes;
    problem.operations = kBodyOperations * rows * columns;
    return skeletons::microsecondsByGroups(*chip, problem, bytes, promotes);
  };
  double copying = 0;
  for (unsigned i : {0u, 1u}) {
    if (liesAlong(contract, i) || copies.contains({codes[i], getPhase(contract)}))
      continue;
    double lines = extent(tensor(codes[i]).getRowDims()),
           across = extent(tensor(codes[i]).getDims().take_back());
    Problem problem;
    problem.rows = across;
    problem.columns = lines;
    problem.bytes = 2 * lines * across; // each read and written
    copying += estimateElements(*chip, problem,
                                std::ceil(lines / kTile) * std::ceil(across / kTile), kThreads)
                   .microseconds;
  }
  bool promotes = accumulationOf(contract) == Accumulation::Promoted;
  return product(1, promotes) + copying < product(2, false);
}

std::string TransposedCodes::whyNot(ContractOp contract, std::array<Value, 2> codes,
                                    bool areBesideF32) const {
  if (contract.getBatchAxes() > 0)
    return "it is one of a batch: tensor copies, which wgmma of 8 bits wants, would read past the "
           "end of an element";
  Attribute depth;
  for (unsigned i : {0u, 1u}) {
    TensorType type = tensor(codes[i]);
    bool along = liesAlong(contract, i);
    if (along && *type.getColumns() % skeletons::kCopiedBytes != 0)
      return "rows of codes do not begin at multiples of 16 bytes, as tensor copies want";
    Attribute dim = along ? type.getDims().back() : joined(type.getRowDims());
    if (!dim)
      return "it sums over several sizes that are known when it runs, and wgmma multiplies 8 bits "
             "along one";
    Attribute length = along ? dim : padded(dim);
    if (depth && depth != length)
      return "one operand alone lies across the sum, whose length is no multiple of 16";
    depth = length;
  }
  if (liesAlong(contract, 0) && liesAlong(contract, 1))
    return "";
  if (contract->hasAttr(kSectionAttr))
    return "an operand lies across the sum, and runs in chunks of rows: each would want copies";
  if (!areBesideF32 && !gains(contract, codes))
    return "an operand lies across the sum, and a copy along it, as wgmma of 8 bits wants, would "
           "take longer than 8 bits save";
  return "";
}

Value TransposedCodes::turned(ContractOp contract, Value codes, Attribute length) {
  Value &copy = copies[{codes, getPhase(contract)}];
  if (copy)
    return copy;
  builder.setInsertionPoint(contract);
  Location loc = codes.getLoc();
  TensorType type = tensor(codes);
  Attribute lines = joined(type.getRowDims());
  Value matrix = codes;
  if (type.getRank() != 2)
    matrix = ViewOp::create(builder, loc, type.withDims({lines, type.getDims().back()}), codes);
  TensorType result = type.withDims({type.getDims().back(), length ? length : padded(lines)});
  SmallVector<AffineExpr> at = axesOf(result);
  std::swap(at[0], at[1]);
  Space space{result,
              {readAt(at, result, tensor(matrix))},
              accesses(builder.getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, loc, "turn", space, matrix, result,
                     [](Scalars &, ValueRange e) -> SmallVector<Value> { return {e[0]}; });
  Operation *named = codes.getDefiningOp();
  for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
    if (Attribute attribute =
            named && named->hasAttr(kLayerAttr) ? named->getAttr(name) : contract->getAttr(name))
      map->setAttr(name, attribute);
  setPhase(map, getPhase(contract));
  return copy = map.getOutputs()[0];
}

void TransposedCodes::turn(ContractOp contract) {
  for (unsigned i : {0u, 1u}) {
    if (liesAlong(contract, i))
      continue;
    contract->setOperand(i, turned(contract, contract->getOperand(i)));
    layAlong(contract, i);
  }
}

} // namespace halftone::ir
