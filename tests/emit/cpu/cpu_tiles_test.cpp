// SPDX-License-Identifier: Apache-2.0
// What AMX's tiles multiply, of the code of tiles.mlir.in: to the bit what their formula gives,
// inside the bound of class B (N8), and equal to N1 where sums are exact.
#include <immintrin.h>

#include <bit>
#include <functional>

#include "class_b.hpp"
#include "native.hpp"
#include "provided.hpp"
#include "reference.hpp"
#include "tile_sum.hpp"

using namespace native;
using halftone::tests::ClassB;
using halftone::tests::Sums;
using reference::Values;
namespace amx = halftone::tests::amx;

namespace {

using Codes = Memory<std::uint16_t>;

float widened(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }
std::uint16_t bf16(float value) {  // of what is one
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

enum class Kind { integers, numbers, specials };

/// A matrix of bf16 as kernels see it.
struct Matrix {
  std::int64_t rows, columns;
  Codes codes;

  Matrix(std::int64_t row_count, std::int64_t column_count, Kind kind, unsigned seed)
      : rows(row_count),
        columns(column_count),
        codes(static_cast<std::size_t>(rows * columns), seed % 2 ? Place::end : Place::start) {
    constexpr float kSpecials[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-130f, 0x1p-70f, 0x1p-60f};
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows * columns); ++i) {
      float value = static_cast<float>(random() % 17) - 8;
      if (kind != Kind::integers) value += static_cast<float>(random() % 16) / 16;
      if (kind == Kind::specials && random() % 32 == 0) value = kSpecials[random() % 7];
      codes[i] = bf16(value);
    }
  }

  float at(std::int64_t i, std::int64_t j) {
    return widened(codes[static_cast<std::size_t>(i * columns + j)]);
  }
  Values row(std::int64_t i) {
    Values values;
    for (std::int64_t j = 0; j < columns; ++j) values.push_back(at(i, j));
    return values;
  }
  Values column(std::int64_t j, std::int64_t first = 0, std::int64_t count = -1) {
    Values values;
    for (std::int64_t i = first; i < first + (count < 0 ? rows : count); ++i)
      values.push_back(at(i, j));
    return values;
  }
};

std::size_t variant() {
  const auto& names = manifest().variants;
  return static_cast<std::size_t>(std::ranges::find(names, amx::kVariant) - names.begin());
}

/// The sum of a result, of its row of lhs and column of rhs, judged as N8 and N1 say.
float judged_sum(const Values& a, const Values& b, Kind kind) {
  const float sum = amx::tile_sum(a, b);
  if (kind == Kind::integers) CHECK(sum == reference::contraction(a, b));
  const ClassB bound = halftone::tests::class_b(a, b, {}, Sums::flushed);
  if (kind != Kind::specials) CHECK(bound.holds(sum));
  return sum;
}

/// Tiles are the thread's own no longer.
__attribute__((target("amx-tile"))) void check_released() {
  alignas(64) std::uint8_t configuration[64] = {1};
  _tile_storeconfig(configuration);
  CHECK(configuration[0] == 0);
}

void run_tiles(const std::string& name, const std::vector<const void*>& arguments,
               std::int64_t batch) {
  const std::uint64_t before = amx::products();
  run(variant(), name, arguments, batch);
  CHECK((amx::is_native() || amx::products() > before));
  check_released();
}

template <class Test>
void each_kind(const std::vector<std::int64_t>& batches, Test test) {
  for (const std::int64_t batch : batches)
    for (const Kind kind : {Kind::integers, Kind::numbers, Kind::specials})
      for (const bool small : {false, true}) {
        CAPTURE(batch);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(small);
        small_blocks = small;
        test(batch, kind);
      }
}

const std::vector<std::int64_t> kBatches{1, 16, 17, 33, 100};

const halftone::manifest::Kernel& kernel_called(const std::string& name) {
  return *std::ranges::find(manifest().kernels, name, &halftone::manifest::Kernel::name);
}

}  // namespace

TEST_CASE("tiles multiply where rhs is transposed, and the body takes their sums") {
  for (const std::int64_t n : {10, 33, 64})
    for (const std::int64_t k : {7, 64, 300})
      each_kind(kBatches, [&](std::int64_t batch, Kind kind) {
        CAPTURE(n);
        CAPTURE(k);
        Matrix x(batch, k, kind, 1), w(n, k, kind, 2), bias(1, n, Kind::numbers, 3);
        const auto count = static_cast<std::size_t>(batch * n);
        Floats skip(count, Place::end), sums(count, Place::end);
        Codes stored(count, Place::start);
        fill(skip, count, 4, false);
        run_tiles("dense_" + std::to_string(n) + "_" + std::to_string(k),
                  {x.codes.pointer(), w.codes.pointer(), bias.codes.pointer(), skip.pointer(),
                   stored.pointer(), sums.pointer()},
                  batch);
        Values wanted;
        for (std::int64_t i = 0; i < batch; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const float y = judged_sum(x.row(i), w.row(j), kind) + bias.at(0, j);
            const std::size_t at = wanted.size();
            wanted.push_back(y + skip[at]);
            const std::uint32_t code = bits(y), low = 0x7fff + (code >> 16 & 1);
            const auto rounded =
                static_cast<std::uint16_t>(std::isnan(y) ? 0x7fff : (code + low) >> 16);
            if (stored[at] != rounded) CHECK(stored[at] == rounded);
          }
        check(sums, wanted);
        CHECK(stored.neighbours_untouched());
      });
}

TEST_CASE("tiles multiply where nothing is transposed") {
  for (const std::int64_t n : {1, 16, 33})
    for (const std::int64_t k : {1, 32, 33, 300})
      each_kind(kBatches, [&](std::int64_t batch, Kind kind) {
        CAPTURE(n);
        CAPTURE(k);
        Matrix x(batch, k, kind, 1), w(k, n, kind, 2);
        Floats sums(static_cast<std::size_t>(batch * n), Place::end);
        run_tiles("plain_bf16_bf16_" + std::to_string(n) + "_" + std::to_string(k),
                  {x.codes.pointer(), w.codes.pointer(), sums.pointer()}, batch);
        Values wanted;
        for (std::int64_t i = 0; i < batch; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            wanted.push_back(judged_sum(x.row(i), w.column(j), kind));
        check(sums, wanted);
      });
}

TEST_CASE("tiles multiply where lhs is transposed, and its sums over k are those of N3") {
  for (const std::int64_t n : {1, 33, 70})
    each_kind({1, 31, 32, 65, 300}, [&](std::int64_t batch, Kind kind) {
      CAPTURE(n);
      Matrix g(batch, 50, kind, 1), x(batch, n, kind, 2);
      Floats sums(static_cast<std::size_t>(50 * n), Place::end), rows(50, Place::end);
      run_tiles("gradient_" + std::to_string(n),
                {g.codes.pointer(), x.codes.pointer(), sums.pointer(), rows.pointer()}, batch);
      Values wanted, wanted_rows;
      for (std::int64_t i = 0; i < 50; ++i) {
        wanted_rows.push_back(reference::column_sum(g.column(i)));
        for (std::int64_t j = 0; j < n; ++j)
          wanted.push_back(judged_sum(g.column(i), x.column(j), kind));
      }
      check(sums, wanted);
      check(rows, wanted_rows);
    });
}

TEST_CASE("tiles multiply where both sides are transposed") {
  for (const std::int64_t n : {16, 33})
    for (const std::int64_t k : {15, 300})
      each_kind({1}, [&](std::int64_t batch, Kind kind) {
        CAPTURE(n);
        CAPTURE(k);
        Matrix a(k, 17, kind, 1), b(n, k, kind, 2);
        Floats sums(static_cast<std::size_t>(17 * n), Place::end);
        run_tiles("twice_transposed_" + std::to_string(n) + "_" + std::to_string(k),
                  {a.codes.pointer(), b.codes.pointer(), sums.pointer()}, batch);
        Values wanted;
        for (std::int64_t i = 0; i < 17; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            wanted.push_back(judged_sum(a.column(i), b.row(j), kind) +
                             reference::column_sum(a.column(i)));
        check(sums, wanted);
      });
}

TEST_CASE("tiles multiply every element of a batch by itself") {
  each_kind({1, 5}, [&](std::int64_t batch, Kind kind) {
    Matrix a(batch * 21, 40, kind, 1), b(batch * 40, 33, kind, 2);
    Floats sums(static_cast<std::size_t>(batch * 21 * 33), Place::end);
    run_tiles("batch_33_40", {a.codes.pointer(), b.codes.pointer(), sums.pointer()}, batch);
    Values wanted;
    for (std::int64_t i = 0; i < batch * 21; ++i)
      for (std::int64_t j = 0; j < 33; ++j)
        wanted.push_back(judged_sum(a.row(i), b.column(j, i / 21 * 40, 40), kind));
    check(sums, wanted);
  });
}

TEST_CASE("what is ordered or of other formats is the code of x86-64-v4, in one copy") {
  const auto& names = manifest().variants;
  const auto other =
      static_cast<std::size_t>(std::ranges::find(names, "x86-64-v4") - names.begin());
  REQUIRE(other < names.size());
  int shared = 0, own = 0;
  for (const auto& kernel : manifest().kernels) {
    CAPTURE(kernel.name);
    const auto entry = [&](std::size_t of) {
      return halftone_artifact_emit_cpu.cpu_entries[of][kernel.cpu_entry];
    };
    const bool is_other =
        kernel.name.starts_with("ordered") ||
        (kernel.name.starts_with("plain") && !kernel.name.starts_with("plain_bf16_bf16"));
    CHECK((entry(variant()) == entry(other)) == is_other);
    CHECK((kernel.blocking.tiles[variant()] == kernel.blocking.tiles[other]) == is_other);
    CHECK(kernel.blocking.tiles[variant()].depth == (is_other ? 1 : 32));
    ++(is_other ? shared : own);
  }
  CHECK(shared == 4);
  CHECK(own == 29);
  Matrix x(17, 70, Kind::numbers, 1), w(70, 33, Kind::numbers, 2);
  Floats sums(17 * 33, Place::end);
  run(variant(), "ordered_33_70", {x.codes.pointer(), w.codes.pointer(), sums.pointer()}, 17);
  Values wanted;
  for (std::int64_t i = 0; i < 17; ++i)
    for (std::int64_t j = 0; j < 33; ++j)
      wanted.push_back(reference::contraction(x.row(i), w.column(j)));
  check(sums, wanted);
}

TEST_CASE("no bit depends on blocks: whatever a caller asks for, tiles add whole steps of k") {
  const auto& kernel = kernel_called("plain_bf16_bf16_33_300");
  Matrix x(100, 300, Kind::numbers, 1), w(300, 33, Kind::numbers, 2);
  const std::vector<std::int64_t> symbols{100};
  std::vector<float> first;
  for (const std::int64_t rows : {32, 64, 128})
    for (const std::int64_t depth : {1, 16, 32, 50, 96, 299, 300, 400}) {
      CAPTURE(rows);
      CAPTURE(depth);
      using halftone::manifest::CpuBlocks;
      const auto plan = plan_blocks(kernel, variant(), symbols, CpuBlocks{rows, 32, depth});
      CHECK(plan.blocks.depth % 32 == 0);
      Floats memory(static_cast<std::size_t>(plan.floats()), Place::end),
          sums(100 * 33, Place::end);
      const CpuBlocks blocks = plan.in(static_cast<float*>(memory.pointer()));
      using Entry = void (*)(const void* const*, const std::int64_t*, std::int64_t, std::int64_t,
                             const CpuBlocks*);
      const void* arguments[] = {x.codes.pointer(), w.codes.pointer(), sums.pointer()};
      reinterpret_cast<Entry>(
          const_cast<void*>(halftone_artifact_emit_cpu.cpu_entries[variant()][kernel.cpu_entry]))(
          arguments, symbols.data(), 0, plan.tasks, &blocks);
      CHECK(memory.neighbours_untouched());
      if (first.empty()) first = sums.values();
      CHECK(sums.values() == first);
    }
}
