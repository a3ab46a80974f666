// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, tiled: PTX ISA 9.0, 9.7.9.27. Boxes as
// tensor_map.hpp says.
#include <bit>
#include <optional>

#include "bulk_copy.hpp"
#include "tensor_map.hpp"

namespace halftone::simulator {

namespace {

// more: the map's address, the shared one's, the mbarrier's (loads). at[0]: ranks of a multicast or
// kNone, at[1 ..]: the coordinates; width: how many.
enum : std::uint32_t { kMap = 0, kShared = 3, kMbarrier = 6 };

struct Box {
  TensorMap map;
  std::vector<BulkPiece> pieces;
  std::uint32_t bytes = 0;
};

/// The map may be a parameter, named by itself or by a generic address.
bool read_map(Context& c, const Instruction& i, std::uint32_t lane, std::uint64_t address,
              TensorMap& map) {
  std::array<std::byte, kTensorMapBytes> bytes;
  const std::vector<std::byte>& parameters = c.launch.parameters;
  if (address >= kParameterWindow) address -= kParameterWindow;
  if (address + kTensorMapBytes <= parameters.size()) {
    std::memcpy(bytes.data(), parameters.data() + address, bytes.size());
  } else {
    const std::byte* const from = check_global(c, i, lane, address, kTensorMapBytes, 64, false);
    if (!from) return false;
    std::memcpy(bytes.data(), from, bytes.size());
  }
  const std::optional<TensorMap> decoded = decode_tensor_map(bytes);
  if (decoded && decoded->rank == i.width) {
    map = *decoded;
    return true;
  }
  c.report(Kind::invalid, i, lane, {},
           decoded ? "the tensor map has " + std::to_string(decoded->rank) +
                         " dimensions, the instruction " + std::to_string(i.width)
                   : std::string("its operand is no tensor map that this device encoded"));
  return false;
}

std::optional<Box> box_of(Context& c, const Instruction& i, std::uint32_t lane,
                          std::uint64_t address) {
  Box box;
  if (!read_map(c, i, lane, address, box.map)) return std::nullopt;
  std::array<std::int32_t, kMaxTensorRank> corner{};
  for (std::uint32_t d = 0; d < i.width; ++d)
    corner[d] = static_cast<std::int32_t>(c.plane(i.at[1 + d])[lane]);
  // On an H200 a tensor copy that begins elsewhere is an illegal instruction.
  if (corner[0] * static_cast<std::int64_t>(box.map.element_bytes()) % 16 != 0) {
    c.report(Kind::misaligned, i, lane, {},
             "the box begins at element " + std::to_string(corner[0]) +
                 " of its first dimension, which is no multiple of 16 bytes");
    return std::nullopt;
  }
  box.bytes = box.map.box_bytes();
  for_each_box_row(box.map, std::span(corner).first(i.width), [&](const BoxRow& row) {
    if (row.first < row.last)
      box.pieces.push_back({row.address, row.offset + row.first, row.last - row.first});
  });
  return box;
}

void run_load(Context& c, const Instruction& i) {
  const auto maps = addresses_at(c, i, kMap), to = addresses_at(c, i, kShared),
             mbarrier = addresses_at(c, i, kMbarrier);
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::optional<Box> box = box_of(c, i, l, maps[l]);
    if (!box) return;
    BulkLoad load;
    load.bytes = box->bytes;
    load.pieces = box->pieces;
    load.swizzle = static_cast<std::uint32_t>(box->map.swizzle);
    load.fill = fill_pattern(box->map);
    load.element_bytes = static_cast<std::uint32_t>(box->map.element_bytes());
    const auto start = [&](SharedTarget target, SharedTarget object) {
      load.to = target;
      load.mbarrier = object;
      if (check_shared(c, i, l, target, load.bytes, 128)) start_load(c, i, l, load);
    };
    if (i.at[0] == kNone) return start(shared_target(c, to[l]), shared_target(c, mbarrier[l]));
    each_lane(c.plane(i.at[0])[l] & 0xffff, [&](std::uint32_t rank) {
      Block* const block = rank < c.block.cluster.size() ? c.block.cluster[rank] : nullptr;
      start({block, shared_target(c, to[l]).address},
            {block, shared_target(c, mbarrier[l]).address});
    });
  });
}

Type type_of_element(TensorElement element) {
  constexpr std::array<Type, 10> kTypes = {Type::u8,  Type::u16, Type::u32, Type::s32, Type::u64,
                                           Type::s64, Type::f16, Type::f32, Type::f64, Type::bf16};
  return kTypes[static_cast<std::size_t>(element)];
}

void run_store(Context& c, const Instruction& i) {
  const auto maps = addresses_at(c, i, kMap), from = addresses_at(c, i, kShared);
  each_lane(c.mask, [&](std::uint32_t l) {
    std::optional<Box> box = box_of(c, i, l, maps[l]);
    if (!box) return;
    BulkWrite write;
    write.from = shared_target(c, from[l]);
    write.bytes = box->bytes;
    write.pieces = std::move(box->pieces);
    write.swizzle = static_cast<std::uint32_t>(box->map.swizzle);
    write.operation = static_cast<ReduceOperation>(i.variant);
    write.type = type_of_element(box->map.element);
    std::byte scratch[16] = {};
    if (!reduce_bytes(write.operation, write.type, scratch, scratch, 16))
      return c.report(Kind::invalid, i, l, {}, "the tensor's elements cannot be reduced so");
    if (check_shared(c, i, l, write.from, write.bytes, 128)) start_store(c, i, l, std::move(write));
  });
}

}  // namespace

void place_box(Decoder& d, const syntax::Operand& box) {
  Instruction& i = d.instruction;
  const std::size_t rank = box.parts.size() == 1 ? box.parts[0].parts.size() : 0;
  if (!d.has(std::to_string(rank) + "d"))
    d.refuse("needs other coordinates than the " + std::to_string(rank) + " that it has");
  place_address(d, box);
  i.width = static_cast<std::uint8_t>(rank);
  for (std::size_t n = 0; n < rank; ++n) i.at[1 + n] = d.source(box.parts[0].parts[n], 4);
}

void decode_tensor_copy(Decoder& d) {
  Instruction& i = d.instruction;
  for (const std::string_view word : d.words)
    if (word.starts_with("im2col") || word.starts_with("tile::")) d.unknown();
  const bool loads = d.has("mbarrier::complete_tx::bytes");
  if (!loads && !d.has("bulk_group")) d.unknown();
  place_box(d, d.operand(loads ? 1 : 0));
  place_address(d, d.operand(loads ? 0 : 1));
  i.at[0] = kNone;
  i.run = loads ? run_load : run_store;
  if (d.words[1] == "reduce") i.variant = static_cast<std::uint8_t>(reduce_word(d));
  if (!loads) return;
  place_address(d, d.operand(2));
  if (d.has("multicast::cluster")) i.at[0] = d.source(3, 2);
}

}  // namespace halftone::simulator
