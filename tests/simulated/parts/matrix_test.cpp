// SPDX-License-Identifier: Apache-2.0
// Fragments against golden tables made from CuTe (golden/fragments_from_cute.cpp).
#include "matrix.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <string>

using namespace halftone::simulator;

namespace {

using Map = std::function<Position(int thread, int element)>;
struct Table {
  const char* name;
  Map map;
};

// Warps of a warpgroup hold 16 rows each.
Map warpgroup(const std::function<Position(int, int)>& warp) {
  return [warp](int thread, int i) {
    const Position p = warp(thread % 32, i);
    return Position{p.row + thread / 32 * 16, p.column};
  };
}

Map a(int packed) {
  return [packed](int lane, int i) { return a_position(packed, lane, i); };
}
Map b(int packed) {
  return [packed](int lane, int i) { return b_position(packed, lane, i); };
}
// Memory positions in bytes: elements of 16 bits are two bytes wide.
Map m8n8(bool transposed) {
  return [transposed](int lane, int i) {
    const Position p = m8n8_position(transposed, lane, i);
    return Position{p.row, 2 * p.column};
  };
}

const Table kTables[] = {
    {"m16n8k8_f16_a", a(2)},
    {"m16n8k8_f16_b", b(2)},
    {"m16n8k8_f16_c", c_position},
    {"m16n8k16_f16_a", a(2)},
    {"m16n8k16_f16_b", b(2)},
    {"m16n8k16_f16_c", c_position},
    {"m16n8k4_tf32_a", a(1)},
    {"m16n8k4_tf32_b", b(1)},
    {"m16n8k4_tf32_c", c_position},
    {"m16n8k8_tf32_a", a(1)},
    {"m16n8k8_tf32_b", b(1)},
    {"m16n8k8_tf32_c", c_position},
    {"m16n8k16_s8_a", a(4)},
    {"m16n8k16_s8_b", b(4)},
    {"m16n8k16_s8_c", c_position},
    {"m16n8k32_s8_a", a(4)},
    {"m16n8k32_s8_b", b(4)},
    {"m16n8k32_s8_c", c_position},
    {"m64n32_d", warpgroup(wgmma_d_position)},
    {"m64k8_a", warpgroup(a(1))},
    {"m64k16_a", warpgroup(a(2))},
    {"m64k32_a", warpgroup(a(4))},
    {"ldmatrix_m8n8", m8n8(false)},
    {"ldmatrix_m8n8_trans", m8n8(true)},
    {"stmatrix_m8n8", m8n8(false)},
    {"stmatrix_m8n8_trans", m8n8(true)},
    {"ldmatrix_m16n16_trans", m16n16_position},
    {"stmatrix_m16n8_trans", m16n8_position},
};

}  // namespace

TEST_CASE("every fragment is the one of the golden tables") {
  std::ifstream file(HALFTONE_GOLDEN "/fragments.txt");
  REQUIRE(file);
  std::size_t tables = 0;
  std::string name;
  int threads, elements, rows, columns;
  while (file >> name >> threads >> elements >> rows >> columns) {
    CAPTURE(name);
    const Table* table = nullptr;
    for (const Table& t : kTables)
      if (name == t.name) table = &t;
    REQUIRE(table);
    int wrong = 0;
    for (int thread = 0; thread < threads; ++thread)
      for (int i = 0; i < elements; ++i) {
        int wanted = 0;
        file >> wanted;
        const Position p = table->map(thread, i);
        wrong += p.row * columns + p.column != wanted;
      }
    CHECK(wrong == 0);
    ++tables;
  }
  CHECK(tables == std::size(kTables));
}
