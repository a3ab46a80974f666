// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of what a contraction computes, for its finish: each task finds that of its
// elements and raises one number by it, which the runtime has set to +0. Bits are compared as
// integers, among which a NaN is above all numbers, so that nothing depends on who comes first.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUMAXIMUM_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUMAXIMUM_H

#include "codegen/emit/cpu/Body.h"

namespace halftone::skeletons {

class CpuMaximum {
public:
  CpuMaximum(cpu::Code &code, cpu::Frame &frame, unsigned lanes);

  void beginTask();
  /// Of the element that `body` is at; `mask` is null for all lanes.
  void add(cpu::Body &body, mlir::Value mask);
  void endTask();

private:
  mlir::VectorType vector();

  cpu::Code &code;
  cpu::Frame &frame;
  unsigned lanes;
  mlir::Value lanesSoFar; // where a task keeps one maximum for each lane
};

} // namespace halftone::skeletons

#endif
