// SPDX-License-Identifier: Apache-2.0
// Stage 11: from planned graphs to one relocatable object, the CUDA texts and the typed header.
#ifndef HALFTONE_EMIT_ARTIFACT_H
#define HALFTONE_EMIT_ARTIFACT_H

#include "codegen/ir/Dialect.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

struct CudaKernel {
  std::string name; ///< behind "sm_80/" where rules make another kernel for that chip
  std::string text;
};

struct Artifact {
  manifest::Manifest manifest;
  llvm::SmallVector<char> object; ///< relocatable; exports halftone_artifact_<model>
  std::vector<CudaKernel>
      kernels; ///< in the order of Manifest::kernels; empty without a GPU among the targets
  std::string header;
};

/// Runs every pass on the imported description and emits: CPU code, with the rules as they hold for
/// it, and CUDA texts for the chips among `targets`. Diagnostics go to the context's handler.
mlir::FailureOr<Artifact> compile(const description::Description &description,
                                  llvm::ArrayRef<std::string> targets,
                                  const PipelineOptions &options, mlir::MLIRContext *context);

} // namespace halftone::ir

#endif
