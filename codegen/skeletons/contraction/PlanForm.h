// SPDX-License-Identifier: Apache-2.0
// The ways in which chips run contractions, each with tiles, launch, cost and text of its own.
#ifndef HALFTONE_SKELETONS_CONTRACTION_PLANFORM_H
#define HALFTONE_SKELETONS_CONTRACTION_PLANFORM_H

#include "codegen/plan/CostModel.h"
#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class PlanForm {
public:
  virtual ~PlanForm() = default;

  /// Why the chip runs the kernel in no such way; empty where it does.
  virtual std::string whyNot(const ir::PlanList &plans) const = 0;
  /// Adds the tiles that fit the chip.
  virtual void addPlans(ir::PlanList &plans) const = 0;
  virtual mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const = 0;
  /// "tensor 128x64x32, warps 32x32, 3 stages", for people.
  virtual std::string describe(CudaPlanAttr plan) const = 0;
  /// The file and namespace of kernels/.
  virtual llvm::StringRef getDeviceName() const = 0;
  /// Of the device's Tile.
  virtual std::string getTileArguments(CudaPlanAttr plan) const;
  virtual std::string getRunArguments(KernelOp, CudaPlanAttr) const { return {}; }
  /// Threads of a block, its first ones, that compute no elements.
  virtual int64_t getOtherThreads() const { return 0; }
  /// What its Body has beyond that of every contraction.
  virtual void addTo(ir::BodyForm &, KernelOp, CudaPlanAttr) const {}
};

const PlanForm &simtForm();
const PlanForm &tensorForm();
const PlanForm &warpgroupForm();
const PlanForm &tensorMemoryForm();

inline constexpr int64_t kLeastPerSplit = 256; ///< products that are worth a block

/// Into how many parts a sum is split, each of so many elements at least.
struct Splits {
  int64_t number = 0, least = 1;
  ir::Estimate estimate;
};
/// The best of these numbers, which ascend from 1. An element of what is summed stands for so many
/// `places` of the problem's depth.
Splits findSplits(const ir::Chip &chip, const ir::Problem &problem, ir::Tiling tiling,
                  llvm::ArrayRef<int64_t> numbers, int64_t places = 1);

/// Adds a tile with the best of them, where the chip has room for a block.
void addWithSplits(ir::PlanList &plans, ir::CudaPlanKind kind, llvm::ArrayRef<int64_t> tile,
                   const ir::Tiling &tiling, llvm::ArrayRef<int64_t> numbers, int64_t places = 1);

/// Of operands of 8 bits or 4: whether sums are promoted, and how kernels find scales of both
/// operands' blocks, which lie as codes do: how many lines and places of the sum share one, and how
/// long a line of scales is; or of packed ones how many places.
std::string codeConstants(KernelOp kernel);

/// Elements that a lane loads and stores at a time: 16 bytes of 16-bit elements, where all elements
/// have 16 bits; else 16 bytes of 32-bit ones.
int64_t accessWidth(KernelOp kernel);

/// "128x64x32"
std::string extentsText(llvm::ArrayRef<int64_t> tile);

/// Of a batch every element's; blocks of rows and of columns, the columns' fastest.
llvm::SmallVector<Axis> getTileAxes(KernelOp kernel, int64_t rows, int64_t columns);

} // namespace halftone::skeletons

#endif
