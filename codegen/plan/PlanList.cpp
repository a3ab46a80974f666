// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/PlanList.h"

#include <cmath>

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::ir {

static constexpr size_t kKeptPlans = 6; // of a kernel, the chosen one included

double microsecondsOf(CudaPlanAttr plan) {
  constexpr size_t kMicroseconds = 3; // as PlanList::add() has them
  return plan.getCost()[kMicroseconds];
}

PlanList::PlanList(KernelOp kernel, const Chip &chip, const AssumedSizes &assumed)
    : kernel(kernel), chip(chip), assumed(assumed) {
  problem.rows = extent(kernel.getDomainType().getRowDims());
  problem.columns = extent(kernel.getDomain().getValue().take_back());
  for (Type type : llvm::concat<const Type>(kernel->getOperandTypes(), kernel->getResultTypes())) {
    auto tensor = cast<TensorType>(type);
    problem.bytes += extent(tensor.getDims()) * bitsOf(tensor.getElementType()) / 8;
  }
  // Of a wider tensor a kernel stores its own columns alone.
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (kernel.getResultAccess(i).getKind() == AccessKind::Window) {
      auto tensor = cast<TensorType>(result.getType());
      problem.bytes += (problem.rows * problem.columns - extent(tensor.getDims())) *
                       bitsOf(tensor.getElementType()) / 8;
    }
  double scalars = 0;
  for (Operation &op : kernel.getBody().front().without_terminator())
    scalars += !isa<arith::ConstantOp>(op);
  problem.operations = scalars * problem.rows * problem.columns;
}

double PlanList::extent(ArrayRef<Attribute> dims) const {
  double product = 1;
  for (Attribute dim : dims) {
    auto symbol = dyn_cast<StringAttr>(dim);
    product *= static_cast<double>(symbol ? assumedSize(assumed, symbol.getValue())
                                          : cast<IntegerAttr>(dim).getInt());
  }
  return product;
}

/// Three significant digits are more than the model knows, and keep texts readable.
static double rounded(double value) {
  double unit = value > 0 ? std::pow(10.0, std::floor(std::log10(value)) - 2) : 1;
  return unit >= 1 ? std::round(value / unit) * unit
                   : std::round(value * std::round(1 / unit)) / std::round(1 / unit);
}

void PlanList::add(CudaPlanKind kind, ArrayRef<int64_t> tile, int64_t splits, int64_t least,
                   const Estimate &e) {
  auto cost = DenseF64ArrayAttr::get(
      kernel.getContext(), {e.operations, e.bytes, rounded(e.waves), rounded(e.microseconds)});
  auto plan = CudaPlanAttr::get(kernel.getContext(), kind, tile, splits, least, cost);
  auto *next = llvm::find_if(
      plans, [&](CudaPlanAttr other) { return microsecondsOf(other) > microsecondsOf(plan); });
  plans.insert(next, plan);
}

ChipPlansAttr PlanList::take() {
  if (plans.size() > kKeptPlans)
    plans.resize(kKeptPlans);
  return ChipPlansAttr::get(kernel.getContext(), chip.name, plans, reason, noWarpgroups,
                            noEightBits);
}

} // namespace halftone::ir
