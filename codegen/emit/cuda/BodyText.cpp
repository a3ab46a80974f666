// SPDX-License-Identifier: Apache-2.0
// What a Body holds, loads and stores.
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/GeneralAccess.h"
#include "codegen/ir/Accesses.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace halftone::ir {

std::string bodyConstant(StringRef name, bool value) {
  return ("  static constexpr bool " + name + " = " + (value ? "true" : "false") + ";\n").str();
}

std::string bodyConstant(StringRef name, int64_t value) {
  return ("  static constexpr int " + name + " = " + Twine(value) + ";\n").str();
}

bool isMatrix(KernelOp kernel, unsigned input) { return !kernel.getElement(input); }

std::string memberName(KernelOp kernel, unsigned input) {
  return isMatrix(kernel, input) ? stringifyAccessKind(kernel.getInputAccess(input).getKind()).str()
                                 : numbered("input", input);
}

/// What the body of a contraction reads element by element, though no argument of it stands for it.
static bool isStart(KernelOp kernel, unsigned input) {
  return kernel.hasSum() && kernel.getInputAccess(input).getKind() == AccessKind::Start;
}

bool isUniform(KernelOp kernel, unsigned input) {
  AccessKind kind = kernel.getInputAccess(input).getKind();
  return kind == AccessKind::Row || kind == AccessKind::Scalar;
}

bool isVarying(KernelOp kernel, unsigned input) {
  return !isMatrix(kernel, input) && !isUniform(kernel, input);
}

bool isStoredAs(KernelOp kernel, unsigned result, AccessKind kind) {
  return kernel.getResultAccess(result).getKind() == kind;
}

bool isStoredByElement(KernelOp kernel, unsigned result) {
  return isOfElements(kernel.getResultAccess(result).getKind());
}

std::string rowOfResult(KernelOp kernel, unsigned result) {
  AccessAttr access = kernel.getResultAccess(result);
  if (access.getKind() != AccessKind::Window)
    return " + row * columns()";
  int64_t columns = *cast<TensorType>(kernel.getStored()[result].getType()).getColumns();
  return (" + row * " + Twine(columns) + " + " + Twine(access.getOffset())).str();
}

int64_t countStoredAs(KernelOp kernel, AccessKind kind) {
  return llvm::count_if(llvm::seq(kernel.getStored().size()),
                        [&](size_t i) { return isStoredAs(kernel, i, kind); });
}

/// As a Column.
static std::string columnsText(TensorType type) {
  std::optional<int64_t> number = type.getColumns();
  return number ? std::to_string(*number)
                : "static_cast<Column>(" + cudaProduct(type.getDims().take_back()) + ")";
}

void BodyPrinter::printMembers(ArrayRef<std::string> symbols) {
  out << "struct Body {\n"
      << "  using Column = " << (form.oneRow ? "long long" : form.column) << ";\n"
      << form.constants;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (std::string name = memberName(kernel, i);
        isMatrix(kernel, i) && !isScales(kernel.getInputAccess(i).getKind())) {
      name.front() = llvm::toUpper(name.front());
      out << "  using " << name << " = " << cudaType(elementType(input)) << ";\n";
    }
  out << "\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    out << "  const " << cudaType(elementType(input)) << "* " << memberName(kernel, i) << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    out << "  " << cudaType(elementType(result)) << "* result" << i << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getFinished()))
    out << "  " << cudaType(elementType(result)) << "* finished" << i << ";\n";
  if (!form.maximum.empty())
    out << "  float* largest;\n  unsigned int *so_far, *warps_done;\n"
           "  halftone::kernels::Maximum* maximum;\n";
  else if (kernel.hasFinish())
    out << "  float* workspace;\n  unsigned int* blocks_done;\n";
  if (form.workspace)
    out << "  float* workspace;\n";
  for (const std::string &symbol : symbols)
    out << "  long long symbol_" << symbol << ";\n";
  out << "  long long rows;\n";
  if (form.oneRow)
    out << "  long long elements;\n";
  if (kernel.hasSum())
    out << "  long long depth;\n";
  if (!kernel.getBatchDims().empty())
    out << "  long long element_rows;\n";
  out << "\n";
  if (form.oneRow)
    out << "  " << kDevice << " Column columns() const { return elements; }\n\n";
  else if (std::optional<int64_t> columns = kernel.getColumns())
    out << "  __device__ static constexpr Column columns() { return " << *columns << "; }\n\n";
  else
    out << "  " << kDevice << " Column columns() const { return "
        << columnsText(kernel.getDomainType()) << "; }\n\n";
}

/// The axes that the body asks for and that a row has one place on.
llvm::SmallSetVector<unsigned, 4> BodyPrinter::axesOfRow() {
  llvm::SmallSetVector<unsigned, 4> axes;
  for (AxisIndexOp op : block.getOps<AxisIndexOp>())
    if (op.getAxis() + 1 < kernel.getDomain().size())
      axes.insert(op.getAxis());
  return axes;
}

/// The row's number taken apart.
static std::string axisText(KernelOp kernel, unsigned axis) {
  ArrayRef<Attribute> rows = kernel.getDomainType().getRowDims();
  std::string text = "row";
  if (axis + 1 < rows.size())
    text += " / (" + cudaProduct(rows.drop_front(axis + 1)) + ")";
  if (axis > 0)
    text += " % " + cudaProduct(rows[axis]);
  return "static_cast<int>(" + text + ")";
}

void BodyPrinter::printOperands() {
  out << "  struct Uniforms {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isUniform(kernel, i))
      out << "    " << cudaType(elementType(input)) << " input" << i << ";\n";
  for (unsigned axis : axesOfRow())
    out << "    int axis" << axis << ";\n";
  out << "  };\n  template <int kWidth>\n  struct Inputs {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isVarying(kernel, i) || isStart(kernel, i))
      out << "    " << cudaType(elementType(input)) << " " << memberName(kernel, i)
          << "[kWidth];\n";
  out << "  };\n  template <int kWidth>\n  struct Outputs {\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (isStoredByElement(kernel, i))
      out << "    " << cudaType(elementType(result)) << " result" << i << "[kWidth];\n";
  out << "  };\n\n";
}

void BodyPrinter::printLoads() {
  out << "  " << kDevice << " void load(long long row, Uniforms& uniforms) const {\n";
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(kernel, i))
      out << "    uniforms.input" << i << " = input" << i
          << (kernel.getInputAccess(i).getKind() == AccessKind::Row ? "[row]" : "[0]") << ";\n";
  for (unsigned axis : axesOfRow())
    out << "    uniforms.axis" << axis << " = " << axisText(kernel, axis) << ";\n";
  out << "  }\n  template <int kWidth>\n"
      << "  " << kDevice
      << " void load(long long row, Column column, Inputs<kWidth>& inputs) const {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (!isVarying(kernel, i) && !isStart(kernel, i))
      continue;
    AccessAttr access = kernel.getInputAccess(i);
    if (isGeneral(kernel, i)) {
      printGeneralLoad(kernel, i, out);
      continue;
    }
    out << "    halftone::kernels::load(" << memberName(kernel, i);
    if (access.getKind() == AccessKind::Full || isStart(kernel, i))
      out << " + row * columns(), column, columns()";
    else if (access.getKind() == AccessKind::Column)
      out << ", column, columns()";
    else
      out << " + row * " << columnsText(cast<TensorType>(input.getType())) << ", column + ("
          << access.getOffset() << "), " << columnsText(cast<TensorType>(input.getType()));
    out << ", inputs." << memberName(kernel, i) << ");\n";
  }
  out << "  }\n";
}

void BodyPrinter::printStore() {
  out << "  template <int kWidth>\n"
      << "  " << kDevice
      << " void store(long long row, Column column, const Outputs<kWidth>& outputs) const {\n";
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (isStoredByElement(kernel, i))
      out << "    halftone::kernels::store(result" << i << rowOfResult(kernel, i)
          << ", column, columns(), outputs.result" << i << ");\n";
  out << "  }\n";
}

LogicalResult BodyPrinter::print(ArrayRef<std::string> symbols) {
  printMembers(symbols);
  printOperands();
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isGeneral(kernel, i))
      printGeneralRead(kernel, i, out);
  printLoads();
  printStore();
  if (failed(printCompute()) || (form.members && failed(form.members(*this))) ||
      (kernel.hasFinish() && failed(printFinish())))
    return failure();
  out << "};\n";
  return success();
}

} // namespace halftone::ir
