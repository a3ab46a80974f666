// SPDX-License-Identifier: Apache-2.0
#include "mutants.hpp"

namespace halftone::tests {

namespace {

constexpr auto k75 = Chips::sm_75, k80 = Chips::from_sm_80;

// Batch 300 gives weight gradients five tiles of depth, the last one short. digits_f16_huge is
// planned for a batch of 4096, so that a warp of fc1 has more than the 16 rows that its slab holds.
constexpr Mutant kMutants[] = {
    {"slab written while other lanes read it", "digits_f16_huge", "fc1",
     "    __syncwarp();\n    slab.put(sums[i]);", "    slab.put(sums[i]);", Chips::all, 300},
    {"slab read before other lanes wrote it", "digits_f16", "fc1",
     "slab.put(sums[i]);\n    __syncwarp();", "slab.put(sums[i]);"},
    {"no barrier between main loop and epilogue", "digits_f16", "fc1",
     "lhs_sum.end(place.depth.tiles);\n  __syncthreads();", "lhs_sum.end(place.depth.tiles);"},
    {"no barrier between stages", "digits_f16", "fc1_weight_gradient",
     "ptx::cp_async_wait_group<Tile::kStages - 2>();\n#endif\n    __syncthreads();",
     "ptx::cp_async_wait_group<Tile::kStages - 2>();\n#endif", Chips::all, 300},
    {"waits for one copy too few", "digits_f16", "fc1_weight_gradient",
     "cp_async_wait_group<Tile::kStages - 2>", "cp_async_wait_group<Tile::kStages - 1>", k80, 300},
    {"never waits for copies", "digits_f16", "fc1_weight_gradient",
     "if constexpr (kAsync) ptx::cp_async_wait_group<Tile::kStages - 2>();", "", k80, 300},
    {"copies never committed", "digits_f16", "fc1_weight_gradient",
     "      ptx::cp_async_commit_group();\n", "", k80, 300},
    {"stale stage: the ring is one stage short", "digits_f16", "fc1_weight_gradient",
     "read_ + kStageBytes == Tile::kStages * kStageBytes ? 0",
     "read_ + kStageBytes == (Tile::kStages - 1) * kStageBytes ? 0", Chips::all, 300},
    {"fills the stage that is being read", "digits_f16", "fc1_weight_gradient",
     "place(done_, tile + Tile::kStages - 1)", "place(read_, tile + Tile::kStages - 1)", Chips::all,
     300},
    {"stale stage: the tile before is filled in again", "digits_f16", "fc1_weight_gradient",
     "place(done_, tile + Tile::kStages - 1)", "place(done_, tile + Tile::kStages - 2)", Chips::all,
     300},
    {"skips the short tile at the depth's end", "digits_f16", "fc1_weight_gradient",
     "place.depth.full + (place.depth.rest != 0)", "place.depth.full", Chips::all, 300},
    {"last tile of the depth not masked", "digits_f16", "fc1_weight_gradient",
     "tile < full_ ? Layout::kDepth : rest_", "Layout::kDepth", Chips::all, 300},
    {"one line too many at the operand's end", "digits_f16", "fc1_weight_gradient",
     "line_ + p * kLineStep < lines ?", "line_ + p * kLineStep <= lines ?", Chips::all, 300},
    {"one line too few at the operand's end", "digits_f16", "fc1",
     "line_ + p * kLineStep < lines ?", "line_ + p * kLineStep < lines - 1 ?"},
    {"elements past a line's end not masked", "digits_f16", "head_input_gradient",
     "min(max(elements, 0), kElements) * kSourceSize", "kElements * kSourceSize"},
    {"pieces of an operand overlap", "digits_f16", "fc1",
     "kAlike ? kLineStep * Layout::kLineBytes : 0", "kAlike ? kLineStep * 16 : 0"},
    {"stage written without its exchange of chunks", "digits_f16", "fc1",
     "to_[p] = shared + Layout::offset(line_ + p * kLineStep, element_);",
     "to_[p] = shared + (line_ + p * kLineStep) * Layout::kLineBytes + element_ * Layout::kSize;"},
    {"lhs multiplied with the fragments of the next product", "digits_f16", "fc1",
     "lhs_words_[kBuffer][i],", "lhs_words_[1 - kBuffer][i],"},
    {"halves of rhs swapped", "digits_f16", "fc1",
     "rhs_words_[kBuffer][j / 2][j % 2 * 2],\n"
     "                          rhs_words_[kBuffer][j / 2][j % 2 * 2 + 1]",
     "rhs_words_[kBuffer][j / 2][j % 2 * 2 + 1],\n"
     "                          rhs_words_[kBuffer][j / 2][j % 2 * 2]"},
    {"matrices loaded without transposition", "digits_f16", "fc1_weight_gradient",
     "ldmatrix.sync.aligned.m8n8.x4.trans.shared", "ldmatrix.sync.aligned.m8n8.x4.shared"},
    {"fragment addresses of the wrong lanes", "digits_f16", "fc1",
     "bit3 = lane / 8 % 2, bit4 = lane / 16;", "bit3 = lane / 16, bit4 = lane / 8 % 2;"},
    {"warps of a block swapped", "digits_f16", "fc1", "warp / Tile::kColumnWarps * Tile::kWarpRows",
     "warp % Tile::kColumnWarps * Tile::kWarpRows"},
    {"tiles of rows and columns swapped", "digits_f16", "fc1",
     "row_tile = place.tile / column_tiles;", "row_tile = place.tile % column_tiles;"},
    {"f16 operands multiplied as bf16", "digits_f16", "fc1", "ptx::mma_m16n8k16_f16(sums",
     "ptx::mma_m16n8k16_bf16(sums", k80},
    {"second half of a product dropped", "digits_f16", "fc1",
     "  ptx::mma_m16n8k8_f16(sums, lhs[2], lhs[3], rhs_high);\n", "", k75},
    {"rows of lhs swapped in a product", "digits_f16", "fc1", "lhs[0], lhs[1], rhs_low",
     "lhs[1], lhs[0], rhs_low", k75},
    {"register stage filled with the tile before", "digits_f16", "fc1_weight_gradient",
     "    fetch(next, tiles);", "    fetch(tile, tiles);", k75, 300},
    {"words of a tf32 fragment in the wrong registers", "digits_tf32", "fc1_weight_gradient",
     "kIsRhs ? word % 2 * 2 + kHalf : word % 2 + 2 * kHalf",
     "kIsRhs ? word % 2 + 2 * kHalf : word % 2 * 2 + kHalf", k80},
    {"lines of a tf32 fragment stored in memory's order", "digits_tf32", "fc1_weight_gradient",
     "return kRun == 4 ? tile / 2 * 32 + place * 4 + tile % 2 * 2 + half : place * 2 + half;",
     "return 16 * tile + index;", k80},
    {"halves of a word swapped", "mixed_rules", "classes_input_gradient", "low | high << 16",
     "high | low << 16", k80},
    {"widened halves swapped", "mixed_rules", "values_weight_gradient",
     "widen(Source{static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))})",
     "widen(Source{static_cast<unsigned short>(words[i / 2] >> (16 - i % 2 * 16))})", k80},
    {"half past the operand's end not masked", "mixed_rules", "classes_input_gradient",
     "bytes > 2 ? halves[1] : 0", "halves[1]", k80},
    {"sums kept in tf32 between products", "digits_f16", "fc1_weight_gradient",
     "    multiply_all<kStep % 2>(sums);",
     "    multiply_all<kStep % 2>(sums);\n"
     "    for (auto& row : sums)\n"
     "      for (auto& part : row)\n"
     "        for (float& sum : part) sum = to_tf32(sum);",
     Chips::all, 300},
    {"epilogue reads the wrong rows", "digits_f16", "fc1", "load_vector(at(row, column + i),",
     "load_vector(at(row ^ 1, column + i),"},
    {"sums in the wrong lanes' places", "digits_f16", "fc1", "row = lane / 4, t = lane % 4;",
     "row = lane % 8, t = lane / 8;"},
    {"zeroed output", "digits_f16", "fc1", "body.compute(uniforms, values[e], lhs_sum",
     "body.compute(uniforms, 0.0f * values[e], lhs_sum"},
    {"wrong scale", "digits_f16", "fc1", "body.compute(uniforms, values[e], lhs_sum",
     "body.compute(uniforms, 0.5f * values[e], lhs_sum"},
    {"last row not stored", "digits_f16", "fc1", "if (row >= end_row || column",
     "if (row >= end_row - 1 || column"},
    {"one row too many stored", "digits_f16", "fc1", "if (row >= end_row || column",
     "if (row > end_row || column"},
    {"last columns not stored", "digits_f16", "fc1", "column >= body.columns()) continue;",
     "column + kWidth >= body.columns()) continue;"},
    {"dropped store", "digits_f16", "fc1", "      body.store(row, column, outputs);\n", ""},
    {"dropped epilogue", "digits_f16", "fc1",
     "outputs.result0[i] = ", "outputs.result0[i] = halftone::kernels::to_f16(sum); //"},
};

}  // namespace

std::span<const Mutant> tensor_mutants() { return kMutants; }

}  // namespace halftone::tests
