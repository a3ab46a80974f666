// SPDX-License-Identifier: Apache-2.0
// One group of operations (Grouping.h) as one kernel operation.
#ifndef HALFTONE_PASSES_KERNELBUILDER_H
#define HALFTONE_PASSES_KERNELBUILDER_H

#include "codegen/passes/Grouping.h"
#include "llvm/ADT/MapVector.h"

namespace halftone::ir {

/// Builds the kernel of one group.
class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, const KernelGroup &group)
      : builder(builder), group(group), loc(group.ops.front()->getLoc()) {}

  KernelOp build(llvm::StringRef name);

private:
  llvm::SmallVector<mlir::Attribute> getReduction();
  void buildOp(KernelForm op);
  ContractOp findSecond();
  AccessKind getSummedAccess(ContractOp op);
  static std::pair<mlir::Value, mlir::Attribute> whereItLies(mlir::Value operand, AccessKind kind);
  void buildMixed(ContractOp op);
  void buildFinish();
  llvm::SmallVector<AccessAttr> getAccesses(KernelForm op);
  AccessAttr inKernel(KernelForm op, AccessAttr access);
  mlir::Value getElement(mlir::Value value, AccessAttr access);
  void addMatrices();
  llvm::SmallVector<int64_t> dropUnusedInputs();
  llvm::SmallVector<mlir::Attribute> getInputAccesses(llvm::ArrayRef<int64_t> numbers);
  void noteOrigins(KernelOp kernel);
  llvm::SmallVector<llvm::StringRef> describeFused(llvm::SmallVectorImpl<std::string> &storage);

  mlir::OpBuilder &builder;
  const KernelGroup &group;
  mlir::Location loc;
  mlir::Region body, finish;
  mlir::Block *block = nullptr;
  llvm::MapVector<std::pair<mlir::Value, mlir::Attribute>, mlir::Value>
      inputs; ///< to block arguments, null for Lhs and Rhs; accesses count indices in this order
  llvm::DenseMap<mlir::Value, mlir::Value> elements; ///< results inside the group to scalars
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value>
      inlined; ///< likewise what is computed again
  mlir::Value accumulator;
  ContractOp second; ///< of two products that one map reads
  KernelForm finishOp;
  llvm::SmallVector<mlir::Value> stores, sums;
  mlir::Value into; ///< null but for segments
  llvm::SmallVector<mlir::Value> storedResults;
  llvm::SmallVector<mlir::Attribute> storedAccesses;
};

} // namespace halftone::ir

#endif
