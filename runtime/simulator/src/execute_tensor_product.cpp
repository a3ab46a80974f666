// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma and tcgen05.cp: PTX ISA 9.0, 9.7.16.8.2 and 9.7.16.10, of two operands of 8 bits in
// shared memory, or of two of 4.
#include <bit>
#include <optional>
#include <string>

#include "formats.hpp"
#include "matrix_sums.hpp"
#include "shared_target.hpp"
#include "tensor_map.hpp"
#include "tensor_work.hpp"

namespace halftone::simulator {

namespace {

constexpr int kRows = 128, kDepthBytes = 32;  // of a product

//===--- Operands in shared memory ---===//

/// 9.7.16.4.1, table 40.
struct Source {
  MatrixDescriptor layout;
  bool k_major = true;
  int lines = 0, bytes = 0;  ///< lines of A or B, or rows of a copy; of each, bytes along k

  template <class Visit>
  void each_unit(Visit visit) const {
    for (int mn = 0; mn < lines; mn += k_major ? 1 : 16)
      for (int k = 0; k < bytes; k += k_major ? 16 : 1)
        visit(descriptor_address(layout, k_major, 1, mn, k), mn, k);
  }
};

std::optional<MatrixDescriptor> layout_of(Context& c, const Instruction& i, std::uint64_t bits) {
  const auto field = [bits](int low, int count) {
    return static_cast<std::uint32_t>(bits >> low & ((std::uint64_t{1} << count) - 1));
  };
  const auto refuse = [&](const char* why) {
    c.report(Kind::invalid, i, lane_of(c), {}, why);
    return std::nullopt;
  };
  if (field(46, 3) != 1) return refuse("bits 46 to 48 of a matrix descriptor must be 0b001");
  if (field(53, 8) != 0 || field(14, 2) != 0 || field(30, 2) != 0)
    return refuse("bits 14, 15, 30, 31 and 53 to 60 of a matrix descriptor must be 0");
  if (field(49, 3) != 0 || field(52, 1) != 0)
    return refuse(
        "a matrix descriptor with a base offset or an absolute address cannot be simulated");
  Swizzle swizzle = Swizzle::none;
  switch (field(61, 3)) {
    case 0:
      break;
    case 2:
      swizzle = Swizzle::span128;
      break;
    case 4:
      swizzle = Swizzle::span64;
      break;
    case 6:
      swizzle = Swizzle::span32;
      break;
    default:
      return refuse("operands of 8 bits have a swizzle of 0, 2, 4 or 6");
  }
  return MatrixDescriptor{field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, 0, swizzle};
}

bool check_source(Context& c, const Instruction& i, const Source& source,
                  std::vector<Stretch>& touched) {
  bool fits = true;
  source.each_unit([&](std::uint32_t address, int, int) {
    fits = fits && check_shared(c, i, lane_of(c), {&c.block, address}, 16, 16);
    if (!fits) return;
    check_set_shared(c, i, lane_of(c), {&c.block, address}, 16, false);
    touched.push_back({Touch::read, c.block.racing.get(), address, 16, true});
  });
  return fits;
}

/// tcgen05.cp.32x128b.warpx4: 9.7.16.8.2.
void run_copy(Context& c, const Instruction& i) {
  if (!is_alone(c, i)) return;
  const std::uint32_t lane = lane_of(c);
  const auto to = static_cast<std::uint32_t>(addresses_at(c, i, 0)[lane]);
  const auto layout = layout_of(c, i, c.plane<std::uint64_t>(i.at[0])[lane]);
  if (!layout) return;
  const TensorRegion region{to & 0xffff, 4};
  if (to >> 16 != 0)
    return c.report(Kind::misaligned, i, lane, {"tensor", {}, to & 0xffff},
                    "a copy for all quarters goes to lane 0");
  if (!check_region(c, i, region)) return;
  const Source source{*layout, true, 32, 16};
  TensorWork work;
  if (!check_source(c, i, source, work.sources)) return;
  work.written = {region};
  work.run = [&block = c.block, source, region] {
    TensorMemory& memory = block.async.tensor;
    source.each_unit([&](std::uint32_t address, int row, int) {
      for (std::uint32_t q = 0; q < kTensorQuarters; ++q)
        for (std::uint32_t k = 0; k < 4; ++k) {
          const std::uint32_t at = 32 * q + static_cast<std::uint32_t>(row);
          std::memcpy(&memory.cell(at, region.column + k), block.shared.data() + address + 4 * k,
                      4);
          memory.set[at * kTensorColumns + region.column + k] = true;
        }
    });
  };
  begin_tensor_work(c, i, std::move(work));
}

//===--- Products ---===//

/// Instruction::flags: how many scales a row of A and a column of B have, none without
/// .block_scale, and whether operands are of 4 bits.
constexpr std::uint32_t kMostScales = 7, kIsOf4Bits = 8;

std::uint32_t scales_of(const Instruction& i) { return i.flags & kMostScales; }
bool is_of_4_bits(const Instruction& i) { return (i.flags & kIsOf4Bits) != 0; }

/// 9.7.16.4.2, tables 42 (kind::f8f6f4), 43 (kind::mxf8f6f4) and 44 (kind::mxf4, kind::mxf4nvf4).
struct Product {
  NumberFormat a, b;
  bool negates_a, negates_b, transposes_a, transposes_b;
  int columns, depth;
  NumberFormat scales = NumberFormat::ue8m0;
  std::uint32_t a_byte = 0, b_byte = 0;  ///< of words of scales, the first
};

std::optional<Product> product_of(Context& c, const Instruction& i, std::uint32_t bits) {
  const bool is_scaled = scales_of(i) > 0, is_packed = is_of_4_bits(i);
  const auto field = [bits](int low, int count) { return bits >> low & ((1u << count) - 1); };
  const auto refuse = [&](const char* why) {
    c.report(Kind::invalid, i, lane_of(c), {}, why);
    return std::nullopt;
  };
  if (is_packed && (field(7, 3) != 1 || field(10, 2) != 1))
    return refuse("operands of kind::mxf4 and kind::mxf4nvf4 are E2M1: their formats are 1");
  if (is_packed && (field(12, 1) != 0 || field(15, 2) != 0))
    return refuse(
        "bit 12 of an instruction descriptor of 4 bits must be 0, and nothing transposed");
  if (!is_packed && (field(7, 3) > 1 || field(10, 3) > 1))
    return refuse(
        "an instruction descriptor whose formats are not E4M3 and E5M2 cannot be "
        "simulated");
  if (field(0, 4) != 0 || field(6, 1) != 0)
    return refuse("bits 0 to 3 and 6 of an instruction descriptor must be 0");
  const auto format = [&](std::uint32_t code) {
    if (is_packed) return NumberFormat::e2m1;
    return code == 0 ? NumberFormat::e4m3 : NumberFormat::e5m2;
  };
  Product product{format(field(7, 3)),
                  format(field(10, 2)),
                  field(13, 1) != 0,
                  field(14, 1) != 0,
                  field(15, 1) != 0,
                  field(16, 1) != 0,
                  static_cast<int>(field(17, 6)) * 8,
                  is_packed ? 2 * kDepthBytes : kDepthBytes};
  if (is_scaled) {
    const bool is_ue4m3 = scales_of(i) == 4;
    if (is_ue4m3 && field(23, 1) != 0)
      return refuse("only scales of UE4M3 can be simulated with scale_vec::4X: bit 23 must be 0");
    if (!is_ue4m3 && field(23, 1) != 1)
      return refuse("scales of scale_vec::1X and 2X are UE8M0: bit 23 must be 1");
    product.scales = is_ue4m3 ? NumberFormat::e4m3 : NumberFormat::ue8m0;
    if (field(24, 3) != 0 || field(31, 1) != 0)
      return refuse("bits 24 to 26 and 31 of an instruction descriptor must be 0");
    if (field(27, 2) != 1) return refuse("only products of 128 rows can be simulated");
    product.b_byte = field(4, 2);
    product.a_byte = field(29, 2);
    if (product.a_byte % scales_of(i) != 0 || product.b_byte % scales_of(i) != 0)
      return refuse("scales of scale_vec::2X begin at byte 0 or 2 of a word, those of 4X at 0");
  } else {
    if (field(4, 2) != 1)
      return refuse("only sums of F32 can be simulated: bits 4 and 5 must be 1");
    if (field(23, 1) != 0 || field(29, 3) != 0)
      return refuse("bits 23 and 29 to 31 of an instruction descriptor must be 0");
    if (field(24, 5) != kRows >> 4) return refuse("only products of 128 rows can be simulated");
  }
  const int step = is_scaled ? 8 : 16;
  if (product.columns < step || product.columns > 256 || product.columns % step != 0)
    return refuse("a product of 128 rows has columns in steps of 16, with scales of 8, up to 256");
  return product;
}

/// values[mn * depth + k] or, by_k, values[k * lines + mn]. Of 4 bits a byte is two places, the
/// first in its lower half.
std::vector<float> fetch(const Block& block, const Source& source, NumberFormat format, bool by_k,
                         bool negates) {
  const int places = format == NumberFormat::e2m1 ? 2 : 1, depth = places * source.bytes;
  std::vector<float> values(static_cast<std::size_t>(source.lines * depth));
  const auto put = [&](int line, int place, std::uint32_t code) {
    const float value = decode(format, code);
    values[static_cast<std::size_t>(by_k ? place * source.lines + line : line * depth + place)] =
        negates ? -value : value;
  };
  source.each_unit([&](std::uint32_t address, int mn, int k) {
    for (int e = 0; e < 16; ++e) {
      const int line = source.k_major ? mn : mn + e, place = places * (source.k_major ? k + e : k);
      const auto code =
          static_cast<std::uint32_t>(block.shared[address + static_cast<unsigned>(e)]);
      if (places == 1) {
        put(line, place, code);
      } else {
        put(line, place, code & 15);
        put(line, place + 1, code >> 4);
      }
    }
  });
  return values;
}

/// The scales of an operand, each line's word in lane line % 32 and column line / 32: 9.7.16.10.7.2
/// of A and .3 of B. All quarters of the lanes have the same, as no other copy writes scales.
struct ScaleWords {
  TensorMemory& memory;
  std::uint32_t column, byte;
  NumberFormat format;
  bool& are_set;  ///< whether some copy wrote all that were asked for

  [[nodiscard]] float operator()(int line, int number) const {
    const auto at = static_cast<std::uint32_t>(line);
    const std::uint32_t lane = at % 32, in = column + at / 32;
    are_set = are_set && memory.set[lane * kTensorColumns + in];
    const std::uint32_t code =
        memory.cell(lane, in) >> 8 * (byte + static_cast<std::uint32_t>(number)) & 0xff;
    return decode(format, format == NumberFormat::e4m3 ? code & 0x7f : code);
  }
};

struct Multiplication {
  Execution& launch;
  Block& block;
  const Instruction& i;
  std::uint32_t thread;
  Product product;
  Source a, b;
  std::uint32_t sums, a_scales, b_scales;  ///< columns
  bool accumulates;

  void run() const;
  void report(Kind kind, std::string detail) const;
};

void Multiplication::report(Kind kind, std::string detail) const {
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch.kernel.name;
  finding.opcode = i.opcode;
  set_lines(finding, launch.kernel, i);
  finding.space = "tensor";
  finding.block = block.index;
  finding.thread = thread;
  finding.detail = std::move(detail);
  launch.findings.add(std::move(finding));
}

void Multiplication::run() const {
  TensorMemory& memory = block.async.tensor;
  const int n = product.columns, depth = product.depth, scales = static_cast<int>(scales_of(i));
  std::vector<float> left = fetch(block, a, product.a, false, product.negates_a),
                     right = fetch(block, b, product.b, true, product.negates_b);
  if (scales > 0) {
    bool are_set = true;
    const ScaleWords of_a{memory, a_scales, product.a_byte, product.scales, are_set};
    const ScaleWords of_b{memory, b_scales, product.b_byte, product.scales, are_set};
    for (int number = 0; number < scales; ++number) {
      const int first = depth / scales * number, end = first + depth / scales;
      for (int row = 0; row < kRows; ++row) {
        const float scale = of_a(row, number);
        for (int k = first; k < end; ++k) left[static_cast<std::size_t>(row * depth + k)] *= scale;
      }
      for (int column = 0; column < n; ++column) {
        const float scale = of_b(column, number);
        for (int k = first; k < end; ++k) right[static_cast<std::size_t>(k * n + column)] *= scale;
      }
    }
    if (!are_set && launch.options.check)
      report(Kind::uninitialised, "it multiplies by scales that nothing has written");
  }
  std::vector<float> all(static_cast<std::size_t>(kRows * n), 0.0f);
  bool all_set = true;
  for (std::uint32_t row = 0; row < kRows; ++row)
    for (std::uint32_t column = 0; column < static_cast<std::uint32_t>(n); ++column) {
      const std::size_t place = row * static_cast<std::uint32_t>(n) + column;
      if (accumulates) {
        all_set = all_set && memory.set[row * kTensorColumns + sums + column];
        all[place] = std::bit_cast<float>(memory.cell(row, sums + column));
      }
      memory.set[row * kTensorColumns + sums + column] = true;
    }
  if (!all_set && launch.options.check)
    report(Kind::uninitialised, "it adds to sums that nothing has written");
  SumRules rules;
  if (launch.options.accumulation == Accumulation::truncating)
    rules = truncating_rules(1, AccumulatorFormat::f32);
  multiply_add(left.data(), right.data(), all.data(), all.data(), kRows, n, depth, rules);
  for (std::uint32_t row = 0; row < kRows; ++row)
    for (std::uint32_t column = 0; column < static_cast<std::uint32_t>(n); ++column)
      memory.cell(row, sums + column) =
          std::bit_cast<std::uint32_t>(all[row * static_cast<std::uint32_t>(n) + column]);
}

/// more: D's address, those of scales; at[0], at[1]: descriptors of A and B, at[2]: that of the
/// instruction, at[3]: enable-input-d.
void run_multiply(Context& c, const Instruction& i) {
  if (!is_alone(c, i)) return;
  const std::uint32_t lane = lane_of(c);
  const bool is_scaled = scales_of(i) > 0;
  const auto product = product_of(c, i, c.plane(i.at[2])[lane]);
  if (!product) return;
  const auto a_layout = layout_of(c, i, c.plane<std::uint64_t>(i.at[0])[lane]);
  const auto b_layout = layout_of(c, i, c.plane<std::uint64_t>(i.at[1])[lane]);
  if (!a_layout || !b_layout) return;
  const auto address = [&](std::uint32_t where) {
    return static_cast<std::uint32_t>(addresses_at(c, i, where)[lane]);
  };
  const auto columns = static_cast<std::uint32_t>(product->columns);
  const std::uint32_t sums = address(0), a_scales = is_scaled ? address(3) : 0,
                      b_scales = is_scaled ? address(6) : 0;
  TensorWork work;
  work.written = {{sums & 0xffff, columns}};
  if (is_scaled)
    work.read = {{a_scales & 0xffff, kRows / 32}, {b_scales & 0xffff, (columns + 31) / 32}};
  if ((sums | a_scales | b_scales) >> 16 != 0)
    return c.report(Kind::misaligned, i, lane, {"tensor", {}, sums & 0xffff},
                    "sums and scales of 128 rows begin in lane 0");
  for (const auto* regions : {&work.read, &work.written})
    for (const TensorRegion& region : *regions)
      if (!check_region(c, i, region)) return;
  const Source a{*a_layout, !product->transposes_a, kRows, kDepthBytes},
      b{*b_layout, !product->transposes_b, product->columns, kDepthBytes};
  if (!check_source(c, i, a, work.sources) || !check_source(c, i, b, work.sources)) return;
  const Multiplication multiplication{c.launch,
                                      c.block,
                                      i,
                                      thread_of(c),
                                      *product,
                                      a,
                                      b,
                                      sums & 0xffff,
                                      a_scales & 0xffff,
                                      b_scales & 0xffff,
                                      (c.predicate(i.at[3]) >> lane & 1) != 0};
  work.run = [multiplication] { multiplication.run(); };
  begin_tensor_work(c, i, std::move(work));
  c.launch.counters.tensor_operations +=
      2ull * kRows * columns * static_cast<std::uint32_t>(product->depth);
}

}  // namespace

void decode_tensor_copy_in(Decoder& d) {
  d.instruction.run = run_copy;
  place_address(d, d.operand(0));
  d.instruction.at[0] = d.source(1, 8);
}

void decode_tensor_product(Decoder& d) {
  Instruction& i = d.instruction;
  i.run = run_multiply;
  const bool is_scaled = d.has("block_scale");
  const std::uint32_t scales = d.has("kind::mxf8f6f4")   ? 1
                               : d.has("kind::mxf4")     ? 2
                               : d.has("kind::mxf4nvf4") ? 4
                                                         : 0;
  if (is_scaled != (scales > 0)) d.unknown();
  i.flags = scales | (scales > 1 ? kIsOf4Bits : 0);
  place_address(d, d.operand(0));
  i.at[0] = d.source(1, 8);
  i.at[1] = d.source(2, 8);
  i.at[2] = d.source(3, 4);
  if (is_scaled) {
    place_address(d, d.operand(4));
    place_address(d, d.operand(5));
  }
  i.at[3] = d.predicate(is_scaled ? 6 : 4);
}

}  // namespace halftone::simulator
