// SPDX-License-Identifier: Apache-2.0
// What an attention's mask keeps of a block of its elements, as a Body of CUDA says it.
#ifndef HALFTONE_SKELETONS_ATTENTION_ATTENTIONMASK_H
#define HALFTONE_SKELETONS_ATTENTION_ATTENTIONMASK_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::ir {
class BodyPrinter;
} // namespace halftone::ir

namespace halftone::skeletons {

/// Prints `kMasks`, how rows are made of heads (`queries()`, `group()`), and `kept(head, rows,
/// columns)`: whether the body's `kept` is false for all of these elements, or true. It is interval
/// arithmetic over where they lie and over what a whole head has in common; whatever follows from
/// anything else, as from a mask of keys, may be either.
mlir::LogicalResult printMask(ir::BodyPrinter &printer);

} // namespace halftone::skeletons

#endif
