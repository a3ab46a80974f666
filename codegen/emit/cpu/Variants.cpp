// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/cpu/Variants.h"

namespace halftone::cpu {

// Without FMA3 every math.fma is a call to fmaf (correct, slow), so the baseline keeps its loops narrow.
static constexpr CpuVariant kVariants[] = {
    {"x86-64-v3", "x86_64_v3", "x86_64", "x86-64-v3", "", 16, 32, 6, 16},
    {"x86-64", "x86_64", "x86_64", "x86-64", "", 4, 4, 1, 4},
};

llvm::ArrayRef<CpuVariant> cpuVariants() { return kVariants; }

} // namespace halftone::cpu
