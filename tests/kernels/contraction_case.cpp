// SPDX-License-Identifier: Apache-2.0
#include "contraction_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <sstream>

#include "halftone/simulator/module.hpp"
#include "tensor_map.hpp"

namespace halftone::tests {
namespace {

using description::Element;

constexpr long long kChunk = 128;  // N3

/// (batch, extent, depth) as the operand lies in memory.
std::vector<float> in_memory(const std::vector<float>& operand, int batch, long long depth,
                             bool along_extent) {
  if (!along_extent) return operand;
  const long long elements = static_cast<long long>(operand.size()) / batch;
  const long long extent = elements / depth;
  std::vector<float> result(operand.size());
  for (long long first = 0; first < batch * elements; first += elements) {
    for (long long i = 0; i < extent; ++i) {
      for (long long k = 0; k < depth; ++k)
        result[first + k * extent + i] = operand[first + i * depth + k];
    }
  }
  return result;
}

/// Codes times the scales of their blocks, which lie by lines and places, too.
std::vector<float> numbers_of(const std::vector<float>& codes, const std::vector<float>& scales,
                              const ScaledBlocks& blocks, long long depth) {
  const long long pitch = (depth + blocks.places - 1) / blocks.places;
  std::vector<float> numbers(codes.size());
  for (std::size_t at = 0; at < codes.size(); ++at) {
    const long long line = static_cast<long long>(at) / depth;
    const long long place = static_cast<long long>(at) % depth;
    numbers[at] = codes[at] * scales[line / blocks.lines * pitch + place / blocks.places];
  }
  return numbers;
}

/// Numbers from 1 to 2 that scales have beside powers of two.
enum class Between { none, of_f8e4m3, of_f32 };

/// Of blocks that lie side by side in no order, from 2^-6 to 2^6, and numbers between.
std::vector<float> scales_of(long long extent, long long depth, const ScaledBlocks& blocks,
                             Between between, int seed) {
  const long long lines = (extent + blocks.lines - 1) / blocks.lines;
  const long long parts = (depth + blocks.places - 1) / blocks.places;
  std::vector<float> scales;
  const int numbers = between == Between::none ? 1 : between == Between::of_f8e4m3 ? 8 : 1013;
  for (long long i = 0; i < lines * parts; ++i)
    scales.push_back(
        std::ldexp(1.0f + static_cast<float>(i * 5 % numbers) / static_cast<float>(numbers),
                   static_cast<int>((i * 7 + i / 5 * 3 + seed) % 13) - 6));
  return scales;
}

constexpr long long kPackedPlaces = 64;  // of a line, to eight words of codes and one of scales

/// Words of eight codes of 4 bits, the first in the lowest bits, zeros behind a line's end.
std::vector<std::byte> packed_codes(const std::vector<float>& codes, long long depth) {
  const long long words = (depth + kPackedPlaces - 1) / kPackedPlaces * (kPackedPlaces / 8);
  const long long lines = static_cast<long long>(codes.size()) / depth;
  std::vector<std::uint32_t> packed(static_cast<std::size_t>(lines * words));
  for (long long i = 0; i < lines; ++i)
    for (long long k = 0; k < depth; ++k)
      packed[i * words + k / 8] |=
          static_cast<std::uint32_t>(reference::encode({Element::f4e2m1}, codes[i * depth + k]))
          << (4 * (k % 8));
  std::vector<std::byte> bytes(4 * packed.size());
  std::memcpy(bytes.data(), packed.data(), bytes.size());
  return bytes;
}

/// A word of scales for every 64 places: four f8e4m3, or two fields of exponents.
std::vector<std::byte> packed_scales(const std::vector<float>& scales, const ScaledBlocks& blocks,
                                     long long depth) {
  const long long parts = (depth + blocks.places - 1) / blocks.places;
  const long long words = (depth + kPackedPlaces - 1) / kPackedPlaces;
  const long long of_word = kPackedPlaces / blocks.places;
  std::vector<std::byte> bytes(4 * scales.size() / parts * words);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const long long line = static_cast<long long>(i) / parts;
    const long long part = static_cast<long long>(i) % parts;
    const int code = blocks.places == 16     ? reference::encode({Element::f8e4m3}, scales[i])
                     : std::isnan(scales[i]) ? 255
                                             : std::ilogb(scales[i]) + 127;
    bytes[4 * (line * words + part / of_word) + part % of_word] = static_cast<std::byte>(code);
  }
  return bytes;
}

/// A matrix of bytes, or words, by boxes of 128 bytes along memory.
simulator::EncodedTensorMap map_of(const Buffer& matrix, long long lines, long long elements,
                                   int box_lines, std::uint32_t element_bytes = 1) {
  simulator::TensorMap map;
  map.address = matrix.address();
  map.element = element_bytes == 4 ? simulator::TensorElement::u32 : simulator::TensorElement::u8;
  map.swizzle = simulator::Swizzle::span128;
  map.rank = 2;
  map.extents = {static_cast<std::uint64_t>(elements), static_cast<std::uint64_t>(lines)};
  map.stride_bytes = {0, static_cast<std::uint64_t>(elements) * element_bytes};
  map.box = {128 / element_bytes, static_cast<std::uint32_t>(box_lines)};
  return simulator::encode_tensor_map(map);
}

constexpr int kMapThreads = 384, kMostBlocks = 3;  // of a launch, which has more tiles

/// As tensor_memory_contraction::Tile has them.
int scale_words(const Instance& instance) {
  if (!instance.lhs_blocks || instance.by_factors) return 0;
  return instance.is_of_4_bits() ? 4 : 1;
}
int memory_shared_bytes(const Instance& instance) {
  const int line = 128 + 4 * scale_words(instance);
  const int lines = 128 + instance.tile.columns;
  const int factors = instance.by_factors ? 4 * lines + 16 : 0;
  return instance.tile.stages * (lines * line + 16 + factors) + 48 + 16384;
}
std::string memory_tile(const Instance& instance) {
  return std::to_string(instance.tile.columns) + "," + std::to_string(instance.tile.stages) + "," +
         std::to_string(scale_words(instance)) + ",2," +
         (instance.tile.splits > 1 ? "true" : "false") + (instance.by_factors ? ",true" : ",false");
}

/// As warpgroup_contraction::Tile has them.
int group_shared_bytes(const Instance& instance) {
  const int lines = instance.tile.rows + instance.tile.columns;
  return instance.tile.stages * (lines * (128 + (instance.by_factors ? 4 : 0)) + 16) + 16384;
}
std::string group_tile(const Instance& instance) {
  return std::to_string(instance.tile.rows) + "," + std::to_string(instance.tile.columns) + "," +
         std::to_string(instance.tile.stages) + "," +
         (instance.groups_take_turns ? "true" : "false") + ",2," +
         (instance.tile.splits > 1 ? "true" : "false");
}

std::string tile_of(const Instance& instance) {
  if (instance.is_in_tensor_memory) return memory_tile(instance);
  return instance.is_by_groups ? group_tile(instance) : instance.tile.text();
}

int shared_bytes_of(const Instance& instance) {
  if (instance.is_in_tensor_memory) return memory_shared_bytes(instance);
  if (instance.is_by_groups) return group_shared_bytes(instance);
  const int scales_of_line = instance.by_factors   ? 2
                             : instance.lhs_blocks ? instance.tile.depth / 32
                                                   : 0;
  return instance.tile.shared_bytes(instance.element_bytes(), scales_of_line);
}

long long tiles_along(long long extent, long long tile) { return (extent + tile - 1) / tile; }
std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

std::string TilePlan::text() const {
  std::ostringstream out;
  out << rows << "," << columns << "," << depth << "," << warp_rows << "," << warp_columns << ","
      << stages << "," << lhs_bytes << "," << rhs_bytes << "," << splits;
  return out.str();
}

int TilePlan::shared_bytes(int element_bytes, int scales_of_line) const {
  const int line = depth * element_bytes + 4 * scales_of_line;
  return std::max(stages * (rows + columns) * line, 64 * columns * (rows / warp_rows) + 4 * rows);
}

std::string Instance::text() const {
  const auto name = [](Element format) -> std::string { return encoding::word(format); };
  const std::string formats = name(format) + (rhs() == format ? "" : " x " + name(rhs()));
  return "sm_" + chip + " " + formats + (promotes ? " promoted" : "") +
         (by_factors ? " by factors" : "") + (is_in_tensor_memory ? " in tensor memory" : "") +
         (transpose_lhs ? " lhs^T" : " lhs  ") + (transpose_rhs ? " rhs^T " : " rhs   ") +
         std::to_string(columns) + " columns, " + std::to_string(batch) + " products, tile " +
         tile.text();
}

Compilation compile(const Instance& instance, const std::string& target) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const auto name_of = [&](Element format) -> std::string {
    return instance.is_of_4_bits() ? "int" : element_name(format);
  };
  std::vector<std::string> macros = {
      std::string("ELEMENT=") + element_name(instance.element()),
      "RHS=" + name_of(instance.rhs()),
      "TILE=" + tile_of(instance),
      "COLUMNS=" + std::to_string(instance.columns),
      "WIDTH=" + std::to_string(instance.width),
      std::string("TRANSPOSE_LHS=") + flag(instance.transpose_lhs),
      std::string("TRANSPOSE_RHS=") + flag(instance.transpose_rhs),
      "BATCH=" + std::to_string(instance.batch),
      "LHS_SUM=" + std::to_string(static_cast<int>(instance.lhs_sum))};
  if (instance.is_of_8_bits()) {
    macros.push_back("LHS=" + name_of(instance.format));
    macros.push_back(std::string("PROMOTES=") + flag(instance.promotes));
  }
  if (instance.is_in_tensor_memory) macros.emplace_back("TENSOR_MEMORY");
  if (instance.is_by_groups) macros.emplace_back("WARP_GROUPS");
  if (instance.is_of_4_bits()) {
    macros.push_back("SCALE=int");
    macros.push_back("SCALE_PLACES=" + std::to_string(instance.lhs_blocks->places));
  } else if (instance.lhs_blocks) {
    macros.push_back("LHS_LINES=" + std::to_string(instance.lhs_blocks->lines));
    macros.push_back("LHS_PLACES=" + std::to_string(instance.lhs_blocks->places));
    macros.push_back("RHS_LINES=" + std::to_string(instance.rhs_blocks->lines));
    macros.push_back("RHS_PLACES=" + std::to_string(instance.rhs_blocks->places));
    if (instance.by_factors) macros.emplace_back("FACTORED");
  }
  return compile("contraction.cu", target + "_" + instance.chip, macros);
}

Operands operands(const Instance& instance, long long rows_of_one, long long depth) {
  const auto count = [](long long a, long long b) { return static_cast<std::size_t>(a * b); };
  const Element format = instance.format;
  const long long columns = instance.columns, rows = instance.batch * rows_of_one;
  Operands x = {.rows = rows,
                .columns = columns,
                .depth = depth,
                .lhs = drawn(count(rows, depth), format, 1),
                .rhs = drawn(count(instance.batch * columns, depth), instance.rhs(), 2),
                .input = drawn(count(rows, columns), instance.element(), 3),
                .bias = drawn(count(columns, 1), Element::f32, 4),
                .scale = drawn(count(rows, 1), Element::f32, 5)};
  if (!instance.lhs_blocks) return x;
  if (instance.is_of_4_bits())  // all of their sixteen codes
    for (std::vector<float>* codes : {&x.lhs, &x.rhs}) {
      *codes = drawn(codes->size(), Element::f32, codes == &x.lhs ? 1 : 2);
      for (float& code : *codes) code = reference::round({Element::f4e2m1}, 6.9f * code);
    }
  x.lhs_codes = x.lhs;
  x.rhs_codes = x.rhs;
  const Between between = instance.by_factors ? Between::of_f32
                          : instance.is_of_4_bits() && instance.lhs_blocks->places == 16
                              ? Between::of_f8e4m3
                              : Between::none;
  x.lhs_scales = scales_of(rows, depth, *instance.lhs_blocks, between, 1);
  x.rhs_scales = scales_of(columns, depth, *instance.rhs_blocks, between, 6);
  scale_blocks(instance, x);
  return x;
}

void scale_blocks(const Instance& instance, Operands& x) {
  x.lhs = numbers_of(x.lhs_codes, x.lhs_scales, *instance.lhs_blocks, x.depth);
  x.rhs = numbers_of(x.rhs_codes, x.rhs_scales, *instance.rhs_blocks, x.depth);
}

Outcome run(const Instance& instance, const std::string& ptx, const Operands& x, int splits,
            const simulator::LaunchOptions& options) {
  const TilePlan& tile = instance.tile;
  const long long row_tiles = instance.batch * tiles_along(x.rows / instance.batch, tile.rows);
  const auto tiles = static_cast<std::size_t>(row_tiles * tiles_along(x.columns, tile.columns));
  const bool has_maps = instance.has_maps();  // and a counter for each warp group
  const std::size_t counters = rounded((has_maps ? 8 : 4) * tiles);
  const std::size_t partials = rounded(4 * tiles * splits * tile.rows * tile.columns);
  const std::size_t chunks = rounded(4 * tiles_along(x.depth, kChunk) * row_tiles * tile.rows);
  const auto elements = static_cast<std::size_t>(x.rows * x.columns);

  simulator::Device device("sm_" + instance.chip);
  const simulator::Module module = simulator::Module::parse(ptx, "contraction");
  const bool has_scales = instance.lhs_blocks.has_value(), is_packed = instance.is_of_4_bits();
  const auto matrix = [&](const char* name, Element format, const std::vector<float>& values,
                          bool along_extent) {
    return Buffer(device, name,
                  is_packed
                      ? packed_codes(values, x.depth)
                      : stored(format, in_memory(values, instance.batch, x.depth, along_extent)));
  };
  const Buffer lhs =
      matrix("lhs", instance.format, has_scales ? x.lhs_codes : x.lhs, instance.transpose_lhs);
  const Buffer rhs =
      matrix("rhs", instance.rhs(), has_scales ? x.rhs_codes : x.rhs, !instance.transpose_rhs);
  const auto scales = [&](const char* name, const std::vector<float>& values,
                          const std::optional<ScaledBlocks>& blocks, bool along_extent) {
    if (is_packed) return Buffer(device, name, packed_scales(values, *blocks, x.depth));
    return Buffer(
        device, name,
        blocks ? stored(Element::f32,
                        in_memory(values, 1, tiles_along(x.depth, blocks->places), along_extent))
               : stored(Element::f32, {0.0f}));
  };
  const Buffer lhs_scales =
      scales("lhs_scales", x.lhs_scales, instance.lhs_blocks, instance.transpose_lhs);
  const Buffer rhs_scales =
      scales("rhs_scales", x.rhs_scales, instance.rhs_blocks, !instance.transpose_rhs);
  const Buffer input(device, "input", stored(instance.element(), x.input));
  const Buffer bias(device, "bias", stored(Element::f32, x.bias));
  const Buffer scale(device, "scale", stored(Element::f32, x.scale));
  const Buffer sum(device, "sum", 4 * elements);
  const Buffer result(device, "result", (instance.element() == Element::tf32 ? 4 : 2) * elements);
  const Buffer row_sum(device, "row_sum", 4 * static_cast<std::size_t>(x.rows));
  const Buffer workspace(device, "workspace", splits > 1 ? counters + partials + chunks : 256);
  if (splits > 1) device.fill(workspace.address(), counters, std::byte{0});

  const long long depth =
      is_packed ? tiles_along(x.depth, kPackedPlaces) * (kPackedPlaces / 8) : x.depth;
  simulator::EncodedTensorMap lhs_map{}, rhs_map{};
  if (has_maps) {
    const std::uint32_t bytes = is_packed ? 4 : 1;
    lhs_map = instance.transpose_lhs ? map_of(lhs, x.depth, x.rows, 128)
                                     : map_of(lhs, x.rows, depth, tile.rows, bytes);
    rhs_map = instance.transpose_rhs ? map_of(rhs, x.columns, depth, tile.columns, bytes)
                                     : map_of(rhs, x.depth, x.columns, 128);
  }
  const void* const parameters[] = {lhs.parameter(),
                                    rhs.parameter(),
                                    input.parameter(),
                                    bias.parameter(),
                                    scale.parameter(),
                                    sum.parameter(),
                                    result.parameter(),
                                    row_sum.parameter(),
                                    workspace.parameter(),
                                    &x.rows,
                                    &depth,
                                    lhs_scales.parameter(),
                                    rhs_scales.parameter(),
                                    lhs_map.data(),
                                    rhs_map.data(),
                                    &splits};
  const int shared = shared_bytes_of(instance);
  const auto blocks = static_cast<std::uint32_t>(tiles) * splits;
  Outcome outcome;
  outcome.report = device.launch(
      module, "contraction", {has_maps ? std::min<std::uint32_t>(blocks, kMostBlocks) : blocks},
      {static_cast<std::uint32_t>(has_maps ? kMapThreads : tile.threads())},
      static_cast<std::uint32_t>(shared > 48 * 1024 ? shared : 0),
      std::span(parameters).first(has_maps ? 16 : 13), options);
  outcome.sum = values(Element::f32, sum.bytes());
  outcome.result = values(instance.element(), result.bytes());
  if (instance.lhs_sum != LhsSum::unused) outcome.row_sum = values(Element::f32, row_sum.bytes());
  if (splits > 1) {
    outcome.counters.resize(tiles);
    std::memcpy(outcome.counters.data(), workspace.bytes().data(), 4 * tiles);
  }
  return outcome;
}

std::vector<float> lhs_sums(const Operands& x) {
  std::vector<float> sums;
  for (long long i = 0; i < x.rows; ++i) {
    float total = 0.0f;
    for (long long start = 0; start < x.depth; start += kChunk) {
      float chain = 0.0f;
      for (long long k = start; k < std::min(x.depth, start + kChunk); ++k)
        chain += x.lhs[i * x.depth + k];
      total += chain;
    }
    sums.push_back(total);
  }
  return sums;
}

std::vector<float> results(const Instance& instance, const Operands& x, const Outcome& outcome) {
  const std::vector<float> row_sums = lhs_sums(x);
  const Element kept = instance.element();
  const Element format = kept == Element::tf32 ? Element::f32 : kept;
  std::vector<float> results;
  for (long long i = 0; i < x.rows; ++i) {
    for (long long j = 0; j < x.columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(i * x.columns + j);
      const float product = x.scale[i] * (outcome.sum[at] + x.bias[j]);
      float value = product + x.input[at];
      if (instance.lhs_sum == LhsSum::by_elements) value += row_sums[i];
      results.push_back(reference::round({format}, value));
    }
  }
  return results;
}

std::vector<std::string> outside_class_b(const Operands& x, const Outcome& outcome, Sums sums,
                                         std::size_t most) {
  std::vector<std::string> sentences;
  const auto depth = static_cast<std::size_t>(x.depth);
  const long long batch = static_cast<long long>(x.rhs.size()) / (x.columns * x.depth);
  for (long long i = 0; i < x.rows; ++i) {
    const long long first_column = i / (x.rows / batch) * x.columns;
    for (long long j = 0; j < x.columns && sentences.size() < most; ++j) {
      const ClassB bound =
          class_b(std::span(x.lhs).subspan(i * depth, depth),
                  std::span(x.rhs).subspan((first_column + j) * depth, depth), {}, sums);
      const float stored = outcome.sum[i * x.columns + j];
      if (bound.holds(stored)) continue;
      std::ostringstream out;
      out << "sum[" << i << ", " << j << "] = " << stored << " is not in [" << bound.low << ", "
          << bound.high << "]";
      sentences.push_back(out.str());
    }
  }
  return sentences;
}

}  // namespace halftone::tests
