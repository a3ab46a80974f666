// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and mma.sync: PTX ISA 9.0, 9.7.14.5. Whole warps; fragments as matrix.hpp
// says.
#include <span>

#include "access.hpp"
#include "lanes.hpp"
#include "matrix.hpp"
#include "matrix_sums.hpp"

namespace halftone::simulator {

namespace {

/// The 8 rows of 16 bytes of each of `count` matrices: lane 8 * m + r gives the address of row r of
/// matrix m.
bool gather_rows(Context& c, const Instruction& i, Use use, std::uint32_t count, Access& rows) {
  rows.space = i.space;
  rows.use = use;
  rows.bytes = 16;
  gather_addresses(c, i, i.at[16], rows);
  if (count < 4) rows.mask &= (1u << (8 * count)) - 1;
  const std::uint32_t wanted = rows.mask;
  if (rows.space == Space::generic) {
    rows.space = Space::shared;
    for (std::uint64_t& address : rows.address) address -= kSharedWindow;
  }
  resolve_in_space(c, i, rows);
  told(c, i, rows);
  return rows.mask == wanted;
}

/// ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16
void run_ldmatrix(Context& c, const Instruction& i) {
  Access rows;
  const bool whole = gather_rows(c, i, Use::read, i.width, rows);
  for (std::uint32_t m = 0; m < i.width; ++m) {
    std::array<std::array<std::uint16_t, 8>, 8> matrix;
    for (std::uint32_t r = 0; r < 8; ++r) {
      if (whole || (rows.mask >> (8 * m + r) & 1))
        std::memcpy(matrix[r].data(), rows.data[8 * m + r], 16);
      else
        matrix[r].fill(0xffff);
    }
    std::uint32_t* to = c.plane(i.at[m]);
    for (int l = 0; l < 32; ++l) {
      const Position low = m8n8_position(i.variant != 0, l, 0),
                     high = m8n8_position(i.variant != 0, l, 1);
      to[l] = matrix[low.row][low.column] |
              static_cast<std::uint32_t>(matrix[high.row][high.column]) << 16;
    }
  }
}

void run_stmatrix(Context& c, const Instruction& i) {
  Access rows;
  gather_rows(c, i, Use::write, i.width, rows);
  for (std::uint32_t m = 0; m < i.width; ++m) {
    std::array<std::array<std::uint16_t, 8>, 8> matrix;
    const std::uint32_t* from = c.plane(i.at[m]);
    for (int l = 0; l < 32; ++l)
      for (int e = 0; e < 2; ++e) {
        const Position p = m8n8_position(i.variant != 0, l, e);
        matrix[p.row][p.column] = static_cast<std::uint16_t>(from[l] >> (16 * e));
      }
    for (std::uint32_t r = 0; r < 8; ++r)
      if (rows.mask >> (8 * m + r) & 1) std::memcpy(rows.data[8 * m + r], matrix[r].data(), 16);
  }
}

void place_registers(Decoder& d, std::size_t operand, std::size_t first, std::size_t count,
                     bool write) {
  const auto registers = d.list(operand, count);
  for (std::size_t n = 0; n < count; ++n)
    d.instruction.at[first + n] =
        write ? d.destination(registers[n], 4) : d.source(registers[n], 4);
}

void decode_matrix_rows(Decoder& d) {
  Instruction& i = d.instruction;
  const bool load = d.words[0] == "ldmatrix";
  if (!d.has("m8n8") || d.type() != Type::b16) d.unknown();
  i.space = d.has_any({"shared", "shared::cta"}) ? Space::shared : Space::generic;
  i.variant = d.has("trans");
  i.width = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
  place_registers(d, load ? 0 : 1, 0, i.width, load);
  i.at[16] = d.address(d.operand(load ? 1 : 0), i);
  i.run = load ? run_ldmatrix : run_stmatrix;
  d.together();
}

/// The value of element `position` of a register.
template <NumberFormat kFormat>
float element(std::uint32_t word, int position) {
  if constexpr (kFormat == NumberFormat::f16)
    return f16_value(static_cast<std::uint16_t>(word >> (16 * position)));
  if constexpr (kFormat == NumberFormat::bf16)
    return bf16_value(static_cast<std::uint16_t>(word >> (16 * position)));
  if constexpr (kFormat == NumberFormat::tf32) return std::bit_cast<float>(word & 0xffffe000u);
  if constexpr (kFormat == NumberFormat::e2m1) return decode(kFormat, word >> (4 * position) & 0xf);
  return decode(kFormat, word >> (8 * position) & 0xff);
}

/// Where element e of lane l lies in a row-major A, B or C: index 32 * e + l.
template <int kElements, class PositionOf>
constexpr std::array<std::uint16_t, 32 * kElements> places_of(int columns, PositionOf position) {
  std::array<std::uint16_t, 32 * kElements> places{};
  for (int e = 0; e < kElements; ++e)
    for (int l = 0; l < 32; ++l) {
      const Position p = position(l, e);
      places[static_cast<std::size_t>(32 * e + l)] =
          static_cast<std::uint16_t>(p.row * columns + p.column);
    }
  return places;
}

template <NumberFormat kFormat>
constexpr int kPackedOf = kFormat == NumberFormat::tf32                                   ? 1
                          : kFormat == NumberFormat::f16 || kFormat == NumberFormat::bf16 ? 2
                          : kFormat == NumberFormat::e2m1                                 ? 8
                                                                                          : 4;

template <NumberFormat kFormat, int kElements>
[[gnu::always_inline]] inline void scatter(const Context& c, const std::uint32_t* registers,
                                           const std::array<std::uint16_t, 32 * kElements>& places,
                                           float* to) {
  constexpr int kPacked = kPackedOf<kFormat>;
  for (int e = 0; e < kElements; ++e) {
    const std::uint32_t* from = c.plane(registers[e / kPacked]);
    alignas(64) float values[32];
    for (int l = 0; l < 32; ++l) values[l] = element<kFormat>(from[l], e % kPacked);
    for (int l = 0; l < 32; ++l) to[places[static_cast<std::size_t>(32 * e + l)]] = values[l];
  }
}

/// Instruction::flags of mma: how many scales a row of A and a column of B have, none where there
/// is no .block_scale, whether they are ue4m3, and a byte of ids for each operand.
constexpr std::uint32_t kMostScales = 7, kIsUe4m3 = 8;

/// Which bytes of a scale's register are taken, from the first one on, and from which lanes of
/// four: of A two, of B one.
struct ScaleChoice {
  std::uint32_t byte, lane;
  bool is_ue4m3;

  [[nodiscard]] float of(const std::uint32_t* plane, int row, int odd, std::uint32_t part) const {
    const std::uint32_t word = plane[4 * row + static_cast<int>(lane) + odd];
    const std::uint32_t code = word >> (8 * (byte + part)) & 0xff;
    return is_ue4m3 ? decode(NumberFormat::e4m3, code & 0x7f) : decode(NumberFormat::ue8m0, code);
  }
};

ScaleChoice choice_of(std::uint32_t flags, int operand) {
  const std::uint32_t ids = flags >> (8 + 8 * operand);
  return {ids & 15, ids >> 4 & 15, (flags & kIsUe4m3) != 0};
}

/// .scale_vec (9.7.14.3): each of so many parts of a row of A and of a column of B by a scale, row
/// g's from the first of two lanes of a quad and g + 8's from the other. Codes times scales are
/// exact, or infinite.
void scale_blocks(const Context& c, const Instruction& i, std::span<float> a, std::span<float> b) {
  const ScaleChoice of_a = choice_of(i.flags, 0), of_b = choice_of(i.flags, 1);
  const std::size_t depth = b.size() / 8, part = depth / (i.flags & kMostScales);
  for (std::size_t e = 0; e < a.size(); ++e) {
    const int row = static_cast<int>(e / depth);
    a[e] *=
        of_a.of(c.plane(i.at[14]), row % 8, row / 8, static_cast<std::uint32_t>(e % depth / part));
  }
  for (std::size_t e = 0; e < b.size(); ++e)
    b[e] *= of_b.of(c.plane(i.at[15]), static_cast<int>(e % 8), 0,
                    static_cast<std::uint32_t>(e / 8 / part));
}

/// mma.sync.aligned.m16n8kK.row.col: at[0..3] D, at[4..7] A, at[8..9] B, at[10..13] C, at[14] and
/// at[15] the scales of A and B; kHalf: two f16 accumulators in a register.
template <NumberFormat kA, NumberFormat kB, int kDepth, bool kHalf>
[[gnu::always_inline]] inline void multiply(Context& c, const Instruction& i) {
  constexpr int kPackedA = kPackedOf<kA>, kPackedB = kPackedOf<kB>;
  static constexpr auto kPlacesA =
      places_of<kDepth / 2>(kDepth, [](int l, int e) { return a_position(kPackedA, l, e); });
  static constexpr auto kPlacesB =
      places_of<kDepth / 4>(8, [](int l, int e) { return b_position(kPackedB, l, e); });
  static constexpr auto kPlacesC = places_of<4>(8, [](int l, int e) { return c_position(l, e); });
  constexpr NumberFormat kSum = kHalf ? NumberFormat::f16 : NumberFormat::tf32;
  alignas(64) float a[16 * kDepth], b[kDepth * 8], sums[16 * 8];
  scatter<kA, kDepth / 2>(c, &i.at[4], kPlacesA, a);
  scatter<kB, kDepth / 4>(c, &i.at[8], kPlacesB, b);
  if constexpr (kPackedA >= 4 && kDepth == 8 * kPackedA && !kHalf)
    if (i.flags & kMostScales) scale_blocks(c, i, a, b);
  if constexpr (kHalf) {
    scatter<kSum, 4>(c, &i.at[10], kPlacesC, sums);
  } else {
    for (std::size_t e = 0; e < 4; ++e)
      for (std::size_t l = 0; l < 32; ++l)
        sums[kPlacesC[32 * e + l]] = std::bit_cast<float>(c.plane(i.at[10 + e])[l]);
  }
  SumRules rules;
  rules.accumulator = kHalf ? AccumulatorFormat::f16 : AccumulatorFormat::f32;
  if (c.launch.options.accumulation == Accumulation::truncating)
    rules = truncating_rules(kPackedA < 4 ? 4 / kPackedA : 1, rules.accumulator);
  multiply_add(a, b, sums, sums, 16, 8, kDepth, rules);
  for (std::size_t e = 0; e < 4; ++e) {
    std::uint32_t* to = c.plane(i.at[kHalf ? e / 2 : e]);
    for (std::size_t l = 0; l < 32; ++l) {
      const float value = sums[kPlacesC[32 * e + l]];
      if constexpr (!kHalf)
        to[l] = std::bit_cast<std::uint32_t>(value);
      else
        to[l] = e % 2 == 0 ? f16_code(value)
                           : to[l] | static_cast<std::uint32_t>(f16_code(value)) << 16;
    }
  }
  c.launch.counters.tensor_operations += 2ull * 16 * 8 * kDepth;
}

template <NumberFormat kA, NumberFormat kB, int kDepth, bool kHalf>
void run_mma(Context& c, const Instruction& i) {
  multiply<kA, kB, kDepth, kHalf>(c, i);
}
#if defined(__x86_64__)
template <NumberFormat kA, NumberFormat kB, int kDepth, bool kHalf>
[[gnu::target("avx2,fma,bmi2")]] void run_mma_avx2(Context& c, const Instruction& i) {
  multiply<kA, kB, kDepth, kHalf>(c, i);
}
#endif

template <NumberFormat kA, NumberFormat kB, int kDepth>
Execute mma_of(bool half) {
#if defined(__x86_64__)
  if (has_avx2())
    return half ? run_mma_avx2<kA, kB, kDepth, true> : run_mma_avx2<kA, kB, kDepth, false>;
#endif
  return half ? run_mma<kA, kB, kDepth, true> : run_mma<kA, kB, kDepth, false>;
}

/// Of the depths that the formats have; null for others.
template <NumberFormat kA, NumberFormat kB>
Execute mma_of(int depth, bool half) {
  constexpr int kPacked = kPackedOf<kA>;
  if (depth == 4 * kPacked) return mma_of<kA, kB, 4 * kPacked>(half);
  if (depth == 8 * kPacked) return mma_of<kA, kB, 8 * kPacked>(half);
  return nullptr;
}

/// Of one operand: its register, and the numbers of the first byte and of a thread.
std::uint32_t place_scale(Decoder& d, std::size_t first, std::size_t place, std::uint32_t threads,
                          std::uint32_t scales) {
  d.instruction.at[place] = d.source(d.list(first, 1)[0], 4);
  const auto ids = d.list(first + 1, 2);
  for (const syntax::Operand& id : ids)
    if (id.kind != syntax::Operand::Kind::integer) d.unknown();
  if (ids[0].bits > 3 || ids[0].bits % scales != 0 || ids[1].bits >= threads) d.unknown();
  const std::uint64_t lane = threads == 2 ? 2 * ids[1].bits : ids[1].bits;
  return static_cast<std::uint32_t>(ids[0].bits | lane << 4);
}

/// .block_scale, with f32 sums: kind::mxf8f6f4 of two operands of 8 bits, mxf4 and mxf4nvf4 of two
/// of 4 bits (9.7.14.3, table 36).
void decode_block_scale(Decoder& d) {
  Instruction& i = d.instruction;
  const bool is_mxf4 = d.has("kind::mxf4"), is_nvf4 = d.has("kind::mxf4nvf4"),
             is_scaled = d.has("block_scale");
  if (is_scaled != (d.has("kind::mxf8f6f4") || is_mxf4 || is_nvf4)) d.unknown();
  const std::uint32_t stated = d.has("scale_vec::1X")   ? 1
                               : d.has("scale_vec::2X") ? 2
                               : d.has("scale_vec::4X") ? 4
                                                        : 0;
  if (!is_scaled) {
    if (stated != 0) d.unknown();
    return;
  }
  if (d.types.size() != 5 || d.types[0] != Type::f32) d.unknown();
  const bool is_ue4m3 = d.types[4] == Type::ue4m3;
  const bool is_of_4_bits = d.types[1] == Type::e2m1 && d.types[2] == Type::e2m1;
  const std::uint32_t scales = stated != 0 ? stated : is_mxf4 ? 2 : is_nvf4 ? 0 : 1;
  const bool fits = is_mxf4   ? scales == 2 && !is_ue4m3
                    : is_nvf4 ? scales == 4 || (scales == 2 && !is_ue4m3)
                              : scales == 1 && !is_ue4m3;
  if (!fits || (!is_ue4m3 && d.types[4] != Type::ue8m0) || is_of_4_bits != (is_mxf4 || is_nvf4) ||
      !d.has(is_of_4_bits ? "m16n8k64" : "m16n8k32"))
    d.unknown();
  i.flags = scales | (is_ue4m3 ? kIsUe4m3 : 0) | place_scale(d, 4, 14, 2, scales) << 8 |
            place_scale(d, 6, 15, 4, scales) << 16;
  d.types.pop_back();
}

void decode_mma(Decoder& d) {
  Instruction& i = d.instruction;
  if (!d.has("sync") || d.has_any({"sp", "satfinite"})) d.unknown();
  decode_block_scale(d);
  const int depth = d.has("m16n8k4")    ? 4
                    : d.has("m16n8k8")  ? 8
                    : d.has("m16n8k16") ? 16
                    : d.has("m16n8k32") ? 32
                    : d.has("m16n8k64") ? 64
                                        : 0;
  if (depth == 0 || d.types.size() != 4) d.unknown();
  const Type a = d.types[1], b = d.types[2];
  const int packed = a == Type::tf32 ? 1 : a == Type::e2m1 ? 8 : bytes_of(a) == 2 ? 2 : 4;
  if (d.types[0] != d.types[3] || (a == Type::e2m1 && i.flags == 0)) d.unknown();
  const std::size_t accumulators = d.types[0] == Type::f16 ? 2 : 4;
  place_registers(d, 0, 0, accumulators, true);
  place_registers(d, 1, 4, static_cast<std::size_t>(depth / 2 / packed), false);
  place_registers(d, 2, 8, static_cast<std::size_t>(depth / 4 / packed), false);
  place_registers(d, 3, 10, accumulators, false);
  const bool half = d.types[0] == Type::f16;
  const auto with = [&]<NumberFormat kA, NumberFormat kB>() {
    i.run = mma_of<kA, kB>(depth, half);
  };
  using N = NumberFormat;
  if (a == Type::e2m1 && b == Type::e2m1 && depth == 64)
    i.run = mma_of<N::e2m1, N::e2m1, 64>(false);
  if (a == Type::f16 && b == Type::f16) with.template operator()<N::f16, N::f16>();
  if (a == Type::bf16 && b == Type::bf16) with.template operator()<N::bf16, N::bf16>();
  if (a == Type::tf32 && b == Type::tf32) with.template operator()<N::tf32, N::tf32>();
  if (a == Type::e4m3 && b == Type::e4m3) with.template operator()<N::e4m3, N::e4m3>();
  if (a == Type::e4m3 && b == Type::e5m2) with.template operator()<N::e4m3, N::e5m2>();
  if (a == Type::e5m2 && b == Type::e4m3) with.template operator()<N::e5m2, N::e4m3>();
  if (a == Type::e5m2 && b == Type::e5m2) with.template operator()<N::e5m2, N::e5m2>();
  if (!i.run) d.unknown();
  d.together();
}

constexpr Opcode kOpcodes[] = {
    {"ldmatrix", decode_matrix_rows}, {"stmatrix", decode_matrix_rows}, {"mma", decode_mma}};

}  // namespace

std::span<const Opcode> matrix_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
