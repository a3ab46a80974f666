// SPDX-License-Identifier: Apache-2.0
// Description to IR. Takes no decision: all is f32, nothing is fused or dropped.
#ifndef HALFTONE_IMPORT_FROMDESCRIPTION_H
#define HALFTONE_IMPORT_FROMDESCRIPTION_H

#include "codegen/ir/Dialect.h"
#include "halftone/description/description.hpp"

namespace halftone::ir {

/// A module with graph "inference" (what outputs and losses need) and, when there are losses, graph
/// "training". `description` is valid (halftone/description/validate.hpp); `target` and `stage`,
/// the first one where it is empty, are those that rules are resolved for.
mlir::OwningOpRef<mlir::ModuleOp> importDescription(const description::Description &description,
                                                    llvm::StringRef target,
                                                    mlir::MLIRContext *context,
                                                    llvm::StringRef stage = "");

} // namespace halftone::ir

#endif
