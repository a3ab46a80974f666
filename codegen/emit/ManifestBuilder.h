// SPDX-License-Identifier: Apache-2.0
// From planned graphs to the manifest, and which kernels are distinct.
#ifndef HALFTONE_EMIT_MANIFESTBUILDER_H
#define HALFTONE_EMIT_MANIFESTBUILDER_H

#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"
#include "codegen/ir/Rules.h"
#include "codegen/plan/AssumedSizes.h"
#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

struct ManifestAndKernels {
  manifest::Manifest manifest;
  /// One operation per Manifest::kernels: kernels that differ in name alone are stored once.
  std::vector<KernelOp> kernels;
  std::vector<std::string> structures; ///< of each: equal where kernels differ in name alone
};

/// What rules resolve for in one way; there are no stages where the model declares none.
struct ResolvedFor {
  std::vector<std::string> targets, stages;

  /// That a module is planned for.
  Situation first() const {
    return {targets.front(), stages.empty() ? llvm::StringRef() : llvm::StringRef(stages.front())};
  }
};

/// `module` has been through the whole pipeline for the first of what it is `resolved` for. What
/// chips need is left to describeCuda, and the CPU's entries to whoever emits them.
ManifestAndKernels buildManifest(mlir::ModuleOp module, const description::Description &description,
                                 const ResolvedFor &resolved,
                                 llvm::ArrayRef<cpu::CpuVariant> variants,
                                 const AssumedSizes &assumed);

} // namespace halftone::ir

#endif
