// SPDX-License-Identifier: Apache-2.0
#include "shared_target.hpp"

namespace halftone::simulator {

std::uint32_t place_address(Decoder& d, const syntax::Operand& operand) {
  Instruction at;
  const std::uint32_t place = d.address(operand, at);
  std::vector<std::uint32_t>& more = d.instruction.more;
  more.push_back(place);
  more.push_back(static_cast<std::uint32_t>(at.offset));
  more.push_back(at.flags & kNarrowAddress ? 4 : 8);
  return static_cast<std::uint32_t>(more.size() - 3);
}

std::array<std::uint64_t, 32> addresses_at(const Context& c, const Instruction& i,
                                           std::uint32_t where) {
  std::array<std::uint64_t, 32> addresses;
  const auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(i.more[where + 1]));
  const bool narrow = i.more[where + 2] == 4;
  for (std::uint32_t l = 0; l < 32; ++l)
    addresses[l] =
        narrow ? c.plane(i.more[where])[l] + static_cast<std::uint32_t>(offset)
               : c.plane<std::uint64_t>(i.more[where])[l] + static_cast<std::uint64_t>(offset);
  return addresses;
}

SharedTarget shared_target(const Context& c, std::uint64_t address) {
  if (address >= kSharedWindow && address < kLocalWindow) address -= kSharedWindow;
  const auto low = static_cast<std::uint32_t>(address);
  const std::uint32_t rank = low >> kRankShift, offset = low & ((1u << kRankShift) - 1);
  if (rank == 0) return {&c.block, offset};
  const std::vector<Block*>& blocks = c.block.cluster;
  return {rank <= blocks.size() ? blocks[rank - 1] : nullptr, offset};
}

void poison(const SharedTarget& target, std::uint32_t bytes) {
  std::memset(target.block->shared.data() + target.address, 0xff, bytes);
}

bool check_shared(const Context& c, const Instruction& i, std::uint32_t lane,
                  const SharedTarget& target, std::uint32_t bytes, std::uint32_t alignment) {
  const Place place{"shared", {}, target.address};
  if (!target.block) {
    c.report(Kind::out_of_bounds, i, lane, place, "the cluster has no block of this rank");
    return false;
  }
  if (target.block != &c.block && target.block->done()) {
    c.report(Kind::out_of_bounds, i, lane, place, "the block whose shared memory it is has ended");
    return false;
  }
  const std::size_t size = target.block->shared.size();
  if (target.address > size || bytes > size - target.address) {
    c.report(Kind::out_of_bounds, i, lane, place,
             std::to_string(bytes) + " bytes are accessed; the block has " + std::to_string(size));
    return false;
  }
  if (target.address % alignment == 0) return true;
  c.report(Kind::misaligned, i, lane, place,
           "the address must be a multiple of " + std::to_string(alignment));
  return false;
}

std::byte* check_global(const Context& c, const Instruction& i, std::uint32_t lane,
                        std::uint64_t address, std::uint64_t bytes, std::uint32_t alignment,
                        bool write) {
  Buffer* const buffer = c.launch.memory.find(address);
  const std::uint64_t offset = buffer ? address - buffer->address : address;
  const Place place{"global", buffer ? std::string_view(buffer->name) : std::string_view(), offset};
  if (!buffer || !buffer->live || offset > buffer->bytes || bytes > buffer->bytes - offset) {
    c.report(Kind::out_of_bounds, i, lane, place, std::to_string(bytes) + " bytes are accessed");
    return nullptr;
  }
  if (address % alignment != 0) {
    c.report(Kind::misaligned, i, lane, place,
             "the address must be a multiple of " + std::to_string(alignment));
    return nullptr;
  }
  if (write)
    set_bits(buffer->set, offset, bytes, true);
  else if (c.launch.options.check && !buffer->trusted && !all_set(buffer->set, offset, bytes))
    c.report(Kind::uninitialised, i, lane, place);
  return buffer->data.get() + offset;
}

void check_set_shared(const Context& c, const Instruction& i, std::uint32_t lane,
                      const SharedTarget& target, std::uint32_t bytes, bool write) {
  if (write) return set_bits(target.block->shared_set, target.address, bytes, true);
  if (c.launch.options.check && !all_set(target.block->shared_set, target.address, bytes))
    c.report(Kind::uninitialised, i, lane, {"shared", {}, target.address});
}

}  // namespace halftone::simulator
