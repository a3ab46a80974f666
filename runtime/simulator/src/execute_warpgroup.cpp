// SPDX-License-Identifier: Apache-2.0
// wgmma: PTX ISA 9.0, 9.7.15, and setmaxnreg. Each warp of a warpgroup computes its 16 rows. It
// does so when it waits: until then the accumulators hold NaN, and shared memory may not change.
#include <algorithm>
#include <bit>
#include <optional>

#include "async_work.hpp"
#include "formats.hpp"
#include "lanes.hpp"
#include "matrix.hpp"
#include "matrix_sums.hpp"
#include "shared_target.hpp"
#include "tensor_map.hpp"

namespace halftone::simulator {

namespace {

constexpr std::uint32_t kPoison = 0x7fff7fff;  // NaN as f32, and as two f16 or bf16

// at[0 .. 3]: A's registers, or its descriptor in at[0]; at[4]: B's descriptor; at[5]: the
// predicate scale-d; more: the accumulators; width: K; offset: N; variant and bytes: formats of A
// and B.
constexpr std::uint32_t kARegisters = 1, kNegateA = 2, kNegateB = 4, kTransposeA = 8,
                        kTransposeB = 16, kHalf = 32;

int bytes_of_format(NumberFormat f) { return std::max(1, packed_bits(f) / 8); }

float value_of(NumberFormat format, const std::byte* from) {
  switch (format) {
    case NumberFormat::tf32: {
      std::uint32_t word;
      std::memcpy(&word, from, 4);
      return std::bit_cast<float>(word & 0xffffe000u);
    }
    case NumberFormat::f16:
    case NumberFormat::bf16: {
      std::uint16_t half;
      std::memcpy(&half, from, 2);
      return format == NumberFormat::f16 ? f16_value(half) : bf16_value(half);
    }
    default:
      return decode(format, static_cast<std::uint32_t>(*from));
  }
}

/// An operand in shared memory: rows of A or columns of B from `first`, by k.
struct Operand {
  MatrixDescriptor descriptor;
  NumberFormat format;
  bool k_major;
  int first, rows, depth;

  /// Calls visit(address, mn, k) for each unit of 16 bytes.
  template <class Visit>
  void each_unit(Visit visit) const {
    const int element = bytes_of_format(format), unit = 16 / element;
    for (int mn = first; mn < first + rows; mn += k_major ? 1 : unit)
      for (int k = 0; k < depth; k += k_major ? unit : 1)
        visit(descriptor_address(descriptor, k_major, element, mn, k), mn - first, k);
  }
};

/// values[mn * depth + k] or, by_k, values[k * rows + mn].
void fetch(const Block& block, const Operand& o, bool by_k, bool negate,
           std::vector<float>& values) {
  const int element = bytes_of_format(o.format);
  values.assign(static_cast<std::size_t>(o.rows) * static_cast<std::size_t>(o.depth), 0);
  o.each_unit([&](std::uint32_t address, int mn, int k) {
    for (int e = 0; e < 16 / element; ++e) {
      const int row = o.k_major ? mn : mn + e, column = o.k_major ? k + e : k;
      const float value = value_of(o.format, block.shared.data() + address + e * element);
      values[static_cast<std::size_t>(by_k ? column * o.rows + row : row * o.depth + column)] =
          negate ? -value : value;
    }
  });
}

struct Multiplication {
  Execution& launch;
  Block& block;
  Warp& warp;
  const Instruction& i;
  Operand a, b;
  bool accumulates;
  std::optional<Lanes> who;

  void run() const;
  void a_from_registers(std::vector<float>& values) const;
  void move_sums(std::vector<float>& sums, bool back) const;
};

void Multiplication::a_from_registers(std::vector<float>& values) const {
  const int packed = 4 / bytes_of_format(a.format), depth = i.width;
  values.resize(static_cast<std::size_t>(16 * depth));
  for (int e = 0; e < depth / 2; ++e) {
    const auto* from = reinterpret_cast<const std::uint32_t*>(
        warp.registers + i.at[static_cast<std::size_t>(e / packed)]);
    for (int l = 0; l < 32; ++l) {
      const Position p = a_position(packed, l, e);
      std::byte word[4];
      std::memcpy(word, &from[l], 4);
      const float value = value_of(a.format, word + e % packed * bytes_of_format(a.format));
      values[static_cast<std::size_t>(p.row * depth + p.column)] =
          i.flags & kNegateA ? -value : value;
    }
  }
}

void Multiplication::move_sums(std::vector<float>& sums, bool back) const {
  const bool half = (i.flags & kHalf) != 0;
  const auto n = static_cast<int>(i.offset);
  for (int e = 0; e < n / 2; ++e) {
    std::array<std::uint32_t, 32>& plane =
        warp.wgmma.sums.at(i.more[static_cast<std::size_t>(half ? e / 2 : e)]);
    for (std::uint32_t l = 0; l < 32; ++l) {
      const Position p = wgmma_d_position(static_cast<int>(l), e);
      float& sum = sums[static_cast<std::size_t>(p.row * n + p.column)];
      const int shift = half ? 16 * (e % 2) : 0;
      if (!back)
        sum = half ? f16_value(static_cast<std::uint16_t>(plane[l] >> shift))
                   : std::bit_cast<float>(plane[l]);
      else if (half)
        plane[l] = (plane[l] & ~(0xffffu << shift)) | static_cast<std::uint32_t>(f16_code(sum))
                                                          << shift;
      else
        plane[l] = std::bit_cast<std::uint32_t>(sum);
    }
  }
}

template <class F>
void each_stretch(const Block& block, const Instruction& i, const Operand& a, const Operand& b,
                  F f) {
  const auto visit = [&](std::uint32_t address, int, int) {
    f(Stretch{Touch::read, block.racing.get(), address, 16, true});
  };
  if ((i.flags & kARegisters) == 0) a.each_unit(visit);
  b.each_unit(visit);
}

void Multiplication::run() const {
  const auto n = static_cast<int>(i.offset);
  std::vector<float> left, right, sums(static_cast<std::size_t>(16 * n), 0.0f);
  if (i.flags & kARegisters)
    a_from_registers(left);
  else
    fetch(block, a, false, (i.flags & kNegateA) != 0, left);
  fetch(block, b, true, (i.flags & kNegateB) != 0, right);
  if (accumulates) move_sums(sums, false);
  SumRules rules;
  rules.accumulator = i.flags & kHalf ? AccumulatorFormat::f16 : AccumulatorFormat::f32;
  if (launch.options.accumulation == Accumulation::truncating)
    rules = truncating_rules(bytes_of_format(a.format), rules.accumulator);
  multiply_add(left.data(), right.data(), sums.data(), sums.data(), 16, n, i.width, rules);
  move_sums(sums, true);
  if (who)
    each_stretch(block, i, a, b, [&](const Stretch& stretch) {
      launch.races->detector().async_end(*who, stretch);
    });
}

bool check_operand(Context& c, const Instruction& i, const Operand& o) {
  bool fits = true;
  if (o.descriptor.base_offset != 0) {
    c.report(Kind::invalid, i, 0, {},
             "a matrix descriptor with a base offset cannot be simulated; align the tile to its "
             "pattern");
    return false;
  }
  o.each_unit([&](std::uint32_t address, int, int) {
    fits = fits && check_shared(c, i, 0, {&c.block, address}, 16, 16);
    if (fits) check_set_shared(c, i, 0, {&c.block, address}, 16, false);
  });
  return fits;
}

void run_multiply(Context& c, const Instruction& i) {
  const auto descriptor = [&](std::size_t at) {
    return decode_descriptor(c.plane<std::uint64_t>(i.at[at])[0]);
  };
  const auto format_a = static_cast<NumberFormat>(i.variant),
             format_b = static_cast<NumberFormat>(i.bytes);
  const int first = static_cast<int>(c.warp.index % 4) * 16;
  Operand a{{}, format_a, (i.flags & kTransposeA) == 0, first, 16, i.width};
  if ((i.flags & kARegisters) == 0) a.descriptor = descriptor(0);
  const Operand b{
      descriptor(4), format_b, (i.flags & kTransposeB) == 0, 0, static_cast<int>(i.offset),
      i.width};
  if (!c.warp.wgmma.fenced)
    c.report(Kind::missing_fence, i, 0, {},
             "wgmma.fence must come before the first wgmma.mma_async");
  if (((i.flags & kARegisters) == 0 && !check_operand(c, i, a)) || !check_operand(c, i, b)) return;
  std::optional<Lanes> who;
  if (c.launch.races) {
    who.emplace(c.launch.races->lanes(c, i));
    each_stretch(c.block, i, a, b, [&](const Stretch& stretch) {
      c.launch.races->detector().async_begin(*who, stretch);
    });
  }
  for (const std::uint32_t place : i.more) {
    const auto [at, added] = c.warp.wgmma.sums.try_emplace(place);
    if (!added) continue;
    std::copy_n(c.plane(place), 32, at->second.begin());
    std::fill_n(c.plane(place), 32, kPoison);
  }
  const bool accumulates = i.at[5] == kNone || (c.predicate(i.at[5]) & 1) != 0;
  const Multiplication work{c.launch, c.block, c.warp, i, a, b, accumulates, who};
  c.warp.wgmma.open.push_back({[work] { work.run(); }, i.more});
  c.launch.counters.tensor_operations += 2ull * 16 * static_cast<std::uint64_t>(i.offset) * i.width;
}

void run_fence(Context& c, const Instruction&) { c.warp.wgmma.fenced = true; }

void run_commit(Context& c, const Instruction&) {
  c.warp.wgmma.groups.push_back(std::move(c.warp.wgmma.open));
  c.warp.wgmma.open.clear();
}

void run_wait(Context& c, const Instruction& i) {
  WarpgroupWork& work = c.warp.wgmma;
  while (work.groups.size() > static_cast<std::size_t>(i.target)) {
    for (const WarpgroupWork::Operation& operation : work.groups.front()) operation.run();
    work.groups.pop_front();
  }
  std::vector<std::uint32_t> busy;
  const auto note = [&](const WarpgroupWork::Operation& o) {
    busy.insert(busy.end(), o.sums.begin(), o.sums.end());
  };
  for (const auto& group : work.groups)
    for (const auto& operation : group) note(operation);
  for (const auto& operation : work.open) note(operation);
  std::erase_if(work.sums, [&](const auto& sum) {
    if (std::ranges::find(busy, sum.first) != busy.end()) return false;
    std::copy_n(sum.second.begin(), 32, c.plane(sum.first));
    return true;
  });
}

void run_registers(Context& c, const Instruction& i) {
  const auto count = static_cast<std::uint32_t>(i.offset);
  if (count % 8 != 0 || count < 24 || count > 256)
    return c.report(
        Kind::invalid, i, 0, {},
        "setmaxnreg takes a multiple of 8 from 24 to 256, not " + std::to_string(count));
  c.warp.most_registers = count;
  std::uint32_t sum = 0;
  for (const Warp& warp : c.block.warps) sum += 32 * warp.most_registers;
  // A block has what its threads were launched with, alike and in eights: who asks for more waits
  // for ever.
  const auto threads = static_cast<std::uint32_t>(32 * c.block.warps.size());
  const std::uint32_t pool = c.launch.chip.registers_per_multiprocessor / threads / 8 * 8 * threads;
  if (sum > pool)
    c.report(Kind::launch_limit, i, 0, {},
             "the block's warps ask for " + std::to_string(sum) + " registers, more than the " +
                 std::to_string(pool) + " that its threads can be launched with");
}

NumberFormat format_of(const Decoder& d, std::string_view word) {
  constexpr std::pair<std::string_view, NumberFormat> kFormats[] = {{"f16", NumberFormat::f16},
                                                                    {"bf16", NumberFormat::bf16},
                                                                    {"tf32", NumberFormat::tf32},
                                                                    {"e4m3", NumberFormat::e4m3},
                                                                    {"e5m2", NumberFormat::e5m2}};
  const auto* const found =
      std::ranges::find_if(kFormats, [&](const auto& each) { return each.first == word; });
  if (found == std::end(kFormats)) d.unknown();
  return found->second;
}

/// wgmma.mma_async.sync.aligned.m64nNkK.d.a.b {d}, a, b, scale-d, scale-a, scale-b{, trans-a}{,
/// trans-b}
void decode_multiply(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.words.size() < 8 || d.has("sp")) d.unknown();
  const std::string_view shape = d.words[4];
  const NumberFormat a = format_of(d, d.words[6]), b = format_of(d, d.words[7]);
  i.run = run_multiply;
  i.width = static_cast<std::uint8_t>(32 / bytes_of_format(a));
  for (int n = 8; n <= 256; n += 8)
    if (shape == "m64n" + std::to_string(n) + "k" + std::to_string(i.width)) i.offset = n;
  if (i.offset == 0) d.unknown();
  i.variant = static_cast<std::uint8_t>(a);
  i.bytes = static_cast<std::uint8_t>(b);
  if (d.words[5] == "f16") i.flags |= kHalf;
  const auto sums = static_cast<std::size_t>(i.offset / (i.flags & kHalf ? 4 : 2));
  for (const syntax::Operand& part : d.list(0, sums)) i.more.push_back(d.destination(part, 4));
  if (d.operand(1).kind == syntax::Operand::Kind::vector) {
    i.flags |= kARegisters;
    const auto registers = d.list(1, 4);
    for (std::size_t n = 0; n < 4; ++n) i.at[n] = d.source(registers[n], 4);
  } else {
    i.at[0] = d.source(1, 8);
  }
  i.at[4] = d.source(2, 8);
  i.at[5] = d.predicate(3);
  const auto negative = [&](std::size_t n) { return static_cast<std::int32_t>(d.number(n)) < 0; };
  if (negative(4)) i.flags |= kNegateA;
  if (negative(5)) i.flags |= kNegateB;
  const bool registers = (i.flags & kARegisters) != 0;
  if (bytes_of_format(a) == 2) {  // others have no trans-a and no trans-b
    if (!registers && d.number(6) != 0) i.flags |= kTransposeA;
    if (d.number(registers ? 6 : 7) != 0) i.flags |= kTransposeB;
  }
  d.together();
}

void decode_wgmma(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.words[1] == "mma_async") return decode_multiply(d);
  if (d.words[1] == "fence") {
    i.run = run_fence;
  } else if (d.words[1] == "commit_group") {
    i.run = run_commit;
  } else if (d.words[1] == "wait_group") {
    i.run = run_wait;
    i.target = d.groups_left(0);
  } else {
    d.unknown();
  }
  d.together();
}

void decode_registers(Decoder& d) {
  d.instruction.run = run_registers;
  d.instruction.offset = static_cast<std::int64_t>(d.number(0));
  d.together();
}

constexpr Opcode kOpcodes[] = {{"wgmma", decode_wgmma}, {"setmaxnreg", decode_registers}};

}  // namespace

std::span<const Opcode> warpgroup_opcodes() { return kOpcodes; }

void check_registers(Context& c, const Instruction& i) {
  if (i.run == run_multiply || i.run == run_wait || c.mask == 0) return;
  const auto& sums = c.warp.wgmma.sums;
  const auto busy = [&](std::uint32_t place) { return place != 0 && sums.contains(place); };
  if (i.run == copy_local || (std::ranges::none_of(i.at, busy))) return;
  c.report(Kind::in_flight, i, static_cast<std::uint32_t>(std::countr_zero(c.mask)), {},
           "it uses a register whose sums a wgmma still has under way; wgmma.wait_group must come "
           "before");
}

}  // namespace halftone::simulator
