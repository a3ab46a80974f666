// SPDX-License-Identifier: Apache-2.0
// Sources. Shared memory, threads and blocks: CUDA C++ Programming Guide 13.0, "Technical
// Specifications per Compute Capability". SMs, clocks, memory, L2 and peak rates: NVIDIA's
// architecture whitepapers of Turing (T4 datasheet), A100, GA102, Jetson AGX Orin, Ada, H100, and
// the datasheets of B200, B300, Jetson Thor, RTX 5090 and DGX Spark. Operations per clock and SM
// are the dense peak with f32 sums, divided by SMs and clock. From sm_90a to sm_110a that peak
// belongs to wgmma and tcgen05: mma.sync reaches 62.9 % of it on H100 (Luo et al., arXiv
// 2402.13499); for the chips after it nobody has published a figure, so that of H100 stands for
// them. Products of 8-bit floats with f32 sums: the datasheets' peaks, twice those of f16, where
// ptxas of CUDA 13.0 makes QMMA of the instruction (sm_89, sm_120a, sm_121a); on the others it
// makes conversions to f16 and HMMA, so that those have the rate of f16. Products of 4-bit floats
// in blocks: 1676 TFLOPS, dense and with f32 sums, of an RTX 5090 (half of its 3352 "AI TOPS"), and
// half of GB10's petaflop, four times what those sheets have for 8 bits with f32 sums. Of all chips
// here the instruction is sm_120a's and sm_121a's alone (PTX ISA 9.0, 9.7.14.3). tcgen05 of 8-bit
// floats: 4.5 petaflops, dense, of a B200 and of a B300, and a quarter of a T5000's 2070 sparse
// teraflops of 4 bits, which are 16,400 to 16,700 a clock and SM. Of 4-bit floats in blocks twice
// as many: 9 petaflops, dense, of a B200, and half of a T5000's 2070; a B300 reaches its 15 with
// instructions of 96 places, which are not used here.
#include "codegen/plan/Chips.h"

#include "llvm/ADT/STLExtras.h"

namespace halftone::ir {

static constexpr int kKiB = 1024;
static constexpr double kHopperWgmma = 4096, kHopper = kHopperWgmma * 0.629; // mma.sync
static constexpr double kTensorMemory = 16384;

static constexpr Chip kChips[] = {
    // name, number, product, SMs, GHz, shared per SM and block, threads, blocks, f16, tf32, f32,
    // GB/s, L2, wgmma, f8, f4, tcgen05
    {"sm_75", 75, "T4", 40, 1.590, 64 * kKiB, 64 * kKiB, 1024, 16, 1024, 0, 128, 320, 20},
    {"sm_80", 80, "A100 SXM 80 GB", 108, 1.410, 164 * kKiB, 163 * kKiB, 2048, 32, 2048, 1024, 128,
     2039, 47},
    {"sm_86", 86, "GeForce RTX 3090", 82, 1.695, 100 * kKiB, 99 * kKiB, 1536, 16, 512, 256, 256,
     936, 20},
    {"sm_87", 87, "Jetson AGX Orin 64 GB", 16, 1.300, 164 * kKiB, 163 * kKiB, 1536, 16, 2048, 1024,
     256, 204.8, 20},
    {"sm_89", 89, "GeForce RTX 4090", 128, 2.520, 100 * kKiB, 99 * kKiB, 1536, 24, 512, 256, 256,
     1008, 16, 0, 1024},
    {"sm_90a", 90, "H100 SXM", 132, 1.830, 228 * kKiB, 227 * kKiB, 2048, 32, kHopper, kHopper / 2,
     256, 3350, 39, kHopperWgmma, kHopper},
    {"sm_100a", 100, "B200", 148, 1.850, 228 * kKiB, 227 * kKiB, 2048, 32, kHopper, kHopper / 2,
     256, 7700, 39, 0, kHopper, 0, kTensorMemory},
    {"sm_103a", 103, "B300", 148, 1.920, 228 * kKiB, 227 * kKiB, 2048, 32, kHopper, kHopper / 2,
     256, 7700, 39, 0, kHopper, 0, kTensorMemory},
    {"sm_110a", 110, "Jetson T5000 (Thor)", 20, 1.575, 228 * kKiB, 227 * kKiB, 1536, 24, kHopper,
     kHopper / 2, 256, 273, 20, 0, kHopper, 0, kTensorMemory},
    {"sm_120a", 120, "GeForce RTX 5090", 170, 2.407, 100 * kKiB, 99 * kKiB, 1536, 24, 512, 256, 256,
     1792, 16, 0, 1024, 4096},
    {"sm_121a", 121, "GB10 (DGX Spark)", 48, 2.418, 100 * kKiB, 99 * kKiB, 1536, 24, 512, 256, 256,
     273, 16, 0, 1024, 4096},
};

llvm::ArrayRef<Chip> chips() { return kChips; }

const Chip *findChip(llvm::StringRef name) {
  const Chip *found = llvm::find_if(kChips, [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(kChips) ? nullptr : found;
}

std::string nearestName(llvm::StringRef name, llvm::ArrayRef<std::string> candidates) {
  std::string nearest;
  unsigned least = 3; // farther ones were hardly meant
  for (const std::string &candidate : candidates) {
    // A suffix that is missing is the usual slip: sm_90 for sm_90a.
    unsigned distance = llvm::StringRef(candidate).starts_with_insensitive(name)
                            ? 0
                            : name.edit_distance_insensitive(candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

} // namespace halftone::ir
