// SPDX-License-Identifier: Apache-2.0
// Operands read by any affine map: a member function of the Body for each, one element at a time.
#ifndef HALFTONE_EMIT_CUDA_GENERALACCESS_H
#define HALFTONE_EMIT_CUDA_GENERALACCESS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

bool isGeneral(KernelOp kernel, unsigned input);
/// Whether the kernel's text needs general_access.cuh.
bool usesGeneralAccess(KernelOp kernel);

/// `T readN(long long row, long long column) const`, N being the operand's number.
void printGeneralRead(KernelOp kernel, unsigned input, llvm::raw_ostream &out);

} // namespace halftone::ir

#endif
