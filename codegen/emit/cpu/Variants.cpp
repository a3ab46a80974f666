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
    {.name = "x86-64-v4-amx",
     .suffix = "x86_64_v4_amx",
     .architecture = "x86_64",
     .cpu = "x86-64-v4",
     .bodyLanes = 32,
     .rowLanes = 32,
     .vectorLanes = 16,
     .tile = {32, 32, 16},
     .f16c = true,
     .features = "+amx-tile,+amx-bf16",
     .products = Bf16Products::Tiles,
     .others = "x86-64-v4"},
    {.name = "x86-64-v4-bf16",
     .suffix = "x86_64_v4_bf16",
     .architecture = "x86_64",
     .cpu = "x86-64-v4",
     .bodyLanes = 32,
     .rowLanes = 32,
     .vectorLanes = 16,
     .tile = {14, 32, 4},
     .f16c = true,
     .features = "+avx512bf16",
     .products = Bf16Products::Pairs,
     .others = "x86-64-v4",
     .otherTile = {8, 48, 4}},
    {.name = "x86-64-v4",
     .suffix = "x86_64_v4",
     .architecture = "x86_64",
     .cpu = "x86-64-v4",
     .bodyLanes = 32,
     .rowLanes = 32,
     .vectorLanes = 16,
     .tile = {14, 32, 4},
     .f16c = true,
     .otherTile = {8, 48, 4}},
    {.name = "x86-64-v3",
     .suffix = "x86_64_v3",
     .architecture = "x86_64",
     .cpu = "x86-64-v3",
     .bodyLanes = 16,
     .rowLanes = 32,
     .vectorLanes = 8,
     .tile = {6, 16, 0},
     .f16c = true,
     .otherTile = {4, 24, 0}},
    {.name = "x86-64",
     .suffix = "x86_64",
     .architecture = "x86_64",
     .cpu = "x86-64",
     .bodyLanes = 4,
     .rowLanes = 4,
     .vectorLanes = 4,
     .tile = {1, 4, 0},
     .f16c = false},
    {.name = "aarch64",
     .suffix = "aarch64",
     .architecture = "aarch64",
     .cpu = "generic",
     .bodyLanes = 16,
     .rowLanes = 32,
     .vectorLanes = 4,
     .tile = {6, 16, 0},
     .f16c = false},
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
