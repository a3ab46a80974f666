// SPDX-License-Identifier: Apache-2.0
#include "mutants.hpp"

namespace halftone::tests {

namespace {

constexpr auto kAll = Chips::all;

constexpr Mutant kMutants[] = {
    {"product rounded before it is added", "digits", "fc1",
     "sums[m][n] = __fmaf_rn(a[m], b[n], sums[m][n]);", "sums[m][n] += a[m] * b[n];"},
    {"wrong rounding of products", "digits", "fc1", "__fmaf_rn(a[m], b[n], sums[m][n])",
     "__fmaf_rz(a[m], b[n], sums[m][n])"},
    {"wrong transposition", "odd_sizes", "fc2", "kTransposeRhs = true", "kTransposeRhs = false"},
    {"tile read before it is written", "digits", "fc1", "rhs.put(rhs_tile);\n    __syncthreads();",
     "rhs.put(rhs_tile);"},
    {"tile overwritten while it is read", "digits", "fc1",
     "sums[m][n]);\n      }\n    }\n    __syncthreads();", "sums[m][n]);\n      }\n    }"},
    {"rows past the operand's end read", "odd_sizes", "fc1", "major < majors ? minors : 0LL",
     "minors"},
    {"stale tile", "digits", "fc1", "fetch(k + Tile::kDepth);", "fetch(k);"},
    {"last tile of the depth left out", "odd_sizes", "fc2",
     "for (long long k = 0; k < body.depth; k += Tile::kDepth)",
     "for (long long k = 0; k + Tile::kDepth <= body.depth; k += Tile::kDepth)"},
    {"chains of the wrong length", "digits", "fc2_weight_gradient", "k % kColumnChunk == 0",
     "k % 64 == 0", kAll, 300},
    {"all but the last chain left out", "digits", "fc2_weight_gradient", "return total + chunk;",
     "return chunk;", kAll, 300},
    {"sums of lhs read before they are written", "digits", "fc2_weight_gradient",
     "lhs_tile[0][threadIdx.x] = lhs_sum.result();\n    __syncthreads();",
     "lhs_tile[0][threadIdx.x] = lhs_sum.result();"},
    {"sums of lhs not stored", "digits", "fc2_weight_gradient",
     "if (first_column == 0 && column_thread == 0) body.store_row(uniforms, lhs_sum, row);", ""},
    {"one row too many stored", "odd_sizes", "fc1", "if (row >= end_row) continue;",
     "if (row > end_row) continue;"},
    {"threads' rows overlap", "digits", "fc1",
     "item / kGroup * (kThreadsAlong * kGroup) + thread * kGroup + item % kGroup",
     "item / kGroup * (kThreadsAlong * kGroup) + thread + item % kGroup"},
    {"padding row taken from its neighbour", "digits", "fc1",
     "inline constexpr int kPadding =\n    4;", "inline constexpr int kPadding =\n    3;"},
    {"dropped bias", "odd_sizes", "fc1", "= sum + inputs.input2[i];", "= sum;"},
};

}  // namespace

std::span<const Mutant> ordered_mutants() { return kMutants; }

}  // namespace halftone::tests
