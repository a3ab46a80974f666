// SPDX-License-Identifier: Apache-2.0
// Sizes of symbols while planning.
#ifndef HALFTONE_PLAN_ASSUMEDSIZES_H
#define HALFTONE_PLAN_ASSUMEDSIZES_H

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::ir {

/// One that is not named counts as kAssumedSize.
using AssumedSizes = llvm::StringMap<int64_t>;
inline constexpr int64_t kAssumedSize = 256;

/// From entries "batch=64"; on failure the sentence that says what is wrong with one.
std::optional<std::string> readAssumedSizes(llvm::ArrayRef<std::string> entries,
                                            AssumedSizes &sizes);
int64_t assumedSize(const AssumedSizes &assumed, llvm::StringRef symbol);

} // namespace halftone::ir

#endif
