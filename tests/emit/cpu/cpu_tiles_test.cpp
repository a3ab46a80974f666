// SPDX-License-Identifier: Apache-2.0
// What AMX or AVX512-BF16 multiplies, of the code of tiles.mlir.in: to the bit what its formula
// gives, inside the bound of class B (N8), and equal to N1 where sums are exact.
#include "tile_kernels.hpp"

using namespace tile_kernels;

namespace {

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
    CHECK(kernel.blocking.tiles[variant()].depth == (is_other ? 1 : products::kDepth));
    ++(is_other ? shared : own);
  }
  CHECK(shared == 4);
  CHECK(own == 65);
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
