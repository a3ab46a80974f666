// SPDX-License-Identifier: Apache-2.0
// What plans have in common whose operands tensor copies fetch, and whose elements warp groups
// finish (warpgroup_epilogue.cuh).
#ifndef HALFTONE_SKELETONS_CONTRACTION_TENSORCOPIES_H
#define HALFTONE_SKELETONS_CONTRACTION_TENSORCOPIES_H

#include "codegen/skeletons/contraction/PlanForm.h"

namespace halftone::skeletons {

inline constexpr int64_t kSwizzleBytes = 128; ///< of a line in shared memory
inline constexpr int64_t kGroupSplits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16};

/// How memory holds an operand: rows one after another, and whether k lies along them.
struct StoredMatrix {
  unsigned input = 0;
  Dims rows, columns;
  bool alongDepth = false;
};
StoredMatrix lhsMatrix(KernelOp kernel);
StoredMatrix rhsMatrix(KernelOp kernel);

/// Of an element of either operand.
int64_t bytesOf(KernelOp kernel);

/// Elements of so many bytes in a line of the swizzle.
inline int64_t elementsOfLine(int64_t bytes) { return kSwizzleBytes / bytes; }

/// Whether rows begin at multiples of 16 bytes, whatever symbols stand for.
bool hasMap(KernelOp kernel, const StoredMatrix &matrix);

/// Why tensor copies fetch nothing of the kernel, and why not rows of codes; empty where they do.
std::string whyNoCopies(KernelOp kernel);
std::string whyNotFetched(KernelOp kernel);

/// Boxes of one line of the swizzle, along memory, by so many lines where k lies along it.
Launch::Map tensorMapOf(KernelOp kernel, const StoredMatrix &matrix, int64_t lines);

/// Whether a sum of lhs rides on the product.
bool usesLhsSum(KernelOp kernel);

/// Inputs and results that have a value for each element.
int64_t countVectors(KernelOp kernel);

/// Counters, partial sums, and sums of lhs by chunks, as warpgroup_epilogue.cuh lays them out.
/// `counters`: of a tile.
void addGroupWorkspace(KernelOp kernel, int64_t rows, int64_t columns, int64_t counters,
                       Launch &launch);

/// How many splits run() is given, as manifest::split_count() has it, and where their sums lie.
std::string splitArguments(ir::CudaPlanAttr plan);

/// What a Body has for elements of warp groups.
void addGroupElements(ir::BodyForm &form, KernelOp kernel, ir::CudaPlanAttr plan);

} // namespace halftone::skeletons

#endif
