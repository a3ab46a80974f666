// SPDX-License-Identifier: Apache-2.0
// Stage 11: from planned graphs to one relocatable object, the CUDA texts and the typed header.
#ifndef HALFTONE_EMIT_ARTIFACT_H
#define HALFTONE_EMIT_ARTIFACT_H

#include "codegen/ir/Dialect.h"
#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

struct CudaKernel {
  std::string name, text;
};

struct Artifact {
  manifest::Manifest manifest;
  llvm::SmallVector<char> object; ///< relocatable; exports halftone_artifact_<model>
  std::vector<CudaKernel>
      kernels; ///< in the order of Manifest::kernels; empty without a GPU among the targets
  std::string header;
};

/// Runs every pass on the imported description and emits; CUDA texts only with `cuda`. Diagnostics
/// go to the context's handler.
mlir::FailureOr<Artifact> compile(const description::Description &description, bool cuda,
                                  mlir::MLIRContext *context);

} // namespace halftone::ir

#endif
