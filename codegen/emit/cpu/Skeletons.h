// SPDX-License-Identifier: Apache-2.0
// The loop nest of every skeleton. Each builds tasks [first, last) of its kernel at the insertion
// point of `code`.
#ifndef HALFTONE_EMIT_CPU_SKELETONS_H
#define HALFTONE_EMIT_CPU_SKELETONS_H

#include "codegen/emit/cpu/Body.h"

namespace halftone::cpu {

void buildElementwise(Code &code, Frame &frame, Value first, Value last); // pointwise
void buildRows(Code &code, Frame &frame, Value first, Value last);
void buildColumns(Code &code, Frame &frame, Value first, Value last);
void buildFlat(Code &code, Frame &frame, Value first, Value last);
void buildContraction(Code &code, Frame &frame, Value first, Value last);

/// After all tasks of a row or flat kernel: the upper levels of the tree and the finish region.
void buildFinish(Code &code, Frame &frame);

} // namespace halftone::cpu

#endif
