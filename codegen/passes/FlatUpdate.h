// SPDX-License-Identifier: Apache-2.0
// The update of all trained parameters in their flat buffers, and of the states that go with them
// (U3 to U16, P86, P91).
#ifndef HALFTONE_PASSES_FLATUPDATE_H
#define HALFTONE_PASSES_FLATUPDATE_H

#include "codegen/passes/CheckStep.h"

namespace halftone::ir {

/// Builds it. Where states lie in the host's memory it comes in parts of at most `mostOfPart`
/// elements, a multiple of every block.
void updateFlat(UpdateForms &of, const CheckedStep &checked, mlir::Value learningRate,
                mlir::Value parameters, mlir::Value gradients, int64_t mostOfPart);

} // namespace halftone::ir

#endif
