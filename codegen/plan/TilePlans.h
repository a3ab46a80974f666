// SPDX-License-Identifier: Apache-2.0
// Which plans a kernel can have on a chip, and which is best by the cost model.
#ifndef HALFTONE_PLAN_TILEPLANS_H
#define HALFTONE_PLAN_TILEPLANS_H

#include "codegen/ir/Dialect.h"
#include "codegen/plan/Chips.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::ir {

/// Sizes of symbols while planning. One that is not named counts as kAssumedSize.
using AssumedSizes = llvm::StringMap<int64_t>;
inline constexpr int64_t kAssumedSize = 256;
/// From entries "batch=64"; on failure the sentence that says what is wrong with one.
std::optional<std::string> readAssumedSizes(llvm::ArrayRef<std::string> entries,
                                            AssumedSizes &sizes);
int64_t assumedSize(const AssumedSizes &assumed, llvm::StringRef symbol);

/// At most this many plans of a kernel are kept, the chosen one included.
inline constexpr size_t kKeptPlans = 6;

/// The plans of `kernel` on `chip`, best first. Tensor cores take contractions of two f16, two bf16
/// or two tf32 operands, from sm_80 on also of two different ones, whose sums need not be ordered
/// (P21); where they take none, `reason` of the result says why.
ChipPlansAttr planKernel(KernelOp kernel, const Chip &chip, const AssumedSizes &assumed);

} // namespace halftone::ir

#endif
