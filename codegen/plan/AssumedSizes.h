// SPDX-License-Identifier: Apache-2.0
// Sizes of symbols while planning.
#ifndef HALFTONE_PLAN_ASSUMEDSIZES_H
#define HALFTONE_PLAN_ASSUMEDSIZES_H

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::ir {

/// One that is not named counts as kAssumedSize.
using AssumedSizes = llvm::StringMap<int64_t>;
inline constexpr int64_t kAssumedSize = 256;

/// From entries "batch=64"; on failure the sentence that says what is wrong with one.
std::optional<std::string> readAssumedSizes(llvm::ArrayRef<std::string> entries,
                                            AssumedSizes &sizes);
/// The same from an option of a pass over `module`, which tells what is wrong.
template <typename Option>
llvm::LogicalResult readAssumedSizes(mlir::Operation *module, const Option &option,
                                     AssumedSizes &sizes) {
  std::vector<std::string> entries(option.begin(), option.end());
  if (std::optional<std::string> fault = readAssumedSizes(entries, sizes))
    return module->emitError() << *fault;
  return llvm::success();
}

int64_t assumedSize(const AssumedSizes &assumed, llvm::StringRef symbol);

} // namespace halftone::ir

#endif
