// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_SKELETONS_SKELETONS_H
#define HALFTONE_SKELETONS_SKELETONS_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

const Skeleton &find(ir::Skeleton word);

inline const Skeleton &of(KernelOp kernel) { return find(kernel.getSkeleton()); }
inline const Skeleton &of(KernelForm op) { return find(op.getSkeleton()); }

} // namespace halftone::skeletons

#endif
