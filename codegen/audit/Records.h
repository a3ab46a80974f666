// SPDX-License-Identifier: Apache-2.0
// What the compiler notes of a value and of its last rounding, as an audit tells it.
#ifndef HALFTONE_AUDIT_RECORDS_H
#define HALFTONE_AUDIT_RECORDS_H

#include "codegen/audit/GraphBounds.h"

namespace halftone::audit {

/// Of an entry of kValuesAttr, without bounds.
Audited recordOf(mlir::DictionaryAttr entry);

/// Of a value that `op`, the last operation of a rounding, leaves of `before`.
void recordRounding(mlir::Operation *op, const Bound &before, Audited &record);

} // namespace halftone::audit

#endif
