// SPDX-License-Identifier: Apache-2.0
// The variants, one line each.
#include "codegen/emit/cpu/Variants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace halftone::cpu {

// Variants of one architecture stand together, best first. Without FMA3 every math.fma is a call to
// fmaf (correct, slow), so the baseline keeps its loops narrow. On aarch64 a tile's sums take 24
// of 32 registers, rhs 4.
static constexpr CpuVariant kVariants[] = {
    {"x86-64-v4-amx",
     "x86_64_v4_amx",
     "x86_64",
     "x86-64-v4",
     32,
     32,
     16,
     {32, 32, 16},
     true,
     "+amx-tile,+amx-bf16",
     Bf16Products::Tiles,
     "x86-64-v4"},
    {"x86-64-v4-bf16",
     "x86_64_v4_bf16",
     "x86_64",
     "x86-64-v4",
     32,
     32,
     16,
     {14, 32, 4},
     true,
     "+avx512bf16",
     Bf16Products::Pairs,
     "x86-64-v4",
     {8, 48, 4}},
    {"x86-64-v4",
     "x86_64_v4",
     "x86_64",
     "x86-64-v4",
     32,
     32,
     16,
     {14, 32, 4},
     true,
     {},
     Bf16Products::Widened,
     {},
     {8, 48, 4}},
    {"x86-64-v3",
     "x86_64_v3",
     "x86_64",
     "x86-64-v3",
     16,
     32,
     8,
     {6, 16, 0},
     true,
     {},
     Bf16Products::Widened,
     {},
     {4, 24, 0}},
    {"x86-64", "x86_64", "x86_64", "x86-64", 4, 4, 4, {1, 4, 0}, false},
    {"aarch64", "aarch64", "aarch64", "generic", 16, 32, 4, {6, 16, 0}, false},
};

std::string hostArchitecture() {
  std::string triple = llvm::sys::getDefaultTargetTriple();
  return llvm::Triple::getArchTypeName(llvm::Triple(triple).getArch()).str();
}

std::vector<std::string> cpuArchitectures() {
  std::vector<std::string> names;
  for (const CpuVariant &variant : kVariants)
    if (!llvm::is_contained(names, variant.architecture))
      names.push_back(variant.architecture.str());
  return names;
}

llvm::ArrayRef<CpuVariant> cpuVariants(llvm::StringRef architecture) {
  return llvm::ArrayRef(kVariants)
      .drop_while([&](auto &v) { return v.architecture != architecture; })
      .take_while([&](auto &v) { return v.architecture == architecture; });
}

const CpuVariant *findCpuVariant(llvm::StringRef name) {
  const auto *found = llvm::find_if(kVariants, [&](auto &v) { return v.name == name; });
  return found == std::end(kVariants) ? nullptr : found;
}

} // namespace halftone::cpu
