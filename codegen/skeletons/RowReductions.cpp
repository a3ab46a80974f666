// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/RowReductions.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

/// Of each value: reductions on the longest way to it.
using Depths = llvm::DenseMap<Value, unsigned>;

bool isReduction(Operation *op) { return isa<RowSumOp, RowMaxOp>(op); }

static Depths findDepths(Block &block) {
  Depths depths;
  for (Operation &op : block.without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    depths[op.getResult(0)] = depth + (isReduction(&op) ? 1 : 0);
  }
  return depths;
}

Stages findStages(Block &block) {
  Depths depths = findDepths(block);
  Stages stages;
  for (Operation &op : block.without_terminator()) {
    if (!isReduction(&op))
      continue;
    unsigned depth = depths.lookup(op.getResult(0));
    if (stages.size() < depth)
      stages.resize(depth);
    stages[depth - 1].push_back(&op);
  }
  return stages;
}

//===--- CUDA ---===//

/// A value that is the same in the whole row and that elements read. It follows from the reductions
/// of the first `stages` stages.
struct RowValue {
  unsigned stages;
  Value value;
};

static bool isSameInRow(KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::any_of(llvm::seq(kernel.getInputs().size()), [&](size_t i) {
      return kernel.getElement(i) == argument && isUniform(kernel, i);
    });
  Operation *op = value.getDefiningOp();
  if (isReduction(op))
    return true;
  return !isOfPlace(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
    return isSameInRow(kernel, operand);
  });
}

/// What is worth a place beside the reductions, rather than being computed for each element.
using IsWorth = bool (*)(Operation *);

/// Compilers move no division and no root out of a loop over a row's elements.
static bool isSlow(Operation *op) { return isa<arith::DivFOp, math::SqrtOp>(op); }
/// Where a thread has a column of many rows, nothing is moved.
static bool isComputed(Operation *op) {
  return op->getResult(0).getType().isF32() && !isa<arith::ConstantOp>(op);
}

/// Whether some element needs it, and not only for a row value that needs it.
static bool isReadByElements(KernelOp kernel, Operation *op, IsWorth isWorth) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (isa<KernelYieldOp>(user) || isReduction(user) || !isSameInRow(kernel, user->getResult(0)))
      return true;
    return !isWorth(user) && isReadByElements(kernel, user, isWorth);
  });
}

static SmallVector<RowValue> findRowValues(KernelOp kernel, IsWorth isWorth) {
  Block &block = kernel.getBody().front();
  Depths depths = findDepths(block);
  SmallVector<RowValue> values;
  for (Operation &op : block.without_terminator())
    if (isWorth(&op) && isSameInRow(kernel, op.getResult(0)) &&
        isReadByElements(kernel, &op, isWorth))
      values.push_back({depths.lookup(op.getResult(0)), op.getResult(0)});
  return values;
}

int64_t countRowValues(KernelOp kernel) {
  return static_cast<int64_t>(findRowValues(kernel, isComputed).size());
}

static void printReductions(BodyPrinter &printer, const Stages &stages,
                            ArrayRef<Operation *> reductions, size_t rowValues) {
  raw_ostream &out = printer.out;
  out << "\n"
      << bodyConstant("kStages", static_cast<int64_t>(stages.size()))
      << bodyConstant("kReductions", static_cast<int64_t>(reductions.size()))
      << bodyConstant("kRowValues", static_cast<int64_t>(rowValues))
      << "  __device__ static constexpr int stage_begin(int stage) {\n    return ";
  size_t begin = 0;
  for (auto [i, stage] : llvm::enumerate(stages)) {
    out << "stage == " << i << " ? " << begin << " : ";
    begin += stage.size();
  }
  out << begin << ";\n  }\n"
      << "  __device__ static constexpr halftone::kernels::Reduction reduction(int index) {\n    "
         "return ";
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (isa<RowMaxOp>(reduction))
      out << "index == " << i << " ? halftone::kernels::Reduction::maximum : ";
  out << "halftone::kernels::Reduction::sum;\n  }\n";
}

static LogicalResult printContribute(BodyPrinter &printer, const Stages &stages) {
  raw_ostream &out = printer.out;
  out << "  template <" << printer.elementTemplate("int kStage, ") << ">\n  " << kDevice
      << " void contribute(const Uniforms& uniforms, " << printer.form.before
      << "const Inputs<kWidth>& inputs,\n"
      << "      int i, long long row, Column column, float* terms) const";
  if (stages.empty()) {
    out << " {}\n";
    return success();
  }
  out << " {\n";
  for (auto [i, stage] : llvm::enumerate(stages)) {
    SmallVector<Value> values;
    SmallVector<std::string> targets;
    for (Operation *reduction : stage) {
      targets.push_back("terms[" + std::to_string(values.size()) + "]");
      values.push_back(reduction->getOperand(0));
    }
    if (failed(printer.printElements("if constexpr (kStage == " + std::to_string(i) + ")", values,
                                     targets, "    ")))
      return failure();
  }
  out << "  }\n";
  return success();
}

/// The row values that follow from `stage` stages and no fewer.
static LogicalResult printDerived(BodyPrinter &printer, ArrayRef<RowValue> rowValues,
                                  unsigned stage) {
  CudaNames names = printer.uniformNames();
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  for (auto [stages, value] : rowValues) {
    if (stages < stage)
      continue;
    if (stages == stage) {
      values.push_back(value);
      targets.push_back(names.at(value));
    }
    names.erase(value);
  }
  if (values.empty())
    return success();
  return printer.printUniforms("if constexpr (kStage == " + std::to_string(stage) + ")", values,
                               names, targets, "    ");
}

static LogicalResult printDerive(BodyPrinter &printer, size_t stages,
                                 ArrayRef<RowValue> rowValues) {
  printer.out << "  template <int kStage>\n  " << kDevice
              << " void derive(const Uniforms& uniforms, float* reduced) const {\n";
  for (unsigned stage = 0; stage <= stages; ++stage)
    if (failed(printDerived(printer, rowValues, stage)))
      return failure();
  printer.out << "  }\n";
  return success();
}

std::function<LogicalResult(BodyPrinter &)> addReductions(BodyForm &form, KernelOp kernel) {
  Stages stages = findStages(kernel.getBody().front());
  SmallVector<RowValue> rowValues = findRowValues(kernel, isSlow);
  SmallVector<Operation *> reductions;
  for (ArrayRef<Operation *> stage : stages)
    llvm::append_range(reductions, stage);
  for (auto [i, reduction] : llvm::enumerate(reductions))
    form.uniforms[reduction->getResult(0)] = "reduced[" + std::to_string(i) + "]";
  for (auto [i, rowValue] : llvm::enumerate(rowValues))
    form.uniforms[rowValue.value] = "reduced[" + std::to_string(reductions.size() + i) + "]";
  return [stages, reductions, rowValues](BodyPrinter &printer) {
    printReductions(printer, stages, reductions, rowValues.size());
    if (failed(printContribute(printer, stages)))
      return failure();
    return printDerive(printer, stages.size(), rowValues);
  };
}

std::function<LogicalResult(BodyPrinter &)> addRowValues(BodyForm &form, KernelOp kernel) {
  SmallVector<RowValue> rowValues = findRowValues(kernel, isComputed);
  for (auto [i, rowValue] : llvm::enumerate(rowValues))
    form.uniforms[rowValue.value] = "reduced[" + std::to_string(i) + "]";
  return [rowValues](BodyPrinter &printer) {
    printer.out << bodyConstant("kRowValues", static_cast<int64_t>(rowValues.size()));
    return printDerive(printer, 0, rowValues);
  };
}

} // namespace halftone::skeletons
