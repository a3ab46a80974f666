// SPDX-License-Identifier: Apache-2.0
// Kernel texts compiled while the artifact is made, by a program that has NVRTC.
#ifndef HALFTONE_EMIT_AHEADOFTIME_H
#define HALFTONE_EMIT_AHEADOFTIME_H

#include "codegen/emit/CudaTargets.h"
#include "halftone/manifest/texts.hpp"

namespace halftone::ir {

struct AheadOfTime {
  std::vector<std::string> architectures; ///< "sm_90a": cubins; "compute_80": PTX
  std::string compiler;                   ///< path of the program `halftone`
};

/// What is wrong with the architectures, for these targets; or nothing.
std::optional<std::string> findBadArchitecture(const AheadOfTime &ahead,
                                               llvm::ArrayRef<std::string> targets);

/// Every text for every architecture whose chip runs it. Fails with one sentence in `fault`.
mlir::FailureOr<std::vector<manifest::AheadImage>>
compileAhead(llvm::ArrayRef<CudaText> texts, const AheadOfTime &ahead, std::string &fault);

} // namespace halftone::ir

#endif
