// SPDX-License-Identifier: Apache-2.0
// Attention: batched products, a map over the rows of what they give, and its product with values,
// whose scores lie in no memory (docs/decisions/0027). In its gradient the map reads pairs of two
// products, and its product is with keys. On chips with tensor cores alone.
#ifndef HALFTONE_SKELETONS_ATTENTION_ATTENTION_H
#define HALFTONE_SKELETONS_ATTENTION_ATTENTION_H

#include "codegen/plan/CostModel.h"
#include "codegen/skeletons/Skeleton.h"

namespace halftone::ir {
class BodyPrinter;
} // namespace halftone::ir

namespace halftone::skeletons {

class Attention : public Skeleton {
public:
  Attention();

  mlir::LogicalResult verify(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp) const override { return {}; }
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  mlir::LogicalResult verifyCpu(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;

  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  std::string getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  std::string getRunArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  int64_t getResidentBlocks(int64_t threads) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  explicit Attention(Traits traits) : Skeleton(std::move(traits)) {}
  Tile getDefaultCudaTile(KernelOp kernel) const override;

  /// Refuses operands and results other than these, and what whyNotAttention says.
  mlir::LogicalResult verifyProducts(KernelOp kernel, llvm::ArrayRef<AccessKind> operands,
                                     llvm::ArrayRef<AccessKind> sums) const;
  /// Plans by the cost of a contraction: of the elements of a batch `rows` by `depth`, times
  /// `columns`, where the body computes every element `passes` times. `sharedBytes` are those of
  /// the plan without warp groups.
  void addPlansOf(ir::PlanList &plans, double rows, double depth, double columns, double passes,
                  double sharedBytes) const;
};

/// As in attention.cuh.
inline constexpr int64_t kRowsOfBlock = 64, kThreadsOfBlock = 128;

/// What elements become for the result of this access.
mlir::Type weightOf(KernelOp kernel, AccessKind kind);
/// Whether operands or sums lie where their heads are behind the times: warp groups alone find
/// them.
bool leavesHeadsInPlace(KernelOp kernel);
/// Whether the map reads pairs, of queries and keys and of what arrives and values.
bool hasTwoProducts(KernelOp kernel);

/// Columns of the operands of the first product, and of the second's or of the values.
struct HeadColumns {
  int64_t first, second;
};
/// Of a kernel that `verify` accepts.
HeadColumns columnsOf(KernelOp kernel);
/// What the map's code takes on a chip whose blocks have so many rows: of every element a few
/// instructions, which products of heads are as short as.
double elementMicroseconds(const ir::Chip &chip, const ir::Problem &problem, double rows);
/// The place among the inputs of the operand that is accessed so.
unsigned inputOf(KernelOp kernel, AccessKind kind);
/// What a Body with products has for them: `sums` is the access of a result that has their sums.
ir::BodyForm formOfProducts(KernelOp kernel, AccessKind sums);
/// `float* name(row)`: where the sums of the result of this access begin.
void printSums(ir::BodyPrinter &printer, llvm::StringRef name, AccessKind kind);

/// A product that the kernel has: of queries and keys, or of what elements weigh and values.
struct AttentionProduct {
  llvm::StringRef operands; ///< for people
  mlir::Type lhs, rhs;      ///< elements
  ir::TensorType matrix;    ///< rhs: its columns are those of a head
};

/// Why no chip runs such products in one kernel; empty where some do.
std::string whyNotAttention(llvm::ArrayRef<AttentionProduct> products);
/// Likewise, one chip.
std::string whyNotAttentionOn(llvm::StringRef chip, llvm::ArrayRef<AttentionProduct> products);

} // namespace halftone::skeletons

#endif
