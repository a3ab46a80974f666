// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/TensorCopies.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/GatheredLines.h"
#include "codegen/skeletons/contraction/Contraction.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

StoredMatrix lhsMatrix(KernelOp kernel) {
  Dims rows(kernel.getDomainType().getRowDims()), depth(kernel.getReduction().getValue());
  unsigned input = findMatrices(kernel).lhs;
  if (kernel.getTransposeLhs())
    return {input, depth, rows, false};
  return {input, rows, depth, true};
}

StoredMatrix rhsMatrix(KernelOp kernel) {
  Dims columns(kernel.getDomain().getValue().take_back()), depth(kernel.getReduction().getValue());
  unsigned input = findMatrices(kernel).rhs;
  if (kernel.getTransposeRhs())
    return {input, columns, depth, true};
  return {input, depth, columns, false};
}

int64_t bytesOf(KernelOp kernel) {
  return bitsOf(elementType(kernel.getInputs()[findMatrices(kernel).lhs])) / 8;
}

bool hasMap(KernelOp kernel, const StoredMatrix &matrix) {
  int64_t bytes = bytesOf(kernel);
  for (Attribute dim : matrix.columns) {
    auto extent = dyn_cast<IntegerAttr>(dim);
    bytes *= extent ? extent.getInt()
                    : symbolicExtentOf(cast<StringAttr>(dim).getValue()).knownDivisor();
  }
  return bytes % kCopiedBytes == 0;
}

std::string whyNoCopies(KernelOp kernel) {
  if (findGatheredInput(kernel))
    return "a matrix that is gathered: tensor copies fetch what lies in memory";
  if (!kernel.getBatchDims().empty())
    return "a batch: tensor copies would read past the end of an element";
  return "";
}

std::string whyNotFetched(KernelOp kernel) {
  if (hasMap(kernel, lhsMatrix(kernel)) && hasMap(kernel, rhsMatrix(kernel)))
    return "";
  return "rows of codes that begin at no multiples of 16 bytes: tensor copies fetch no others";
}

Launch::Map tensorMapOf(KernelOp kernel, const StoredMatrix &matrix, int64_t lines) {
  int64_t depth = elementsOfLine(bytesOf(kernel));
  return {matrix.input,
          {{matrix.rows, matrix.alongDepth ? lines : depth}, {matrix.columns, depth}}};
}

bool usesLhsSum(KernelOp kernel) { return !kernel.getBody().front().getOps<LhsSumOp>().empty(); }

int64_t countVectors(KernelOp kernel) {
  int64_t vectors = 0;
  for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
    vectors += isVarying(kernel, input);
  for (unsigned result = 0; result < kernel.getStored().size(); ++result)
    vectors += isStoredByElement(kernel, result);
  return vectors;
}

void addGroupWorkspace(KernelOp kernel, int64_t rows, int64_t columns, int64_t counters,
                       Launch &launch) {
  launch.workspace = {{4 * counters, launch.axes, false, true},
                      {4 * rows * columns, launch.axes, true, false}};
  if (usesLhsSum(kernel))
    launch.workspace.push_back(
        {4 * rows,
         {{Dims(kernel.getReduction().getValue()), kSumChunk}, launch.axes.front()},
         false,
         false});
}

std::string splitArguments(CudaPlanAttr plan) {
  if (plan.getSplits() == 1)
    return ", 1, nullptr";
  int64_t least = plan.getLeast();
  return (",\n      static_cast<int>(min(max((body.depth + " + Twine(least - 1) + "LL) / " +
          Twine(least) + "LL, 1LL), " + Twine(plan.getSplits()) + "LL)), body.workspace")
      .str();
}

/// Whether columns of a wider result keep what its rows are aligned to.
static bool keepsAlignment(KernelOp kernel, unsigned result) {
  AccessAttr access = kernel.getResultAccess(result);
  auto tensor = cast<TensorType>(kernel.getStored()[result].getType());
  int64_t bytes = bitsOf(tensor.getElementType()) / 8;
  return access.getKind() != AccessKind::Window ||
         (*tensor.getColumns() * bytes % kCopiedBytes == 0 &&
          access.getOffset() * bytes % kCopiedBytes == 0);
}

/// Whether vectors of all that is loaded or stored for a Column begin at multiples of 16 bytes.
static void printIsAligned(BodyPrinter &printer) {
  KernelOp kernel = printer.kernel;
  SmallVector<std::string> pointers;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i) {
    AccessKind kind = kernel.getInputAccess(i).getKind();
    if (kind == AccessKind::Full || kind == AccessKind::Column || kind == AccessKind::Start)
      pointers.push_back(memberName(kernel, i));
  }
  bool areAligned = true;
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (isStoredByElement(kernel, i)) {
      pointers.push_back(numbered("result", i));
      areAligned &= keepsAlignment(kernel, i);
    }
  printer.out << "  " << kDevice << " bool is_aligned() const {\n    return "
              << (areAligned ? "" : "false && ") << "((0";
  for (const std::string &pointer : pointers)
    printer.out << " | reinterpret_cast<unsigned long long>(" << pointer << ")";
  printer.out << ") & 15) == 0;\n  }\n";
}

void addGroupElements(BodyForm &form, KernelOp kernel, CudaPlanAttr plan) {
  form.constants += bodyConstant("kElementsUseLhsSum", elementsUseLhsSum(kernel)) +
                    bodyConstant("kWidth", accessWidth(kernel));
  form.constants += codeConstants(kernel);
  form.column = "halftone::kernels::warpgroup_contraction::Column";
  form.workspace = plan.getSplits() > 1;
  form.members = [before = std::move(form.members)](BodyPrinter &printer) {
    printIsAligned(printer);
    return before(printer);
  };
}

} // namespace halftone::skeletons
