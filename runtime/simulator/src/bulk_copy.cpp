// SPDX-License-Identifier: Apache-2.0
#include "bulk_copy.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "formats.hpp"
#include "tensor_map.hpp"

namespace halftone::simulator {

namespace {

template <class T, class Combine>
void each_element(std::byte* to, const std::byte* from, std::size_t bytes, Combine combine) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof(T));
    std::memcpy(&b, from + at, sizeof(T));
    a = combine(a, b);
    std::memcpy(to + at, &a, sizeof(T));
  }
}

template <class T>
bool reduce_integers(ReduceOperation operation, std::byte* to, const std::byte* from,
                     std::size_t bytes) {
  using U = std::make_unsigned_t<T>;
  const auto with = [&](auto combine) { return each_element<T>(to, from, bytes, combine), true; };
  switch (operation) {
    case ReduceOperation::add:
      return with([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    case ReduceOperation::min:
      return with([](T a, T b) { return std::min(a, b); });
    case ReduceOperation::max:
      return with([](T a, T b) { return std::max(a, b); });
    case ReduceOperation::inc:
      return with([](T a, T b) { return a >= b ? T{0} : static_cast<T>(a + 1); });
    case ReduceOperation::dec:
      return with([](T a, T b) { return a == 0 || a > b ? b : static_cast<T>(a - 1); });
    case ReduceOperation::and_:
      return with([](T a, T b) { return static_cast<T>(a & b); });
    case ReduceOperation::or_:
      return with([](T a, T b) { return static_cast<T>(a | b); });
    case ReduceOperation::xor_:
      return with([](T a, T b) { return static_cast<T>(a ^ b); });
    case ReduceOperation::none:
      break;
  }
  return false;
}

template <class T>
bool reduce_floats(ReduceOperation operation, std::byte* to, const std::byte* from,
                   std::size_t bytes) {
  if (operation != ReduceOperation::add) return false;
  each_element<T>(to, from, bytes, [](T a, T b) { return a + b; });
  return true;
}

template <NumberFormat kFormat>
bool reduce_narrow(ReduceOperation operation, std::byte* to, const std::byte* from,
                   std::size_t bytes) {
  const bool add = operation == ReduceOperation::add, min = operation == ReduceOperation::min;
  if (!add && !min && operation != ReduceOperation::max) return false;
  each_element<std::uint16_t>(to, from, bytes, [&](std::uint16_t a, std::uint16_t b) {
    const double x = decode(kFormat, a), y = decode(kFormat, b);
    return static_cast<std::uint16_t>(encode(kFormat, add   ? x + y
                                                      : min ? std::min(x, y)
                                                            : std::max(x, y)));
  });
  return true;
}

std::byte* global_bytes(Memory& memory, const BulkPiece& piece) {
  Buffer* const buffer = memory.find(piece.global);
  return buffer && buffer->live ? buffer->data.get() + (piece.global - buffer->address) : nullptr;
}

}  // namespace

ReduceOperation reduce_word(const Decoder& d) {
  constexpr std::pair<std::string_view, ReduceOperation> kWords[] = {
      {"add", ReduceOperation::add}, {"min", ReduceOperation::min}, {"max", ReduceOperation::max},
      {"inc", ReduceOperation::inc}, {"dec", ReduceOperation::dec}, {"and", ReduceOperation::and_},
      {"or", ReduceOperation::or_},  {"xor", ReduceOperation::xor_}};
  const auto* const found =
      std::ranges::find_if(kWords, [&](const auto& each) { return d.has(each.first); });
  if (found == std::end(kWords)) d.unknown();
  return found->second;
}

bool reduce_bytes(ReduceOperation operation, Type type, std::byte* to, const std::byte* from,
                  std::size_t bytes) {
  if (operation == ReduceOperation::none) return std::memcpy(to, from, bytes), true;
  switch (type) {
    case Type::u32:
    case Type::b32:
      return reduce_integers<std::uint32_t>(operation, to, from, bytes);
    case Type::s32:
      return reduce_integers<std::int32_t>(operation, to, from, bytes);
    case Type::u64:
    case Type::b64:
      return reduce_integers<std::uint64_t>(operation, to, from, bytes);
    case Type::s64:
      return reduce_integers<std::int64_t>(operation, to, from, bytes);
    case Type::f32:
      return reduce_floats<float>(operation, to, from, bytes);
    case Type::f64:
      return reduce_floats<double>(operation, to, from, bytes);
    case Type::f16:
      return reduce_narrow<NumberFormat::f16>(operation, to, from, bytes);
    case Type::bf16:
      return reduce_narrow<NumberFormat::bf16>(operation, to, from, bytes);
    default:
      return false;
  }
}

void copy_swizzled(std::byte* window, std::uint32_t address, std::uint32_t offset,
                   std::byte* linear, std::uint32_t bytes, std::uint32_t swizzle_mode,
                   bool into_window) {
  while (bytes > 0) {
    const std::uint32_t at = address + offset, part = std::min(bytes, 16 - at % 16);
    std::byte* const there = window + swizzled(at, static_cast<Swizzle>(swizzle_mode));
    std::memcpy(into_window ? there : linear, into_window ? linear : there, part);
    linear += part;
    offset += part;
    bytes -= part;
  }
}

void start_load(Context& c, const Instruction& i, std::uint32_t lane, BulkLoad load) {
  if (!check_shared(c, i, lane, load.mbarrier, 8, 8)) return;
  if (!find_mbarrier(c, i, lane, *load.mbarrier.block, load.mbarrier.address)) return;
  for (const BulkPiece& piece : load.pieces)
    if (!check_global(c, i, lane, piece.global, piece.bytes, 1, false)) return;
  Block& target = *load.to.block;
  poison(load.to, load.bytes);
  Execution& launch = c.launch;
  std::vector<Stretch> touched = {
      {Touch::write, target.racing.get(), load.to.address, load.bytes, true}};
  for (const BulkPiece& piece : load.pieces)
    touched.push_back({Touch::read, nullptr, piece.global, piece.bytes});
  std::optional<Lanes> who;
  if (launch.races) {
    who.emplace(c.launch.races->lanes(c, i, lane));
    launch.races->detector().async_check(
        *who, {Touch::read, load.mbarrier.block->racing.get(), load.mbarrier.address, 8});
    for (const Stretch& stretch : touched) launch.races->detector().async_begin(*who, stretch);
  }
  const auto run = [&launch, &target, touched = std::move(touched), who, load = std::move(load)] {
    std::vector<std::byte> bytes(load.bytes);
    for (std::uint32_t at = 0; load.fill != 0 && at < load.bytes; at += load.element_bytes)
      std::memcpy(bytes.data() + at, &load.fill, load.element_bytes);
    for (const BulkPiece& piece : load.pieces)
      if (const std::byte* from = global_bytes(launch.memory, piece))
        std::memcpy(bytes.data() + piece.offset, from, piece.bytes);
    copy_swizzled(target.shared.data(), load.to.address, 0, bytes.data(), load.bytes, load.swizzle,
                  true);
    set_bits(target.shared_set, load.to.address, load.bytes, true);
    if (who) {
      RaceDetector& detector = launch.races->detector();
      // Whoever wrote the source since it started.
      for (const Stretch& stretch : touched)
        if (!stretch.owner) detector.async_check(*who, stretch);
      detector.async_end(*who, touched, *load.mbarrier.block->racing, load.mbarrier.address);
    }
    const auto m = load.mbarrier.block->async.mbarriers.find(load.mbarrier.address);
    if (m == load.mbarrier.block->async.mbarriers.end()) return;
    m->second.bytes -= load.bytes;
    complete_phase(launch, *load.mbarrier.block, load.mbarrier.address);
  };
  load.mbarrier.block->async.jobs.push_back({run, &i, c.thread(lane), load.mbarrier.address});
}

void start_store(Context& c, const Instruction& i, std::uint32_t lane, BulkWrite write) {
  for (const BulkPiece& piece : write.pieces)
    if (!check_global(c, i, lane, piece.global, piece.bytes, 1, true)) return;
  check_set_shared(c, i, lane, write.from, write.bytes, false);
  Execution& launch = c.launch;
  const bool reduces = write.operation != ReduceOperation::none;
  std::optional<Lanes> who;
  const Stretch stretch{Touch::read, c.block.racing.get(), write.from.address, write.bytes};
  const auto global = [reduces](const BulkPiece& p) {
    return Stretch{Touch::write, nullptr, p.global, p.bytes, true, reduces};
  };
  if (launch.races) {
    who.emplace(c.launch.races->lanes(c, i, lane));
    launch.races->detector().async_begin(*who, stretch);
    for (const BulkPiece& piece : write.pieces)
      launch.races->detector().async_begin(*who, global(piece));
  }
  const auto bytes = std::make_shared<std::vector<std::byte>>(write.bytes);
  BulkStore store;
  store.lane = lane;
  store.instruction = &i;
  store.read = [&launch, &block = c.block, bytes, write, who, stretch] {
    copy_swizzled(block.shared.data(), write.from.address, 0, bytes->data(), write.bytes,
                  write.swizzle, false);
    if (who) launch.races->detector().async_end(*who, stretch);
  };
  store.write = [&launch, bytes, write, who, global] {
    for (const BulkPiece& piece : write.pieces) {
      if (std::byte* to = global_bytes(launch.memory, piece))
        reduce_bytes(write.operation, write.type, to, bytes->data() + piece.offset, piece.bytes);
      if (who) launch.races->detector().async_end(*who, global(piece));
    }
  };
  c.warp.bulk_stores.push_back(std::move(store));
}

void finish_bulk_stores(Context& c, std::uint32_t lanes) {
  std::erase_if(c.warp.bulk_stores, [&](BulkStore& store) {
    if ((lanes >> store.lane & 1) == 0) return false;
    if (!store.was_read) {
      if (c.launch.options.check)
        c.report(Kind::unfinished, *store.instruction, store.lane, {},
                 "the thread ended before cp.async.bulk.wait_group waited for the copy to read "
                 "shared memory");
      store.read();
    }
    store.write();
    return true;
  });
}

}  // namespace halftone::simulator
