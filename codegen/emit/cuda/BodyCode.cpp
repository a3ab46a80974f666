// SPDX-License-Identifier: Apache-2.0
// What a Body computes: one printer per member function.
#include "codegen/emit/cuda/BodyPrinter.h"

using namespace mlir;

namespace halftone::ir {

static constexpr StringLiteral kNotUniform =
    "is not the same in the whole row, so it can be neither a Row result nor a row's sum";
static constexpr StringLiteral kNotHere = "means nothing in this skeleton";

CudaNames BodyPrinter::uniformNames() {
  CudaNames names;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(i))
      names[kernel.getElement(i)] = numbered("uniforms.input", i);
  for (auto [i, reduction] : llvm::enumerate(reductions))
    names[reduction->getResult(0)] = "reduced[" + std::to_string(i) + "]";
  if (kernel.isContraction())
    for (LhsSumOp op : block.getOps<LhsSumOp>())
      names[op.getResult()] = "lhs_sum";
  return names;
}

CudaNames BodyPrinter::elementNames() {
  CudaNames names = uniformNames();
  if (kernel.isContraction())
    names[block.getArgument(0)] = "sum";
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isVarying(i))
      names[kernel.getElement(i)] = numbered("inputs.input", i) + "[i]";
  for (ColumnIndexOp op : block.getOps<ColumnIndexOp>())
    names[op.getResult()] = "column";
  for (ElementIndexOp op : block.getOps<ElementIndexOp>())
    names[op.getResult()] = "(row * columns() + column)";
  return names;
}

/// Prints `head {`, the statements of `values`, and `target = value;` for each; nothing else.
LogicalResult BodyPrinter::printFunction(StringRef head, ValueRange values, CudaNames names,
                                         StringRef scope, ArrayRef<std::string> targets,
                                         StringRef indent) {
  out << indent << head << " {\n";
  if (failed(printScalars(block, values, names, (indent + "  ").str(), scope, out)))
    return failure();
  for (auto [value, target] : llvm::zip_equal(values, targets))
    out << indent << "  " << target << " = " << names.at(value) << ";\n";
  out << indent << "}\n";
  return success();
}

LogicalResult BodyPrinter::printCompute() {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  unsigned terms = 0;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (stores(i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(stores(i, AccessKind::Full) ? numbered("outputs.result", i) + "[i]"
                                                  : "terms[" + std::to_string(terms++) + "]");
  }
  std::string extra;
  if (kernel.getSkeleton() == Skeleton::Column)
    extra = ", float* terms";
  if (kernel.getSkeleton() == Skeleton::Flat) {
    extra = ", float& term";
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back("term");
  }
  std::string head;
  llvm::raw_string_ostream(head) << "template <int kWidth>\n  " << kDevice
                                 << " void compute(const Uniforms& uniforms, "
                                 << (isRow()                  ? "const float* reduced, "
                                     : kernel.isContraction() ? "float sum, float lhs_sum, "
                                                              : "")
                                 << "const Inputs<kWidth>& inputs, int i,\n      long long row, "
                                    "Column column, Outputs<kWidth>& outputs"
                                 << extra << ") const";
  return printFunction(head, values, elementNames(), kNotHere, targets);
}

void BodyPrinter::findStages() {
  if (!isRow())
    return;
  llvm::DenseMap<Value, unsigned> depths; // reductions on the longest way to the value
  for (Operation &op : block.without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    if (isa<RowSumOp, RowMaxOp>(op)) {
      if (stages.size() <= depth)
        stages.resize(depth + 1);
      stages[depth++].push_back(&op);
    }
    depths[op.getResult(0)] = depth;
  }
  for (ArrayRef<Operation *> stage : stages)
    llvm::append_range(reductions, stage);
}

LogicalResult BodyPrinter::printStages() {
  out << "\n  static constexpr int kStages = " << stages.size() << ";\n"
      << "  static constexpr int kReductions = " << reductions.size() << ";\n"
      << "  __device__ static constexpr int stage_begin(int stage) {\n    return ";
  unsigned begin = 0;
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
  out << "halftone::kernels::Reduction::sum;\n  }\n"
      << "  template <int kStage, int kWidth>\n  " << kDevice
      << " void contribute(const Uniforms& uniforms, const float* reduced, const Inputs<kWidth>& "
         "inputs,\n"
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
    if (failed(printFunction("if constexpr (kStage == " + std::to_string(i) + ")", values,
                             elementNames(), kNotHere, targets, "    ")))
      return failure();
  }
  out << "  }\n";
  return success();
}

/// Row results, and the row's term of the sum over rows, by one lane per row.
LogicalResult BodyPrinter::printStoreRow() {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (!stores(i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(numbered("result", i) + "[row]");
  }
  if (kernel.hasFinish()) {
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back("workspace[row]");
  }
  std::string head =
      (kDevice + " void store_row(const Uniforms& uniforms, " +
       (isRow() ? "const float* reduced" : "float lhs_sum") + ", long long row) const")
          .str();
  return printFunction(head, values, uniformNames(), kNotUniform, targets);
}

void BodyPrinter::printStoreColumn() {
  out << "  " << kDevice << " void store_column(int column, const float* totals) const {\n";
  unsigned total = 0;
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (stores(i, AccessKind::Column))
      out << "    result" << i << "[column] = totals[" << total++ << "];\n";
  out << "  }\n";
}

LogicalResult BodyPrinter::printFinish() {
  Block &finish = kernel.getFinish().front();
  CudaNames names;
  names[finish.getArgument(0)] = "sum";
  unsigned argument = 1;
  out << "  __device__ void finish(float sum) const {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (kernel.getInputAccess(i).getKind() != AccessKind::Scalar)
      continue;
    out << "    const " << cudaType(elementType(input)) << " scalar" << i << " = input" << i
        << "[0];\n";
    names[finish.getArgument(argument++)] = numbered("scalar", i);
  }
  ValueRange values = kernel.getFinishYield().getValues();
  if (failed(printScalars(finish, values, names, "    ", kNotHere, out)))
    return failure();
  for (auto [i, value] : llvm::enumerate(values))
    out << "    finished" << i << "[0] = " << names.at(value) << ";\n";
  out << "  }\n";
  return success();
}

} // namespace halftone::ir
