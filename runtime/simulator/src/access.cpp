// SPDX-License-Identifier: Apache-2.0
#include "access.hpp"

#include <algorithm>

namespace halftone::simulator {

namespace {

bool is_dense(const Access& a) {
  if (a.mask != kAllLanes) return false;
  for (std::uint32_t l = 1; l < 32; ++l)
    if (a.address[l] != a.address[0] + l * a.bytes) return false;
  return true;
}

/// Sectors of 32 bytes that the lanes touch, and the fewest that could hold as many bytes.
void count_sectors(Context& c, const Access& a) {
  Counters& n = c.launch.counters;
  const auto bytes = static_cast<std::uint64_t>(std::popcount(a.mask)) * a.bytes;
  (a.use == Use::read ? n.global_bytes_read : n.global_bytes_written) += bytes;
  if (a.use == Use::atomic) n.global_bytes_read += bytes;
  std::uint64_t sectors = 0;
  if (is_dense(a)) {
    sectors = ((a.address[31] + a.bytes - 1) >> 5) - (a.address[0] >> 5) + 1;
  } else {
    std::array<std::uint64_t, 64> touched{};
    std::size_t count = 0;
    each_lane(a.mask, [&](std::uint32_t l) {
      for (std::uint64_t s = a.address[l] >> 5; s <= (a.address[l] + a.bytes - 1) >> 5; ++s)
        if (count == 0 || touched[count - 1] != s) touched[count++] = s;
    });
    std::sort(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(count));
    sectors = static_cast<std::uint64_t>(
        std::unique(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(count)) -
        touched.begin());
  }
  n.global_sectors += sectors;
  n.global_sectors_ideal += std::min(sectors, (bytes + 31) / 32);
}

/// The most different words that one bank is asked for.
std::uint32_t most_words(const Access& a, std::uint32_t part, std::uint32_t first) {
  std::array<std::array<std::uint32_t, 32>, 32> words;
  std::array<std::uint32_t, 32> count{};
  each_lane(part, [&](std::uint32_t l) {
    const auto begin = static_cast<std::uint32_t>(a.address[first + l] >> 2);
    const auto end = static_cast<std::uint32_t>((a.address[first + l] + a.bytes - 1) >> 2);
    for (std::uint32_t word = begin; word <= end; ++word) {
      auto& known = words[word & 31];
      std::uint32_t& seen = count[word & 31];
      const auto* last = known.data() + seen;
      if (std::find(static_cast<const std::uint32_t*>(known.data()), last, word) == last)
        known[seen++] = word;
    }
  });
  return *std::ranges::max_element(count);
}

/// Passes for the lanes first + l with bit l of `part`.
std::uint32_t passes(const Access& a, std::uint32_t part, std::uint32_t first) {
  std::array<std::uint32_t, 32> words;  // of each bank in `used`
  std::uint32_t used = 0;
  bool conflict = false;
  each_lane(part, [&](std::uint32_t l) {
    const auto begin = static_cast<std::uint32_t>(a.address[first + l] >> 2);
    const auto end = static_cast<std::uint32_t>((a.address[first + l] + a.bytes - 1) >> 2);
    for (std::uint32_t word = begin; word <= end; ++word) {
      const std::uint32_t bank = word & 31;
      if (used >> bank & 1) conflict = conflict || words[bank] != word;
      used |= 1u << bank;
      words[bank] = word;
    }
  });
  return conflict ? most_words(a, part, first) : 1;
}

/// Passes over the 32 banks of 4 bytes: 8 lanes at a time for 16 bytes, 16 for 8, else all 32; a
/// bank serves one word per pass, to any number of lanes.
void count_wavefronts(Context& c, const Access& a) {
  Counters& n = c.launch.counters;
  const auto total = static_cast<std::uint64_t>(std::popcount(a.mask)) * a.bytes;
  if (a.use != Use::write) n.shared_bytes_read += total;
  if (a.use != Use::read) n.shared_bytes_written += total;
  const std::uint32_t lanes = a.bytes == 16 ? 8 : a.bytes == 8 ? 16 : 32;
  const bool dense = is_dense(a) && a.address[0] % 128 == 0;
  for (std::uint32_t first = 0; first < 32; first += lanes) {
    const std::uint32_t part = a.mask >> first & (lanes == 32 ? kAllLanes : (1u << lanes) - 1);
    if (part == 0) continue;
    ++n.shared_wavefronts_ideal;
    if (dense) {
      ++n.shared_wavefronts;
      continue;
    }
    n.shared_wavefronts += passes(a, part, first);
  }
}

/// place(lane, offset) says where for a finding.
template <class PlaceOf>
void check_set(Context& c, const Instruction& i, Access& a, std::vector<std::uint8_t>& bits,
               std::uint64_t origin, PlaceOf place) {
  each_lane(a.mask, [&](std::uint32_t l) {
    const std::uint64_t offset = a.address[l] - origin;
    if (a.use != Use::write && !all_set(bits, offset, a.bytes))
      c.report(Kind::uninitialised, i, l, place(offset));
    if (a.use != Use::read) set_bits(bits, offset, a.bytes, true);
  });
}

void resolve_global(Context& c, const Instruction& i, Access& a) {
  std::uint32_t possible = 0;
  Buffer* last = nullptr;
  bool one = true;
  each_lane(a.mask, [&](std::uint32_t l) {
    const std::uint64_t address = a.address[l];
    Buffer* buffer = last && address >> kWindowBits == last->address >> kWindowBits
                         ? last
                         : c.launch.memory.find(address);
    const std::uint64_t offset = buffer ? address - buffer->address : address;
    const std::string_view name = buffer ? std::string_view(buffer->name) : std::string_view();
    if (!buffer || (buffer->live && (offset > buffer->bytes || a.bytes > buffer->bytes - offset)))
      return c.report(Kind::out_of_bounds, i, l, {"global", name, offset},
                      buffer ? "the buffer has " + std::to_string(buffer->bytes) + " bytes"
                             : "no buffer is there");
    if (!buffer->live)
      return c.report(Kind::out_of_bounds, i, l, {"global", name, offset}, "the buffer was freed");
    if (address % a.bytes != 0) return c.report(Kind::misaligned, i, l, {"global", name, offset});
    if (buffer->read_only && a.use != Use::read)
      return c.report(Kind::read_only, i, l, {"constant", name, offset});
    one = one && (!last || last == buffer);
    last = buffer;
    a.data[l] = buffer->data.get() + offset;
    possible |= 1u << l;
  });
  a.mask = possible;
  if (a.mask == 0) return;
  if (a.counted && c.launch.options.traffic) count_sectors(c, a);
  if (!c.launch.options.check) return;
  if (one && last->trusted) return;
  const auto place_in = [](const Buffer& buffer) {
    return [&](std::uint64_t offset) { return Place{"global", buffer.name, offset}; };
  };
  if (one) return check_set(c, i, a, last->set, last->address, place_in(*last));
  each_lane(a.mask, [&](std::uint32_t l) {
    Access single = a;
    single.mask = 1u << l;
    Buffer* buffer = c.launch.memory.find(a.address[l]);
    if (buffer->trusted) return;
    check_set(c, i, single, buffer->set, buffer->address, place_in(*buffer));
  });
}

void resolve_shared(Context& c, const Instruction& i, Access& a) {
  if (!a.owner) a.owner = &c.block;
  Block& block = *a.owner;
  std::uint32_t possible = 0;
  each_lane(a.mask, [&](std::uint32_t l) {
    const std::uint64_t address = a.address[l];
    if (address > block.shared.size() || a.bytes > block.shared.size() - address)
      return c.report(Kind::out_of_bounds, i, l, {"shared", {}, address},
                      "the block has " + std::to_string(block.shared.size()) + " bytes");
    if (address % a.bytes != 0)
      return c.report(Kind::misaligned, i, l, shared_place(c.launch, address));
    a.data[l] = block.shared.data() + address;
    possible |= 1u << l;
  });
  a.mask = possible;
  if (a.mask == 0) return;
  if (a.counted && c.launch.options.traffic) count_wavefronts(c, a);
  if (!c.launch.options.check) return;
  check_set(c, i, a, block.shared_set, 0,
            [&](std::uint64_t offset) { return shared_place(c.launch, offset); });
}

Place local_place(const Context& c, std::uint64_t offset) {
  for (const Range& range : c.launch.kernel.local)
    if (offset >= range.offset && offset - range.offset < range.bytes)
      return {"local", range.name, offset - range.offset};
  return {"local", {}, offset};
}

void resolve_local(Context& c, const Instruction& i, Access& a) {
  const std::uint32_t bytes = c.launch.kernel.local_bytes;
  std::uint32_t possible = 0;
  each_lane(a.mask, [&](std::uint32_t l) {
    const std::uint64_t address = a.address[l];
    if (address > bytes || a.bytes > bytes - address)
      return c.report(Kind::out_of_bounds, i, l, {"local", {}, address},
                      "the thread has " + std::to_string(bytes) + " bytes");
    if (address % a.bytes != 0) return c.report(Kind::misaligned, i, l, local_place(c, address));
    a.data[l] = c.warp.local.data() + std::size_t{l} * bytes + address;
    possible |= 1u << l;
  });
  a.mask = possible;
  if (!c.launch.options.check) return;
  each_lane(a.mask, [&](std::uint32_t l) {
    Access single = a;
    single.mask = 1u << l;
    single.address[l] = a.address[l] + std::uint64_t{l} * bytes;
    check_set(c, i, single, c.warp.local_set, 0, [&](std::uint64_t offset) {
      return local_place(c, offset - std::uint64_t{l} * bytes);
    });
  });
}

/// Parameters of the kernel, which nothing may write.
void resolve_parameter(Context& c, const Instruction& i, Access& a) {
  auto& parameters = c.launch.parameters;
  std::uint32_t possible = 0;
  each_lane(a.mask, [&](std::uint32_t l) {
    const std::uint64_t address = a.address[l];
    if (address > parameters.size() || a.bytes > parameters.size() - address)
      return c.report(Kind::out_of_bounds, i, l, {"parameter", {}, address});
    if (address % a.bytes != 0) return c.report(Kind::misaligned, i, l, {"parameter", {}, address});
    if (a.use != Use::read) return c.report(Kind::read_only, i, l, {"parameter", {}, address});
    a.data[l] = parameters.data() + address;
    possible |= 1u << l;
  });
  a.mask = possible;
}

}  // namespace

Space space_of(std::uint64_t generic) {
  if (generic >= kParameterWindow) return Space::parameter;
  if (generic >= kLocalWindow) return Space::local;
  return generic >= kSharedWindow ? Space::shared : Space::global;
}

void gather_addresses(const Context& c, const Instruction& i, std::uint32_t place, Access& access) {
  access.mask = c.mask;
  const auto offset = static_cast<std::uint64_t>(i.offset);
  if (i.flags & kNarrowAddress) {
    const std::uint32_t* base = c.plane(place);
    for (std::uint32_t l = 0; l < 32; ++l) access.address[l] = base[l] + offset;
  } else {
    const std::uint64_t* base = c.plane<std::uint64_t>(place);
    for (std::uint32_t l = 0; l < 32; ++l) access.address[l] = base[l] + offset;
  }
  if (access.space == Space::shared || access.space == Space::cluster)
    for (std::uint64_t& address : access.address) address = static_cast<std::uint32_t>(address);
}

void resolve_in_space(Context& c, const Instruction& i, Access& access) {
  switch (access.space) {
    case Space::shared:
    case Space::cluster:
      return resolve_shared(c, i, access);
    case Space::local:
      return resolve_local(c, i, access);
    case Space::parameter:
      return resolve_parameter(c, i, access);
    default:
      return resolve_global(c, i, access);
  }
}

Place shared_place(const Execution& launch, std::uint64_t address) {
  for (const Range& range : launch.kernel.shared)
    if (address >= range.offset && address - range.offset < range.bytes)
      return {"shared", range.name, address - range.offset};
  if (address >= launch.dynamic_offset &&
      address < std::uint64_t{launch.dynamic_offset} + launch.dynamic_shared_bytes)
    return {"shared", "dynamic shared memory", address - launch.dynamic_offset};
  return {"shared", {}, address};
}

void set_lines(Finding& finding, const Kernel& kernel, const Instruction& i) {
  finding.opcode = i.opcode;
  finding.ptx_line = i.ptx_line;
  finding.line = (*kernel.lines)[i.source].line;
  for (std::uint32_t at = (*kernel.lines)[i.source].caller; at != 0;
       at = (*kernel.lines)[at].caller)
    finding.callers.push_back((*kernel.lines)[at].line);
}
void report_no_block(Context& c, const Instruction& i, const Access& a) {
  each_lane(a.mask, [&](std::uint32_t l) {
    c.report(Kind::out_of_bounds, i, l, {"shared", {}, a.address[l]},
             "the cluster has no running block of this rank");
  });
}

void Context::report(Kind kind, const Instruction& instruction, std::uint32_t lane, Place place,
                     std::string detail) const {
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch.kernel.name;
  finding.space = place.space;
  finding.buffer = place.buffer;
  finding.offset = place.offset;
  set_lines(finding, launch.kernel, instruction);
  finding.block = block.index;
  finding.thread = thread(lane);
  finding.detail = std::move(detail);
  launch.findings.add(std::move(finding));
}

}  // namespace halftone::simulator
