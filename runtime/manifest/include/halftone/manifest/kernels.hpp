// SPDX-License-Identifier: Apache-2.0
// Kernels as a manifest holds them: their tasks, how the CPU's entries are called, and how they run
// on a chip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/encoding/encoding.hpp"

namespace halftone::manifest {

/// A fixed extent, or coefficient * ceil(the bound value of `symbol` / divisor) + added.
struct Dimension {
  std::int64_t extent = 1;   ///< the size, or the coefficient in front of the symbol
  std::int32_t symbol = -1;  ///< index into Manifest::symbols, or -1
  std::int32_t divisor = 1;  ///< 1 where there is no symbol
  std::int64_t added = 0;    ///< 0 where there is no symbol

  bool operator==(const Dimension&) const = default;
};

/// How many elements a row may have whose length is a symbol. Of a kernel over such rows they are a
/// task axis of one tile as large as this.
inline constexpr std::int64_t kMostColumns = std::int64_t{1} << 30;

/// How many windows and how many places an image may have of which a chip's kernel gathers windows.
/// Where symbols say how many, each is an axis of that kernel's grid, of one tile as large as this.
inline constexpr std::int64_t kMostOfImage = std::int64_t{1} << 30;

/// How many independent tasks a kernel has: the product of ceil(dimension / tile).
struct TaskAxis {
  std::vector<Dimension> extent;  ///< a product
  std::int64_t tile = 1;

  bool operator==(const TaskAxis&) const = default;
};

/// The results of a contraction that stay in a CPU's registers while their products are added.
struct RegisterTile {
  std::int32_t rows = 1, columns = 1;
  /// Floats between two k of a block of lhs that lies by k; of pairs the rows that a tile of lhs
  /// has in memory for as many of its own.
  std::int32_t lanes = 1;
  /// The k that one product adds: 1 of f32, and copies are f32; 2 of pairs of bf16 and 32 of tiles
  /// of matrices, where copies are bf16, whatever Blocking::stride is, and blocks multiples of
  /// kPackedDepth.
  std::int32_t depth = 1;

  bool operator==(const RegisterTile&) const = default;
};

/// How contractions are cut on the CPU: what blocks.hpp chooses blocks by. Their last two task axes
/// are the rows and the columns, with tiles of 1 that the blocks take the place of.
struct Blocking {
  std::vector<RegisterTile> tiles;  ///< by variant; empty for what is no contraction
  std::vector<Dimension> depth;     ///< the elements of a sum, a product
  /// Of the block of lhs by rows, a bound of its depth and a multiple of 16; or 0: by k.
  std::int64_t stride = 0;
  bool transposes = false;  ///< whether rhs's elements along k are neighbours
  /// The argument that is rhs, whose panels may be packed before the tasks; or -1: there is one for
  /// each element of a batch, and tasks pack.
  std::int32_t rhs = -1;
  /// Of a matrix that is gathered, how many elements of a line are neighbours in memory, which
  /// copies go by; 0 where the matrix lies in memory.
  std::int32_t lhs_neighbours = 0, rhs_neighbours = 0;

  bool operator==(const Blocking&) const = default;
};

/// CPU entries have the C signature
///   void entry(void* const* arguments, const std::int64_t* symbols, std::int64_t first_task,
///   std::int64_t last_task, const CpuBlocks* blocks);
/// arguments[i] points at the i-th argument's first element, symbols[i] is the bound value of
/// Manifest::symbols[i]. Tasks [first_task, last_task) are run; tasks are independent of each
/// other. Contractions, pointwise and row kernels read `blocks` (blocks.hpp). A kernel with a
/// finish has a second entry of the same signature, called once with tasks [0, 1) after all tasks
/// are done.
struct Kernel {
  std::string name;  ///< unique in the manifest
  /// contraction, row, column, flat, segment, pointwise, attention, attention_columns, transform,
  /// inverse_transform, transform_pass, inverse_transform_pass, convolution_pass, correlation_pass
  std::string skeleton;
  std::vector<TaskAxis> tasks;
  std::int32_t cpu_entry = 0;    ///< index into a variant's entry table
  std::int32_t cpu_finish = -1;  ///< likewise, or -1
  Blocking blocking = {};

  bool operator==(const Kernel&) const = default;
};

/// Into how many parts the sum of a contraction is split: ceil(depth / least), at least 1, at most
/// `most`. Every part is a block of its own.
struct Split {
  std::vector<Dimension> depth;  ///< a product
  std::int64_t least = 1;        ///< elements of the sum that are worth a part
  std::int32_t most = 1;         ///< 1: the sum is never split, and depth is empty

  bool operator==(const Split&) const = default;
};

/// A part of the memory that a CUDA kernel works in: `bytes` times the product of ceil(extent /
/// tile), rounded up to kWorkAlignment; parts lie one after another in their order.
struct Work {
  std::int64_t bytes = 0;
  std::vector<TaskAxis> count;
  bool per_split = false;  ///< times the number of splits too
  /// Holds zeros when the kernel starts, and again when it is done; such parts come first.
  bool zeroed = false;

  bool operator==(const Work&) const = default;
};

inline constexpr std::int64_t kWorkAlignment = 256;

/// A dimension of a TensorMap: how long it is, and how much of it one copy takes.
struct MapDimension {
  std::vector<Dimension> extent;  ///< a product
  std::int32_t box = 1;           ///< elements, kMostBox at most

  bool operator==(const MapDimension&) const = default;
};

/// A tensor that a kernel copies boxes of into shared memory (cp.async.bulk.tensor of sm_90): an
/// argument's elements, without gaps. Its dimensions are those of a shape: the last one's elements
/// are neighbours, a whole line of them is a multiple of kMapRowBytes, and its box kMostBoxBytes at
/// most. (A copy's coordinates go the other way, the last dimension's first.) Outside of the tensor
/// copies read zeros. In shared memory 16 bytes are exchanged within every 128 (the swizzle of 128
/// bytes).
struct TensorMap {
  std::int32_t argument = 0;  ///< of the launch
  encoding::Element element = encoding::Element::bf16;
  std::vector<MapDimension> dimensions;  ///< kLeastMapRank to kMostMapRank

  bool operator==(const TensorMap&) const = default;
};

inline constexpr std::size_t kLeastMapRank = 2, kMostMapRank = 4;
inline constexpr std::int32_t kMostBox = 256, kMostBoxBytes = 128, kMapRowBytes = 16;
inline constexpr std::int64_t kMapBytes = 128;  ///< encoded, as the driver does it

/// What the cost model said of one launch, with symbols as Manifest::assumed.
struct Cost {
  double operations = 0.0;  ///< floating point, a multiply-add counts as two
  double bytes = 0.0;       ///< between chip and memory
  double waves = 0.0;       ///< blocks over the blocks that the chip holds at once
  double microseconds = 0.0;

  bool operator==(const Cost&) const = default;
};

/// A way to run a kernel on a chip, for people.
struct Plan {
  std::string name;  ///< "tensor 128x128x32, warps 64x32, 3 stages, 4 splits", "simt 64x64x16"
  Cost cost;

  bool operator==(const Plan&) const = default;
};

/// How a kernel runs on one chip. Grid and blocks have one dimension; the grid has the product of
/// ceil(extent / tile) over `blocks`, times the number of splits; where `resident` says how many
/// blocks an SM holds, no more than run at once: those go on with the tiles that are left. The
/// entry's parameters: kMapBytes for each of `maps`, in order; a pointer per argument of the
/// launch, in order; a pointer to memory of plan_workspace(), aligned to kWorkAlignment, where
/// `workspace` is not empty; every symbol of the manifest as 64-bit integer.
struct CudaKernel {
  std::int32_t text = 0;  ///< index into the artifact's texts
  std::string entry;      ///< the function's name in that text
  std::int32_t threads = 32;
  std::vector<TaskAxis> blocks;
  std::int32_t resident = 0;      ///< 0: every tile has a block of its own
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory of a block
  std::vector<TensorMap> maps;
  Split split;
  std::vector<Work> workspace;
  std::vector<Plan> plans;  ///< the chosen one, then those it beat, best first; empty: no choice
  std::string reason;  ///< why tensor cores run no contraction or attention, for people; or empty
  std::string no_warpgroups;  ///< likewise why they run it without wgmma, where a chip has that
  std::string no_eight_bits;  ///< likewise why they multiply no 8 or 4 bits, where rules let them

  bool operator==(const CudaKernel&) const = default;
};

struct CudaTarget {
  std::string chip;                 ///< "sm_80"
  std::vector<CudaKernel> kernels;  ///< one for each of Manifest::kernels, in their order

  bool operator==(const CudaTarget&) const = default;
};

}  // namespace halftone::manifest
