// SPDX-License-Identifier: Apache-2.0
// The emulator of AMX against sums by hand and, where the processor has AMX, against the processor.
#include "emulator.hpp"

#include <doctest/doctest.h>
#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "tile_sum.hpp"

#define WITH_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))

using namespace halftone::tests;

namespace {

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

std::uint16_t bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
float widened(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

/// sums (M, N) += a (M, K) * b (K, N) by one product, K even: packed, loaded, stored.
struct Product {
  std::size_t rows, columns, depth;
  std::vector<float> sums;
  std::vector<std::uint16_t> a, b;

  Product(std::size_t m, std::size_t n, std::size_t k)
      : rows(m), columns(n), depth(k), sums(m * n), a(m * k), b(k * n) {}

  WITH_AMX std::vector<float> run() const {
    Configuration configuration;
    const auto set = [&](unsigned tile, std::size_t height, std::size_t width) {
      configuration.rows[tile] = static_cast<std::uint8_t>(height);
      configuration.bytes[tile] = static_cast<std::uint16_t>(width);
    };
    set(0, rows, 4 * columns);
    set(1, rows, 2 * depth);
    set(2, depth / 2, 4 * columns);
    std::vector<std::uint16_t> pairs(b.size());
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t n = 0; n < columns; ++n) {
        pairs[k / 2 * 2 * columns + 2 * n + k % 2] = b[k * columns + n];
      }
    }
    std::vector<float> result = sums;
    _tile_loadconfig(&configuration);
    _tile_loadd(0, result.data(), 4 * columns);
    _tile_stream_loadd(1, a.data(), 2 * depth);
    _tile_loadd(2, pairs.data(), 4 * columns);
    _tile_dpbf16ps(0, 1, 2);
    _tile_stored(0, result.data(), 4 * columns);
    _tile_release();
    return result;
  }
};

/// A sum of one row and one column.
float sum_of(float start, std::vector<std::pair<float, float>> factors) {
  if (factors.size() % 2 != 0) factors.emplace_back(0.0f, 0.0f);
  Product product(1, 1, factors.size());
  product.sums[0] = start;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    CHECK(widened(bf16(factors[k].first)) == factors[k].first);
    CHECK(widened(bf16(factors[k].second)) == factors[k].second);
    product.a[k] = bf16(factors[k].first);
    product.b[k] = bf16(factors[k].second);
  }
  return product.run()[0];
}

std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
}

float expected(float start, const Product& x, std::size_t m, std::size_t n) {
  std::vector<float> a, b;
  for (std::size_t k = 0; k < x.depth; ++k) {
    a.push_back(widened(x.a[m * x.depth + k]));
    b.push_back(widened(x.b[k * x.columns + n]));
  }
  return amx::tile_sum(a, b, start);
}

}  // namespace

TEST_CASE("products of integers are exact, in tiles of every extent") {
  for (const std::size_t m : {1, 7, 16}) {
    for (const std::size_t n : {1, 5, 16}) {
      for (const std::size_t k : {2, 18, 32}) {
        Product x(m, n, k);
        std::vector<double> exact;
        for (std::size_t i = 0; i < x.a.size(); ++i) x.a[i] = bf16(float(i * 7 % 23) - 11);
        for (std::size_t i = 0; i < x.b.size(); ++i) x.b[i] = bf16(float(i * 5 % 31) - 15);
        for (std::size_t i = 0; i < m * n; ++i) {
          x.sums[i] = float(i) - 100;
          double sum = x.sums[i];
          for (std::size_t j = 0; j < k; ++j) {
            sum += double(widened(x.a[i / n * k + j])) * widened(x.b[j * n + i % n]);
          }
          exact.push_back(sum);
        }
        const std::vector<float> got = x.run();
        for (std::size_t i = 0; i < m * n; ++i) CHECK(got[i] == exact[i]);
      }
    }
  }
}

TEST_CASE("even and odd k are chains of their own, and their sum joins the tile's") {
  // Even: 2^24 + 1 is 2^24 (to even). Odd: 1 - 2^24. Together 1; one chain would give 0.
  CHECK(sum_of(0, {{0x1p12f, 0x1p12f}, {1, 1}, {1, 1}, {-0x1p12f, 0x1p12f}}) == 1.0f);
  // Both chains end before the tile's 2^24 is added: 1 + 1 moves it, one by one they would not.
  CHECK(sum_of(0x1p24f, {{1, 1}, {1, 1}}) == 0x1p24f + 2);
  // 2^24 + 1.5 is nearer to 2^24 + 2; 2^24 + 1 is a tie and goes to the even 2^24.
  CHECK(sum_of(0, {{0x1p12f, 0x1p12f}, {0, 0}, {1.5f, 1}}) == 0x1p24f + 2);
}

TEST_CASE("subnormal factors, products and sums are zeros, whatever MXCSR says") {
  const unsigned mode = _mm_getcsr();
  for (const unsigned other : {0x1f80u, 0x7f80u}) {  // to the nearest, toward zero; no flush
    _mm_setcsr(other);
    CHECK(sum_of(0, {{0x1p-130f, 0x1p40f}}) == 0.0f);
    CHECK(sum_of(0, {{0x1p-70f, 0x1p-60f}}) == 0.0f);
    CHECK(sum_of(0, {{0x1p-70f, 0x1p-56f}}) == 0x1p-126f);
    CHECK(sum_of(0x1p-130f, {{0, 0}}) == 0.0f);
    CHECK(sum_of(-0x1p-126f, {{0x1.8p-70f, 0x1p-56f}}) == 0.0f);  // 2^-127 is left
    CHECK(sum_of(0, {{0x1.8p-63f, 0x1p-63f}, {0, 0}, {-0x1p-63f, 0x1p-63f}}) == 0.0f);
    CHECK(sum_of(0, {{1, 0x1p12f}, {0x1p-6f, 0x1p-6f}}) == 0x1p12f);  // a tie, to even
    CHECK((_mm_getcsr() & ~0x3fu) == other);                          // but for exceptions
  }
  _mm_setcsr(mode);
}

TEST_CASE("infinities and NaN are what IEEE 754 makes of them, after subnormals are zeros") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(sum_of(0, {{infinity, 2}}) == infinity);
  CHECK(std::isnan(sum_of(0, {{infinity, 0}})));
  CHECK(std::isnan(sum_of(0, {{infinity, 0x1p-130f}})));
  CHECK(std::isnan(sum_of(-infinity, {{infinity, 1}})));
  CHECK(sum_of(0, {{0x1p127f, 2}}) == infinity);
}

TEST_CASE("random bits of every kind give what the manual's formula does") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Product x(1 + random() % 16, 1 + random() % 16, 2 + random() % 16 * 2);
    const bool near_one = round % 2 != 0;
    const auto code = [&] {
      const auto any = static_cast<std::uint16_t>(random());
      return near_one ? static_cast<std::uint16_t>((any & 0x83ff) | 0x3c00) : any;
    };
    for (auto& a : x.a) a = code();
    for (auto& b : x.b) b = code();
    for (auto& sum : x.sums) sum = widened(code());
    const std::vector<float> got = x.run();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float wanted = expected(x.sums[i], x, i / x.columns, i % x.columns);
      if (bits(got[i]) == bits(wanted)) continue;
      CAPTURE(round);
      CAPTURE(i);
      CHECK(got[i] == wanted);
    }
  }
}

WITH_AMX void check_configurations() {
  Configuration configuration, read;
  configuration.rows[3] = 2;
  configuration.bytes[3] = 8;
  _tile_loadconfig(&configuration);
  _tile_storeconfig(&read);
  CHECK(std::memcmp(&configuration, &read, sizeof(read)) == 0);
  std::int32_t rows[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, stored[3][2] = {{9, 9}, {9, 9}, {9, 9}};
  _tile_loadd(3, rows, 16);  // two of four columns
  _tile_stored(3, stored, 8);
  CHECK(stored[0][1] == 2);
  CHECK(stored[1][0] == 5);
  CHECK(stored[2][0] == 9);
  _tile_zero(3);
  _tile_stored(3, stored, 8);
  CHECK(stored[1][1] == 0);
  _tile_release();
  _tile_storeconfig(&read);
  CHECK(read.palette == 0);
  CHECK(read.rows[3] == 0);
}

TEST_CASE("configurations are read and written, tiles move by strides, and a release forgets all") {
  check_configurations();
}

TEST_CASE("addresses are decoded with every form of base, index and displacement") {
  auto tiles = std::make_unique<amx::Tiles>();
  tiles->configuration[0] = 1;
  tiles->configuration[16 + 2 * 5] = 4;  // tile 5: two rows of 4 bytes
  tiles->configuration[48 + 5] = 2;
  std::array<std::uint64_t, 16> registers{};
  std::int32_t memory[64];
  for (int i = 0; i < 64; ++i) memory[i] = 1000 + i;
  struct Form {
    std::vector<std::uint8_t> code;
    unsigned base, index;
    std::size_t at, stride;  // in words
  };
  const Form forms[] = {
      {{0xc4, 0xe2, 0x7b, 0x4b, 0x2c, 0x18}, 0, 3, 0, 4},                // (rax,rbx)
      {{0xc4, 0xe2, 0x7b, 0x4b, 0x6c, 0xc8, 0x08}, 0, 1, 2, 8},          // 8(rax,rcx,8)
      {{0xc4, 0xc2, 0x7b, 0x4b, 0xac, 0x54, 16, 0, 0, 0}, 12, 2, 4, 4},  // 16(r12,rdx,2)
      {{0xc4, 0xc2, 0x7b, 0x4b, 0x6c, 0x5d, 0x04}, 13, 3, 1, 4},         // 4(r13,rbx,2)
      {{0xc4, 0xa2, 0x7b, 0x4b, 0x2c, 0x27}, 7, 12, 0, 4},               // (rdi,r12)
      {{0xc4, 0xe2, 0x7b, 0x4b, 0x2c, 0x26}, 6, 16, 0, 0},               // (rsi), no index
  };
  for (const Form& form : forms) {
    CAPTURE(form.code.size());
    registers = {};
    const std::size_t scale = std::size_t{1} << (form.code[5] >> 6);
    if (form.index < 16) registers[form.index] = 4 * form.stride / scale;
    registers[form.base] = reinterpret_cast<std::uint64_t>(memory);
    std::string fault;
    CHECK(amx::execute(*tiles, form.code.data(), registers, fault) == form.code.size());
    CHECK(fault.empty());
    std::int32_t first = 0, second = 0;
    std::memcpy(&first, tiles->data[5][0], 4);
    std::memcpy(&second, tiles->data[5][1], 4);
    CHECK(first == 1000 + static_cast<int>(form.at));
    CHECK(second == 1000 + static_cast<int>(form.at + form.stride));
  }
}

TEST_CASE("what a processor would refuse is a fault that changes nothing") {
  const std::array<std::uint64_t, 16> registers{};
  const std::uint8_t product[] = {0xc4, 0xe2, 0x6a, 0x5c, 0xc1};  // tmm0 += tmm1 * tmm2
  const auto fault_of = [&](const amx::Tiles& tiles) {
    amx::Tiles copy = tiles;
    std::string fault;
    CHECK(amx::execute(copy, product, registers, fault) == sizeof(product));
    return fault;
  };
  const auto set = [](amx::Tiles& tiles, unsigned tile, std::uint8_t rows, std::uint8_t bytes) {
    tiles.configuration[0] = 1;
    tiles.configuration[16 + 2 * tile] = bytes;
    tiles.configuration[48 + tile] = rows;
  };
  amx::Tiles tiles;
  CHECK(fault_of(tiles) == "#UD: no tile is configured");
  set(tiles, 0, 3, 8);
  set(tiles, 1, 3, 12);
  CHECK(fault_of(tiles) == "#UD: a factor is no tile in use");
  set(tiles, 2, 3, 8);
  CHECK(fault_of(tiles).empty());
  set(tiles, 2, 2, 8);
  CHECK(fault_of(tiles) == "#UD: the extents of the tiles do not agree");
  std::string fault;
  const std::uint8_t other[] = {0x0f, 0x0b, 0x90, 0x90, 0x90};
  CHECK(amx::execute(tiles, other, registers, fault) == 0);
}
