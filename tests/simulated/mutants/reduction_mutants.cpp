// SPDX-License-Identifier: Apache-2.0
#include "mutants.hpp"

namespace halftone::tests {

namespace {

constexpr auto kAll = Chips::all;

constexpr Mutant kMutants[] = {
    {"butterfly in the wrong order", "digits", "norm",
     "distance = kTeam / 2; distance > 0; distance /= 2",
     "distance = 1; distance < kTeam; distance *= 2"},
    {"butterfly one distance short", "digits", "norm", "distance > 0; distance /= 2",
     "distance > 1; distance /= 2"},
    {"lane's partials in the wrong order", "digits", "norm",
     "combine(reduction, partial[0], partial[2]);\n  const float odd = combine(reduction, "
     "partial[1], "
     "partial[3])",
     "combine(reduction, partial[0], partial[1]);\n  const float odd = combine(reduction, "
     "partial[2], "
     "partial[3])"},
    {"shuffle from the wrong lane", "digits", "norm",
     "__shfl_xor_sync(kAllLanes, partial[i], distance)",
     "__shfl_down_sync(kAllLanes, partial[i], distance)"},
    {"shuffle that half of the lanes miss", "digits", "norm",
     "const float other = __shfl_xor_sync(kAllLanes, partial[i], distance);",
     "const float other = is_upper ? __shfl_xor_sync(kAllLanes, partial[i], distance) : 0.0f;"},
    {"maximum of nothing is zero", "odd_sizes", "xent",
     "__int_as_float(static_cast<int>(0xff800000u))", "0.0f", kAll, 300},
    {"smaller instead of larger", "odd_sizes", "xent", "lower > upper || lower != lower",
     "lower < upper || lower != lower"},
    {"columns past the row's end reduced", "odd_sizes", "norm",
     "if (column + i >= Body::columns()) continue;\n        float terms", "float terms"},
    {"rows past the end", "digits", "norm", "active_(row_ < body.rows)", "active_(true)"},
    {"row results not stored", "digits", "norm",
     "      body_.store_row(uniforms_, reduced_, row_);", "      ;"},
    {"reductions of a stage confused", "digits", "norm_gradient", "reduced_[kFirst + r] = result;",
     "reduced_[kFirst + kCount - 1 - r] = result;"},
    {"partials not reset", "digits", "norm",
     "partial[r][i] = identity(Body::reduction(kFirst + r));",
     "partial[r][i] = identity(Body::reduction(kFirst + r)) + 1.0f;"},
    {"chunks' results read before they are written", "long_rows", "norm",
     "if constexpr (!kShort) {\n      __syncthreads();", "if constexpr (!kShort) {", kAll, 5},
    {"one chunk too many", "long_rows", "norm", "if (first + i < count) partial[i]",
     "if (first + i <= count) partial[i]", kAll, 5},
    {"last chunk left out", "long_rows", "norm",
     "static constexpr int kChunks = (Body::columns() + kChunk - 1) / kChunk;",
     "static constexpr int kChunks = Body::columns() / kChunk + (Body::columns() < kChunk);", kAll,
     5},
    {"kept chunks' results read before they are written", "kept_rows", "norm",
     "results[r][chunk_] = result;\n      }\n    }\n    if constexpr (!kShort) {\n      "
     "__syncthreads();",
     "results[r][chunk_] = result;\n      }\n    }\n    if constexpr (!kShort) {", kAll, 5},
    {"another group's kept words", "kept_rows", "norm", "known_anew(word(group, i))",
     "known_anew(word(group / 2 * 2, i))", kAll, 5},
    {"kept row goes on past its end", "kept_rows", "norm",
     "return active_ && column_of(group) < Body::columns();", "return true;", kAll, 5},
    {"kept short row goes on past its end", "kept_rows", "short",
     "return active_ && column_of(group) < Body::columns();", "return active_;", kAll, 5},
    {"kept short rows past the last", "kept_rows", "short", "active_(!kShort || row_ < body.rows)",
     "active_(true)", kAll, 5},
    {"all teams have the block's first row", "kept_rows", "short", "kTeams + threadIdx.x / kTeam\n",
     "kTeams\n", kAll, 5},
    {"no fence before the count of blocks", "digits", "check",
     "    __threadfence();\n    last =", "    last ="},
    {"no fence after the count of blocks", "digits", "check",
     "gridDim.x - 1;\n    __threadfence();", "gridDim.x - 1;"},
    {"no barrier before the count of blocks", "digits", "check",
     "__shared__ bool last;\n  __syncthreads();", "__shared__ bool last;"},
    {"no barrier after the count of blocks", "digits", "check",
     "__threadfence();\n  }\n  __syncthreads();", "__threadfence();\n  }"},
    {"count of blocks not reset", "digits", "check", "atomicInc(blocks_done, gridDim.x - 1)",
     "atomicAdd(blocks_done, 1u)"},
    {"last block by a wrong number", "digits", "check",
     "atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1",
     "atomicInc(blocks_done, gridDim.x - 1) == 0"},
    {"tree's results read before they are written", "digits", "check",
     "results[chunk] = result;\n    }\n    __syncthreads();", "results[chunk] = result;\n    }"},
    {"tree reads past the values", "digits", "check", "max(0, min(kChunk, size - chunk * kChunk))",
     "kChunk"},
    {"last rows of a column read past the end", "digits", "norm_weight_gradient",
     "min(body.rows, (chunk + 1) * kColumnChunk)", "(chunk + 1) * kColumnChunk"},
    {"chunks' sums read before they are written", "digits", "norm_weight_gradient",
     "    __syncthreads();\n    if (slot == 0) {", "    if (slot == 0) {", kAll, 300},
    {"chunks' sums overwritten while they are read", "digits", "norm_weight_gradient",
     "    __syncthreads();\n  }\n  if (slot == 0 && column", "  }\n  if (slot == 0 && column", kAll,
     2100},
    {"sums of the rows before not reset", "digits", "norm_weight_gradient",
     "float totals[Body::kSums] = {};\n"
     "  for (long long first = 0; first < chunks; first += kChunksAtOnce) {\n"
     "    float sums[Body::kSums] = {};",
     "float totals[Body::kSums] = {}, sums[Body::kSums] = {};\n"
     "  for (long long first = 0; first < chunks; first += kChunksAtOnce) {",
     kAll, 2100},
    {"first chunk of a column left out", "digits", "norm_weight_gradient",
     "for (int chunk = 0; chunk < ready; ++chunk)", "for (int chunk = 1; chunk < ready; ++chunk)"},
    {"sums of a column confused", "digits", "norm_weight_gradient", "= totals[0];", "= totals[1];"},
    {"mean over one row too few", "digits", "xent", "__fdiv_rn(sum, v0)",
     "__fdiv_rn(sum, v0 - 1.0f)"},
};

}  // namespace

std::span<const Mutant> reduction_mutants() { return kMutants; }

}  // namespace halftone::tests
