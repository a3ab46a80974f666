// SPDX-License-Identifier: Apache-2.0
// The printer of `struct Body`: BodyText.cpp has what a Body holds, loads and stores, BodyCode.cpp
// what it computes. kernels/README.md says what each skeleton asks of a Body.
#ifndef HALFTONE_EMIT_CUDA_BODYPRINTER_H
#define HALFTONE_EMIT_CUDA_BODYPRINTER_H

#include "codegen/emit/cuda/BodyText.h"
#include "codegen/emit/cuda/Regions.h"

namespace halftone::ir {

inline constexpr llvm::StringLiteral kDevice = "__device__ __forceinline__";

inline std::string numbered(llvm::StringRef name, unsigned i) {
  return (name + llvm::Twine(i)).str();
}

class BodyPrinter {
public:
  BodyPrinter(KernelOp kernel, CudaPlanAttr plan, llvm::raw_ostream &out)
      : kernel(kernel), plan(plan), block(kernel.getBody().front()), collapsed(isCollapsed(kernel)),
        out(out) {}

  mlir::LogicalResult print(llvm::ArrayRef<std::string> symbols);

private:
  void printMembers(llvm::ArrayRef<std::string> symbols);
  void printOperands();
  void printLoads();
  void printStore();
  mlir::LogicalResult printCompute();
  mlir::LogicalResult printStages();
  mlir::LogicalResult printStoreRow();
  void printStoreColumn();
  mlir::LogicalResult printFinish();

  int accessWidth();
  bool isTensor() { return plan.getKind() == CudaPlanKind::Tensor; }
  bool isRow() { return kernel.getSkeleton() == Skeleton::Row; }
  mlir::Type elementType(mlir::Value tensor) {
    return mlir::cast<TensorType>(tensor.getType()).getElementType();
  }
  bool isUniform(unsigned input) {
    AccessKind kind = kernel.getInputAccess(input).getKind();
    return kind == AccessKind::Row || kind == AccessKind::Scalar;
  }
  bool isMatrix(unsigned input) { return !kernel.getElement(input); }
  bool isVarying(unsigned input) { return !isMatrix(input) && !isUniform(input); }
  bool stores(unsigned result, AccessKind kind) {
    return kernel.getResultAccess(result).getKind() == kind;
  }

  CudaNames uniformNames();
  CudaNames elementNames();
  void findStages();
  mlir::LogicalResult printFunction(llvm::StringRef head, mlir::ValueRange values, CudaNames names,
                                    llvm::StringRef scope, llvm::ArrayRef<std::string> targets,
                                    llvm::StringRef indent = "  ");

  KernelOp kernel;
  CudaPlanAttr plan;
  mlir::Block &block;
  bool collapsed;
  llvm::raw_ostream &out;
  /// Row reductions stage by stage: those of one stage need results of earlier stages alone.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> stages;
  llvm::SmallVector<mlir::Operation *> reductions; ///< flattened
};

} // namespace halftone::ir

#endif
