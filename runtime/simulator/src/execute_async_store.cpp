// SPDX-License-Identifier: Apache-2.0
// st.async: PTX ISA 9.0, 9.7.9.12. A store to the shared memory of a block of the cluster that
// counts its bytes on an mbarrier of that block.
#include <optional>

#include "bulk_copy.hpp"

namespace halftone::simulator {

namespace {

// more: the destination's address, the mbarrier's. at[0] and on: the elements.
enum : std::uint32_t { kTo = 0, kMbarrier = 3 };

struct AsyncStore {
  SharedTarget to, mbarrier;
  std::uint32_t bytes = 0;
  std::array<std::byte, 16> value{};
};

AsyncStore store_of(const Context& c, const Instruction& i, std::uint32_t lane) {
  AsyncStore store;
  store.to = shared_target(c, addresses_at(c, i, kTo)[lane]);
  store.mbarrier = shared_target(c, addresses_at(c, i, kMbarrier)[lane]);
  store.bytes = std::uint32_t{i.bytes} * i.width;
  for (std::uint32_t e = 0; e < i.width; ++e) {
    std::byte* const to = store.value.data() + e * i.bytes;
    if (i.bytes == 8)
      std::memcpy(to, c.plane<std::uint64_t>(i.at[e]) + lane, 8);
    else
      std::memcpy(to, c.plane(i.at[e]) + lane, 4);
  }
  return store;
}

void finish(Execution& launch, const AsyncStore& store) {
  Block& block = *store.to.block;
  std::memcpy(block.shared.data() + store.to.address, store.value.data(), store.bytes);
  set_bits(block.shared_set, store.to.address, store.bytes, true);
  const auto m = block.async.mbarriers.find(store.mbarrier.address);
  if (m == block.async.mbarriers.end()) return;
  m->second.bytes -= store.bytes;
  complete_phase(launch, block, store.mbarrier.address);
}

void run_async_store(Context& c, const Instruction& i) {
  each_lane(c.mask, [&](std::uint32_t l) {
    const AsyncStore store = store_of(c, i, l);
    if (!check_shared(c, i, l, store.to, store.bytes, store.bytes) ||
        !check_shared(c, i, l, store.mbarrier, 8, 8) ||
        !find_mbarrier(c, i, l, *store.mbarrier.block, store.mbarrier.address))
      return;
    if (store.to.block != store.mbarrier.block)
      return c.report(Kind::invalid, i, l, {},
                      "the mbarrier is of another block than the destination");
    std::optional<Lanes> who;
    RacingBlock* const owner = store.to.block->racing.get();
    const Stretch written{Touch::write, owner, store.to.address, store.bytes, false};
    if (c.launch.races) {
      who.emplace(c.launch.races->lanes(c, i, l));
      c.launch.races->detector().async_begin(*who, written);
    }
    poison(store.to, store.bytes);
    store.to.block->async.jobs.push_back({[&launch = c.launch, store, written, who, owner] {
                                            if (who)
                                              launch.races->detector().async_end(
                                                  *who, std::span(&written, 1), *owner,
                                                  store.mbarrier.address);
                                            finish(launch, store);
                                          },
                                          &i, c.thread(l), store.mbarrier.address});
  });
}

}  // namespace

void decode_async_store(Decoder& d) {
  Instruction& i = d.instruction;
  i.run = run_async_store;
  i.bytes = bytes_of(d.type());
  i.width = static_cast<std::uint8_t>(d.elements());
  if (i.bytes * i.width > 16) d.unknown();
  const auto values = d.list(1, i.width);
  for (std::size_t e = 0; e < i.width; ++e) i.at[e] = d.source(values[e], i.bytes);
  place_address(d, d.operand(0));
  place_address(d, d.operand(2));
}

}  // namespace halftone::simulator
