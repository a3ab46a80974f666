// SPDX-License-Identifier: Apache-2.0
// Where the values of a program come from: what rules decided of them, where they are cast, and how
// the diagnosis finds them.
#ifndef HALFTONE_EMIT_PROVENANCE_H
#define HALFTONE_EMIT_PROVENANCE_H

#include "codegen/ir/Dialect.h"
#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

/// Fills values, casts and, of the diagnosis, probes of a program whose buffers and launches are
/// there. `indexOf` gives a kernel's place in the manifest.
void describeProvenance(GraphOp graph, const manifest::Manifest &manifest,
                        llvm::function_ref<int32_t(KernelOp)> indexOf, manifest::Program &program);

} // namespace halftone::ir

#endif
