// SPDX-License-Identifier: Apache-2.0
// From planned graphs to the manifest, and which kernels are distinct.
#ifndef HALFTONE_EMIT_MANIFESTBUILDER_H
#define HALFTONE_EMIT_MANIFESTBUILDER_H

#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

struct ManifestAndKernels {
  manifest::Manifest manifest;
  /// One operation per Manifest::kernels: kernels that differ in name alone are stored once.
  std::vector<KernelOp> kernels;
};

/// `module` has been through the whole pipeline for the first of `targets`, and rules resolve alike
/// for all of them. CPU entry i belongs to kernel i; finishes follow all kernels, in order. What
/// chips need is left to describeCuda.
ManifestAndKernels buildManifest(mlir::ModuleOp module, const description::Description &description,
                                 llvm::ArrayRef<std::string> targets,
                                 llvm::ArrayRef<cpu::CpuVariant> variants,
                                 const AssumedSizes &assumed);

} // namespace halftone::ir

#endif
