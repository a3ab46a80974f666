// SPDX-License-Identifier: Apache-2.0
// From planned graphs to one relocatable object, the CUDA texts and the typed header.
#ifndef HALFTONE_EMIT_ARTIFACT_H
#define HALFTONE_EMIT_ARTIFACT_H

#include "codegen/emit/AheadOfTime.h"
#include "codegen/emit/CudaTargets.h"
#include "codegen/ir/Dialect.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

struct Artifact {
  std::vector<manifest::Manifest> manifests; ///< the CPU's first
  llvm::SmallVector<char> object;            ///< relocatable; see cpu/Objects.h
  std::string identity;                      ///< as cpu::identityOf
  std::vector<CudaText> texts; ///< as manifests count them; empty without a chip as target
  std::vector<manifest::AheadImage> ahead; ///< of texts
  std::string header;
};

/// Runs every pass on the imported description, which is valid (validate.hpp), once for every way
/// in which rules tell the CPU and the chips among `targets` apart, and emits CPU code and CUDA
/// texts, some compiled `ahead`. Diagnostics go to the context's handler.
mlir::FailureOr<Artifact> compile(const description::Description &description,
                                  llvm::ArrayRef<std::string> targets,
                                  const PipelineOptions &options, mlir::MLIRContext *context,
                                  const AheadOfTime &ahead = {});

} // namespace halftone::ir

#endif
