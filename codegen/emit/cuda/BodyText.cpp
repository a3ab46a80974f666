// SPDX-License-Identifier: Apache-2.0
// What a Body holds, loads and stores.
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/KernelText.h"

using namespace mlir;

namespace halftone::ir {

bool isCollapsed(KernelOp kernel) {
  auto plain = [](Attribute access) {
    AccessKind kind = cast<AccessAttr>(access).getKind();
    return kind == AccessKind::Full || kind == AccessKind::Scalar;
  };
  Skeleton skeleton = kernel.getSkeleton();
  return (skeleton == Skeleton::Pointwise || skeleton == Skeleton::Flat) &&
         llvm::all_of(kernel.getInputAccesses(), plain) &&
         llvm::all_of(kernel.getResultAccesses(), plain) &&
         kernel.getBody().front().getOps<ColumnIndexOp>().empty();
}

/// 16 bytes of 16-bit elements, where all elements have 16 bits; else 16 bytes of 32-bit ones.
int BodyPrinter::accessWidth() {
  auto isNarrow = [&](Value tensor) {
    Type element = elementType(tensor);
    return element.isF16() || element.isBF16();
  };
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isVarying(i) && !isNarrow(input))
      return 4;
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (stores(i, AccessKind::Full) && !isNarrow(result))
      return 4;
  return 8;
}

void BodyPrinter::printMembers(ArrayRef<std::string> symbols) {
  out << "struct Body {\n"
      << "  using Column = " << (collapsed ? "long long" : "int") << ";\n";
  if (kernel.getSkeleton() == Skeleton::Pointwise || kernel.getSkeleton() == Skeleton::Flat)
    out << "  static constexpr bool kCollapsed = " << (collapsed ? "true" : "false") << ";\n";
  if (isRow())
    out << "  static constexpr bool kFinish = " << (kernel.hasFinish() ? "true" : "false") << ";\n"
        << "  static constexpr int kInputs = "
        << llvm::count_if(llvm::seq(kernel.getInputs().size()),
                          [&](size_t i) { return isVarying(i); })
        << ";\n";
  if (kernel.getSkeleton() == Skeleton::Column)
    out << "  static constexpr int kSums = "
        << llvm::count_if(llvm::seq(kernel.getStored().size()),
                          [&](size_t i) { return stores(i, AccessKind::Column); })
        << ";\n";
  if (kernel.isContraction())
    out << "  static constexpr bool kTransposeLhs = "
        << (kernel.getTransposeLhs() ? "true" : "false") << ";\n"
        << "  static constexpr bool kTransposeRhs = "
        << (kernel.getTransposeRhs() ? "true" : "false") << ";\n"
        << "  static constexpr bool kUsesLhsSum = "
        << (block.getOps<LhsSumOp>().empty() ? "false" : "true") << ";\n";
  if (isTensor())
    out << "  static constexpr bool kElementsUseLhsSum = "
        << (elementsUseLhsSum(kernel) ? "true" : "false") << ";\n"
        << "  static constexpr int kWidth = " << accessWidth() << ";\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isMatrix(i))
      out << "  using "
          << (kernel.getInputAccess(i).getKind() == AccessKind::Lhs ? "Lhs = " : "Rhs = ")
          << cudaType(elementType(input)) << ";\n";
  out << "\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    out << "  const " << cudaType(elementType(input)) << "* "
        << (kernel.getInputAccess(i).getKind() == AccessKind::Lhs   ? "lhs"
            : kernel.getInputAccess(i).getKind() == AccessKind::Rhs ? "rhs"
                                                                    : numbered("input", i))
        << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    out << "  " << cudaType(elementType(result)) << "* result" << i << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getFinished()))
    out << "  " << cudaType(elementType(result)) << "* finished" << i << ";\n";
  if (kernel.hasFinish())
    out << "  float* workspace;\n  unsigned int* blocks_done;\n";
  if (isTensor() && plan.getSplits() > 1)
    out << "  float* workspace;\n";
  for (const std::string &symbol : symbols)
    out << "  long long symbol_" << symbol << ";\n";
  out << "  long long rows;\n";
  if (collapsed)
    out << "  long long elements;\n";
  if (kernel.isContraction())
    out << "  long long depth;\n";
  out << "\n";
  if (collapsed)
    out << "  " << kDevice << " Column columns() const { return elements; }\n\n";
  else
    out << "  __device__ static constexpr Column columns() { return " << kernel.getColumns()
        << "; }\n\n";
}

void BodyPrinter::printOperands() {
  out << "  struct Uniforms {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isUniform(i))
      out << "    " << cudaType(elementType(input)) << " input" << i << ";\n";
  out << "  };\n  template <int kWidth>\n  struct Inputs {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isVarying(i))
      out << "    " << cudaType(elementType(input)) << " input" << i << "[kWidth];\n";
  out << "  };\n  template <int kWidth>\n  struct Outputs {\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (stores(i, AccessKind::Full))
      out << "    " << cudaType(elementType(result)) << " result" << i << "[kWidth];\n";
  out << "  };\n\n";
}

void BodyPrinter::printLoads() {
  out << "  " << kDevice << " void load(long long row, Uniforms& uniforms) const {\n";
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(i))
      out << "    uniforms.input" << i << " = input" << i
          << (kernel.getInputAccess(i).getKind() == AccessKind::Row ? "[row]" : "[0]") << ";\n";
  out << "  }\n  template <int kWidth>\n"
      << "  " << kDevice
      << " void load(long long row, Column column, Inputs<kWidth>& inputs) const {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (!isVarying(i))
      continue;
    AccessAttr access = kernel.getInputAccess(i);
    out << "    halftone::kernels::load(input" << i;
    if (access.getKind() == AccessKind::Full)
      out << " + row * columns(), column, columns()";
    else if (access.getKind() == AccessKind::Column)
      out << ", column, columns()";
    else
      out << " + row * " << cast<TensorType>(input.getType()).getColumns() << ", column + ("
          << access.getOffset() << "), " << cast<TensorType>(input.getType()).getColumns();
    out << ", inputs.input" << i << ");\n";
  }
  out << "  }\n";
}

void BodyPrinter::printStore() {
  out << "  template <int kWidth>\n"
      << "  " << kDevice
      << " void store(long long row, Column column, const Outputs<kWidth>& outputs) const {\n";
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (stores(i, AccessKind::Full))
      out << "    halftone::kernels::store(result" << i
          << " + row * columns(), column, columns(), outputs.result" << i << ");\n";
  out << "  }\n";
}

LogicalResult BodyPrinter::print(ArrayRef<std::string> symbols) {
  findStages();
  printMembers(symbols);
  printOperands();
  printLoads();
  printStore();
  if (failed(printCompute()))
    return failure();
  if (isRow() && failed(printStages()))
    return failure();
  if ((isRow() || kernel.isContraction()) && failed(printStoreRow()))
    return failure();
  if (kernel.getSkeleton() == Skeleton::Column)
    printStoreColumn();
  if (kernel.hasFinish() && failed(printFinish()))
    return failure();
  out << "};\n";
  return success();
}

LogicalResult printBody(KernelOp kernel, CudaPlanAttr plan, ArrayRef<std::string> symbols,
                        raw_ostream &out) {
  return BodyPrinter(kernel, plan, out).print(symbols);
}

} // namespace halftone::ir
