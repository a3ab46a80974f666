// SPDX-License-Identifier: Apache-2.0
// The printer of `struct Body`, which a skeleton of kernels/ is instantiated with. BodyText.cpp has
// what a Body holds, loads and stores, BodyCode.cpp what it computes. kernels/README.md says what
// each skeleton asks of a Body.
#ifndef HALFTONE_EMIT_CUDA_BODYPRINTER_H
#define HALFTONE_EMIT_CUDA_BODYPRINTER_H

#include <functional>

#include "codegen/emit/cuda/Regions.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::ir {

inline constexpr llvm::StringLiteral kDevice = "__device__ __forceinline__";

inline std::string numbered(llvm::StringRef name, unsigned i) {
  return (name + llvm::Twine(i)).str();
}

/// One line of a Body.
std::string bodyConstant(llvm::StringRef name, bool value);
std::string bodyConstant(llvm::StringRef name, int64_t value);

class BodyPrinter;

/// What a skeleton's Body has beyond operands, loads and stores.
struct BodyForm {
  bool oneRow = false;        ///< elements know neither row nor column
  bool workspace = false;     ///< also without a finish
  bool leavesOut = false;     ///< blocks without a kept element: functions know kAll, all are kept
  std::string column = "int"; ///< the type Column
  std::string constants;
  std::string before, after; ///< parameters of compute around the inputs
  CudaNames uniforms;        ///< what the skeleton provides for a whole row
  CudaNames elements;        ///< and for an element
  llvm::SmallVector<std::pair<mlir::Value, std::string>>
      terms;                                                 ///< what compute gives besides stores
  std::function<mlir::LogicalResult(BodyPrinter &)> members; ///< the functions behind compute
  /// Of a kernel whose finish takes the largest of its magnitudes: what each is assigned to, and
  /// the statement behind run() (maximum.cuh).
  std::string maximum, last;
};

class BodyPrinter {
public:
  BodyPrinter(KernelOp kernel, BodyForm form, llvm::raw_ostream &out)
      : kernel(kernel), block(kernel.getBody().front()), form(std::move(form)), out(out) {}

  /// Data members are named as the entry's parameters, and `rows`, `elements` (of one row), `depth`
  /// (where the body receives a sum).
  mlir::LogicalResult print(llvm::ArrayRef<std::string> symbols);

  /// Prints `head {`, the statements of `values`, and `target = value;` for each; nothing else.
  mlir::LogicalResult printFunction(llvm::StringRef head, mlir::ValueRange values, CudaNames names,
                                    llvm::StringRef scope, llvm::ArrayRef<std::string> targets,
                                    llvm::StringRef indent = "  ");
  /// printFunction where every value is known of an element.
  mlir::LogicalResult printElements(llvm::StringRef head, mlir::ValueRange values,
                                    llvm::ArrayRef<std::string> targets,
                                    llvm::StringRef indent = "  ");
  /// printFunction where values that are the same in the whole row are known.
  mlir::LogicalResult printUniforms(llvm::StringRef head, mlir::ValueRange values, CudaNames names,
                                    llvm::ArrayRef<std::string> targets,
                                    llvm::StringRef indent = "  ");
  /// The template parameters of what computes elements, these before it.
  std::string elementTemplate(llvm::StringRef before = "") const {
    return (before + (form.leavesOut ? "bool kAll = false, " : "") + "int kWidth").str();
  }
  /// The operands and what the skeleton provides for a whole row.
  CudaNames uniformNames();
  /// Row results, and the row's term of the sum over rows, by one lane per row.
  mlir::LogicalResult printStoreRow(llvm::StringRef parameter);

  KernelOp kernel;
  mlir::Block &block;
  BodyForm form;
  llvm::raw_ostream &out;

private:
  void printMembers(llvm::ArrayRef<std::string> symbols);
  void printOperands();
  void printLoads();
  void printStore();
  mlir::LogicalResult printCompute();
  mlir::LogicalResult printFinish();

  CudaNames elementNames();
  llvm::SmallSetVector<unsigned, 4> axesOfRow();
};

/// How the operand enters the body: not at all, once per row, once per element.
bool isMatrix(KernelOp kernel, unsigned input);
/// What a Body calls an operand: a matrix by its access, any other by its number.
std::string memberName(KernelOp kernel, unsigned input);
bool isUniform(KernelOp kernel, unsigned input);
bool isVarying(KernelOp kernel, unsigned input);
bool isStoredAs(KernelOp kernel, unsigned result, AccessKind kind);
/// Whether every element of the domain is stored.
bool isStoredByElement(KernelOp kernel, unsigned result);
/// Where the result's elements of a row begin: " + row * columns()".
std::string rowOfResult(KernelOp kernel, unsigned result);
int64_t countStoredAs(KernelOp kernel, AccessKind kind);

inline mlir::Type elementType(mlir::Value tensor) {
  return mlir::cast<TensorType>(tensor.getType()).getElementType();
}

} // namespace halftone::ir

#endif
