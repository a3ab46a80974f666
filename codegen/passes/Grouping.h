// SPDX-License-Identifier: Apache-2.0
// Which operations of a graph become one kernel: the decision, apart from the building in
// KernelBuilder.cpp.
#ifndef HALFTONE_PASSES_GROUPING_H
#define HALFTONE_PASSES_GROUPING_H

#include "codegen/skeletons/KernelGroup.h"

namespace halftone::ir {

/// The groups of `graph` in an order of execution; without `fuse` every layer and every other
/// operation that is not inlined is a group of its own.
std::vector<KernelGroup> groupOperations(GraphOp graph, bool fuse);

} // namespace halftone::ir

#endif
