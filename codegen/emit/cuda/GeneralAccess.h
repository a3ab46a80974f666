// SPDX-License-Identifier: Apache-2.0
// Operands read by any affine map, with a member function of the Body for each: where a row begins
// in the operand, if neighbours stay neighbours, otherwise one element.
#ifndef HALFTONE_EMIT_CUDA_GENERALACCESS_H
#define HALFTONE_EMIT_CUDA_GENERALACCESS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

bool isGeneral(KernelOp kernel, unsigned input);
/// Whether the kernel's text needs general_access.cuh.
bool usesGeneralAccess(KernelOp kernel);

/// `long long lineN(long long row) const`, negative where the row reads nothing, N being the
/// operand's number; or `T readN(long long row, long long column) const`.
void printGeneralRead(KernelOp kernel, unsigned input, llvm::raw_ostream &out);
/// The statement of `load` that fills `inputs.inputN`.
void printGeneralLoad(KernelOp kernel, unsigned input, llvm::raw_ostream &out);

} // namespace halftone::ir

#endif
