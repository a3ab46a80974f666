// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_PASSES_METRICS_H
#define HALFTONE_PASSES_METRICS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// D6: a loss that nothing comes of. Weights count as f32 (D11).
inline bool isMetric(LossOp loss) {
  return static_cast<float>(loss.getWeight().convertToDouble()) == 0.0f;
}

} // namespace halftone::ir

#endif
