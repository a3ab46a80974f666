// SPDX-License-Identifier: Apache-2.0
// What a Body computes: one printer per member function.
#include "codegen/emit/cuda/BodyPrinter.h"

using namespace mlir;

namespace halftone::ir {

static constexpr StringLiteral kNotHere = "means nothing in this skeleton";

/// Columns that a thread computes together begin with a multiple of their number, and `i` counts
/// them while compiling: said so, four of them share what follows from their quarter.
static constexpr StringLiteral
    kQuarter = "((row * columns() + column) >> 2)",
    kPlace = "(static_cast<int>(row * columns() + column) & 3)",
    kQuarterOfGroup = "(kWidth % 4 == 0 ? ((row * columns() + (column - i)) >> 2) + (i >> 2) : "
                      "(row * columns() + column) >> 2)",
    kPlaceInGroup = "(kWidth % 4 == 0 ? i & 3 : static_cast<int>(row * columns() + column) & 3)";

CudaNames BodyPrinter::uniformNames() {
  CudaNames names = form.uniforms;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(kernel, i))
      names[kernel.getElement(i)] = numbered("uniforms.input", i);
  for (AxisIndexOp op : block.getOps<AxisIndexOp>())
    if (op.getAxis() + 1 < kernel.getDomain().size())
      names[op.getResult()] = numbered("uniforms.axis", op.getAxis());
  return names;
}

CudaNames BodyPrinter::elementNames() {
  CudaNames names = uniformNames();
  for (auto &[value, name] : form.elements)
    names[value] = name;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isVarying(kernel, i))
      names[kernel.getElement(i)] = numbered("inputs.input", i) + "[i]";
  for (ColumnIndexOp op : block.getOps<ColumnIndexOp>())
    names[op.getResult()] = "column";
  for (AxisIndexOp op : block.getOps<AxisIndexOp>())
    names.try_emplace(op.getResult(), "column");
  for (ElementIndexOp op : block.getOps<ElementIndexOp>())
    names[op.getResult()] = "(row * columns() + column)";
  bool wholeQuarters = form.oneRow || kernel.getColumns().value_or(1) % 4 == 0;
  for (QuarterIndexOp op : block.getOps<QuarterIndexOp>())
    names[op.getResult()] = (wholeQuarters ? kQuarterOfGroup : kQuarter).str();
  for (QuarterPlaceOp op : block.getOps<QuarterPlaceOp>())
    names[op.getResult()] = (wholeQuarters ? kPlaceInGroup : kPlace).str();
  return names;
}

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

LogicalResult BodyPrinter::printElements(StringRef head, ValueRange values,
                                         ArrayRef<std::string> targets, StringRef indent) {
  return printFunction(head, values, elementNames(), kNotHere, targets, indent);
}

LogicalResult BodyPrinter::printUniforms(StringRef head, ValueRange values, CudaNames names,
                                         ArrayRef<std::string> targets, StringRef indent) {
  return printFunction(head, values, names,
                       "is not the same in the whole row, so it can be neither a Row result nor a "
                       "row's sum",
                       targets, indent);
}

LogicalResult BodyPrinter::printCompute() {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  unsigned terms = 0;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (isStoredAs(kernel, i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(isStoredByElement(kernel, i) ? numbered("outputs.result", i) + "[i]"
                                                   : "terms[" + std::to_string(terms++) + "]");
  }
  if (!form.maximum.empty()) {
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back(form.maximum);
  }
  for (auto &[value, target] : form.terms) {
    values.push_back(value);
    targets.push_back(target);
  }
  std::string head = ("template <" + elementTemplate() + ">\n  " + kDevice +
                      " void compute(const Uniforms& uniforms, " + form.before +
                      "const Inputs<kWidth>& inputs, int i,\n      long long row, Column column, "
                      "Outputs<kWidth>& outputs" +
                      form.after + ") const")
                         .str();
  return printElements(head, values, targets);
}

LogicalResult BodyPrinter::printStoreRow(StringRef parameter) {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (!isStoredAs(kernel, i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(numbered("result", i) + "[row]");
  }
  if (kernel.hasFinish() && form.maximum.empty()) {
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back("workspace[row]");
  }
  std::string head = (kDevice + " void store_row(const Uniforms& uniforms, " + parameter +
                      ", long long row) const")
                         .str();
  return printUniforms(head, values, uniformNames(), targets);
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
    if (finish.getArgument(argument).use_empty()) {
      ++argument;
      continue;
    }
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
