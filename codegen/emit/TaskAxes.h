// SPDX-License-Identifier: Apache-2.0
// Extents and axes as the manifest spells them: symbols by their place among `symbols`.
#ifndef HALFTONE_EMIT_TASKAXES_H
#define HALFTONE_EMIT_TASKAXES_H

#include "codegen/emit/cpu/Variants.h"
#include "codegen/skeletons/Skeleton.h"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

manifest::Dimension dimensionOf(mlir::Attribute dim, llvm::ArrayRef<std::string> symbols);
std::vector<manifest::Dimension> dimensionsOf(llvm::ArrayRef<mlir::Attribute> dims,
                                              llvm::ArrayRef<std::string> symbols);
std::vector<manifest::TaskAxis> taskAxesOf(llvm::ArrayRef<skeletons::Axis> axes,
                                           llvm::ArrayRef<std::string> symbols);
/// For all `variants`; of what works in no blocks it is empty.
manifest::Blocking blockingOf(ir::KernelOp kernel, llvm::ArrayRef<std::string> symbols,
                              llvm::ArrayRef<cpu::CpuVariant> variants);

} // namespace halftone::ir

#endif
