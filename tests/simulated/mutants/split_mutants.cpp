// SPDX-License-Identifier: Apache-2.0
#include "mutants.hpp"

namespace halftone::tests {

namespace {

constexpr auto kAll = Chips::all;

// digits_f16_large is planned for a batch of 1024, so that batch 300 has splits.
constexpr Mutant kMutants[] = {
    {"relaxed counter of splits", "digits_f16_large", "fc1_weight_gradient", ".acq_rel.gpu",
     ".relaxed.gpu", kAll, 300},
    {"partial sums not behind a barrier before the counter", "digits_f16_large",
     "fc1_weight_gradient",
     "ptx::st_global_in_order(own + quad, values); });\n    __syncthreads();\n",
     "ptx::st_global_in_order(own + quad, values); });\n", kAll, 300},
    {"flag read before it is written", "digits_f16_large", "fc1_weight_gradient",
     "place_.splits - 1);\n    __syncthreads();\n", "place_.splits - 1);\n", kAll, 300},
    {"counter of splits not reset", "digits_f16_large", "fc1_weight_gradient",
     "ptx::atom_inc_acq_rel(counter_, place_.splits - 1)",
     "ptx::atom_inc_acq_rel(counter_, 0xffffffffu)", kAll, 300},
    {"a split left out", "digits_f16_large", "fc1_weight_gradient",
     "for (unsigned int split = 1; split <", "for (unsigned int split = 2; split <", kAll, 300},
    {"own part counted twice", "digits_f16_large", "fc1_weight_gradient",
     "    each_quad(sums, [&](int quad, float (&values)[4]) { load_vector(partials_ + quad, "
     "values); });\n",
     "", kAll, 300},
    {"first block to come finishes", "digits_f16_large", "fc1_weight_gradient",
     "if (*flag != place_.splits - 1) return false;", "if (*flag != 0) return false;", kAll, 300},
    {"tiles share their partial sums", "digits_f16_large", "fc1_weight_gradient",
     "static_cast<long long>(place.tile) * place.splits * kTileSums",
     "0LL * place.splits * kTileSums", kAll, 300},
    {"counter of another tile", "digits_f16_large", "fc1_weight_gradient",
     "reinterpret_cast<unsigned int*>(workspace) + place.tile)",
     "reinterpret_cast<unsigned int*>(workspace) + place.split)", kAll, 300},
    {"tiles share their counter", "digits_f16_large", "fc1_weight_gradient",
     "reinterpret_cast<unsigned int*>(workspace) + place.tile)",
     "reinterpret_cast<unsigned int*>(workspace))", kAll, 300},
    {"last split runs past the depth", "digits_f16_large", "fc1_weight_gradient",
     "max(0LL, min(per, body.depth - place.depth.first))", "per", kAll, 300},
    {"splits not at multiples of a chain", "digits_f16_large", "fc2_weight_gradient",
     "(part + kColumnChunk - 1) / kColumnChunk * kColumnChunk",
     "(part + Tile::kDepth - 1) / Tile::kDepth * Tile::kDepth", kAll, 300},
    {"chains' sums added in descending order", "digits_f16_large", "fc2_weight_gradient",
     "total_ += chunk_sums[chunk * pitch_];",
     "total_ += chunk_sums[(chunks - 1 - chunk) * pitch_];", kAll, 300},
    {"a chain's sum left out", "digits_f16_large", "fc2_weight_gradient",
     "for (long long chunk = 0; chunk < chunks; ++chunk) total_",
     "for (long long chunk = 1; chunk < chunks; ++chunk) total_", kAll, 300},
    {"one chain instead of several", "digits_f16", "fc2_weight_gradient",
     "    if ((tile + 1) % kTilesPerChunk == 0) end_chunk();\n", "", kAll, 300},
    {"last chain left out", "digits_f16", "fc2_weight_gradient",
     "if (tiles % kTilesPerChunk != 0) end_chunk();", "", kAll, 300},
    {"chain not reset", "digits_f16", "fc2_weight_gradient",
     "      total_ += chunk_;\n    chunk_ = 0.0f;", "      total_ += chunk_;", kAll, 300},
    {"chain over the wrong row", "digits_f16", "fc2_weight_gradient", "Layout::offset(d, row)));",
     "Layout::offset(d, row ^ 1)));", kAll, 300},
    {"sums of lhs past the last row stored", "digits_f16", "head_weight_gradient",
     "if (owns_row && first_row + thread < product.end_row)", "if (owns_row)", kAll, 300},
};

}  // namespace

std::span<const Mutant> split_mutants() { return kMutants; }

}  // namespace halftone::tests
