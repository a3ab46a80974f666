// SPDX-License-Identifier: Apache-2.0
// Parts that bulk copies of bytes and of tensor boxes share.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "async_work.hpp"
#include "shared_target.hpp"

namespace halftone::simulator {

enum class ReduceOperation : std::uint8_t { none, add, min, max, inc, dec, and_, or_, xor_ };
[[nodiscard]] ReduceOperation reduce_word(const Decoder& decoder);

/// to = to (operation) from, element by element; none copies. False: there is no such reduction of
/// this type.
bool reduce_bytes(ReduceOperation operation, Type type, std::byte* to, const std::byte* from,
                  std::size_t bytes);

/// A stretch of shared memory and pieces of global memory: bytes `shared` .. + bytes correspond to
/// `global`.
struct BulkPiece {
  std::uint64_t global = 0;
  std::uint32_t offset = 0, bytes = 0;  ///< from the start of the stretch, before swizzling
};

/// Where the bytes of a stretch lie: each 16 bytes are moved as the swizzle says.
void copy_swizzled(std::byte* window, std::uint32_t address, std::uint32_t offset,
                   std::byte* linear, std::uint32_t bytes, std::uint32_t swizzle_mode,
                   bool into_window);

/// Global to shared memory of a block: starts it, and queues what completes it on the mbarrier.
struct BulkLoad {
  SharedTarget to, mbarrier;
  std::uint32_t bytes = 0;  ///< of the stretch; what lies in no piece is filled
  std::vector<BulkPiece> pieces;
  std::uint32_t swizzle = 0;
  std::uint64_t fill = 0;
  std::uint32_t element_bytes = 1;  ///< of the fill
};
void start_load(Context& context, const Instruction& instruction, std::uint32_t lane,
                BulkLoad load);

/// Shared to global memory, in the lane's bulk group.
struct BulkWrite {
  SharedTarget from;
  std::uint32_t bytes = 0;
  std::vector<BulkPiece> pieces;
  std::uint32_t swizzle = 0;
  ReduceOperation operation = ReduceOperation::none;
  Type type = Type::b8;
};
void start_store(Context& context, const Instruction& instruction, std::uint32_t lane,
                 BulkWrite write);

/// [map, {coordinates}]: the map's address, and the coordinates as execute_tensor_copy.cpp says.
void place_box(Decoder& decoder, const syntax::Operand& box);

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
void decode_tensor_copy(Decoder& decoder);

}  // namespace halftone::simulator
