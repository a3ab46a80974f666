// SPDX-License-Identifier: Apache-2.0
// When activations that stay in the host's memory leave the device and come back (P98), beside
// kernels. Time is counted in bytes that the bus moves each way meanwhile:
//
//   out   in the order of last uses: begins when the kernel of the last use has ended and the one
//         before is out
//   in    in the order of next uses, as late as they allow: ends before the kernel of the next use
//         begins and before the one behind begins
//
// The model decides what stays and how long slots are held; that nothing is read before it is
// there, the runtime's events see to.
#ifndef HALFTONE_PLAN_STAYTIMES_H
#define HALFTONE_PLAN_STAYTIMES_H

#include "codegen/plan/Chips.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::ir {

/// Each way, of the PCIe x16 that the chip's products have: 3.0 (T4), 4.0 (A100, GeForce 30 and 40)
/// and 5.0 (H100 and later), each four fifths of what it is sold with, 16, 32 and 64 GB/s.
inline double busBytesPerMicrosecond(const Chip &chip) {
  return chip.number < 80 ? 12800 : chip.number < 90 ? 25600 : 51200;
}

/// An activation, and the kernels between which nothing uses it.
struct Stayable {
  int64_t bytes = 0, lastUse = 0, nextUse = 0;
};

enum class StayVerdict { stays, isSmall, isSoonNeeded };

struct StayTimes {
  StayVerdict verdict = StayVerdict::isSoonNeeded;
  int64_t until = 0; ///< of one that stays: the last kernel beside which it is still on its way out
  int64_t from = 0;  ///< the first beside which it comes back
};

/// Of each: whether some kernel finds its place free, where those that leave first come first.
/// `meanwhile`: what the bus moves beside each kernel.
llvm::SmallVector<StayTimes> findStayTimes(llvm::ArrayRef<Stayable> activations,
                                           llvm::ArrayRef<double> meanwhile, int64_t leastBytes);

} // namespace halftone::ir

#endif
