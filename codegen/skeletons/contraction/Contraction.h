// SPDX-License-Identifier: Apache-2.0
// Contractions: every element is a sum of products over the reduced axes (N1), then the body. On
// the CPU one nest (CpuNest.cpp); on chips one of several plan forms (PlanForm.h).
#ifndef HALFTONE_SKELETONS_CONTRACTION_CONTRACTION_H
#define HALFTONE_SKELETONS_CONTRACTION_CONTRACTION_H

#include "codegen/plan/CostModel.h"
#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Contraction final : public Skeleton {
public:
  Contraction();

  bool joinsProducer(KernelForm, const KernelGroup &) const override { return false; }
  bool carries(KernelForm op, const KernelGroup &group) const override;
  mlir::Value buildCarried(mlir::OpBuilder &builder, KernelForm op, mlir::Value sum) const override;
  ir::AccessAttr getResultAccess(mlir::OpResult result) const override;

  mlir::LogicalResult verify(KernelOp kernel) const override;
  Dims getSummands(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp) const override { return {}; } // blocks come at run time
  std::optional<CpuBlocking> getCpuBlocking(KernelOp kernel) const override;
  bool multipliesPairs(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::Value buildSum(cpu::Code &code, cpu::Frame &frame) const override;

  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  std::string getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  std::string getRunArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  int64_t getResidentBlocks(int64_t threads) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

struct Matrices {
  unsigned lhs = 0, rhs = 0; ///< places among the kernel's inputs
  std::optional<unsigned> start = std::nullopt;
  std::optional<unsigned> lhsScales = std::nullopt, rhsScales = std::nullopt; ///< of both, or none
};
Matrices findMatrices(KernelOp kernel);

/// P21: whether rules leave the order of the sums to the kernel (class B).
bool mayReorder(KernelOp kernel);

/// A float of 8 bits.
bool isFloat8(mlir::Type element);

/// Bytes of a row of 8-bit floats are a multiple of so many: the least that is copied at once.
inline constexpr int64_t kLeastCodes = 4;

/// And of rows that tensor copies fetch.
inline constexpr int64_t kCopiedBytes = 16;

/// Why no block multiplies two operands of codes that both lie across the sum, with rows of so many
/// bytes; empty where one does. A block turns the lines of one alone whose rows begin at multiples
/// of kLeastCodes (float8_contraction.cuh).
std::string whyNotBothAcross(int64_t lhsBytes, int64_t rhsBytes);

/// Whether rules leave to chips what digits their instructions keep of a sum (N13, N14).
bool leavesDigits(ir::Accumulation accumulation);

/// Whether both matrices are floats of 8 bits that may be multiplied as such.
bool multipliesFloat8(KernelOp kernel);

/// Whether their blocks have scales, which products or sums of them are multiplied by.
bool multipliesBlocks(KernelOp kernel);

/// Whether those are factors of the sums of parts (N17), which no instruction multiplies by.
bool multipliesByFactors(KernelOp kernel);

/// Whether both are packed codes of 4 bits in blocks (decisions/0068), a word of eight an element.
bool multipliesFloat4(KernelOp kernel);
inline constexpr int64_t kPackedCodes = 8;

/// How long the best tile of warp groups takes, of operands of so many bytes an element that tensor
/// copies fetch.
double microsecondsByGroups(const ir::Chip &chip, const ir::Problem &problem, int64_t bytes,
                            bool promotes);

/// N14: whether the sums of so many products are added in f32.
bool promotes(KernelOp kernel);

/// Whether an element needs lhs's sum over k, so that no part of the sum can be left to others.
bool elementsUseLhsSum(KernelOp kernel);

} // namespace halftone::skeletons

#endif
