// SPDX-License-Identifier: Apache-2.0
// Which lane holds which element of a matrix: the fragments of mma, ldmatrix, stmatrix and wgmma as
// index maps. Sources: PTX ISA 9.0, 9.7.14.5 (mma fragments), 9.7.14.5.15 and .16 (ldmatrix,
// stmatrix), 9.7.15.5 (wgmma fragments); the tests compare them with tables made from CuTe's
// layouts.
//
// A lane's fragment is counted in elements: element i lies in register i / p at position i % p,
// where p elements share a 32-bit register (p = 1 for tf32, 2 for 16-bit, 4 for 8-bit, 8 for 4-bit
// formats).
#pragma once

#include <cstdint>

namespace halftone::simulator {

struct Position {
  int row, column;
  friend constexpr bool operator==(Position, Position) = default;
};

/// A of mma m16n8kK (16, K), and of one warp of wgmma m64nNkK with A in registers: its rows 16 *
/// warp + row.
constexpr Position a_position(int packed, int lane, int i) {
  const int reg = i / packed;
  return {lane / 4 + 8 * (reg % 2), lane % 4 * packed + i % packed + 4 * packed * (reg / 2)};
}

/// B of mma m16n8kK (K, 8): row is k, column is n.
constexpr Position b_position(int packed, int lane, int i) {
  return {lane % 4 * packed + i % packed + 4 * packed * (i / packed), lane / 4};
}

/// C and D of mma m16n8kK (16, 8), whatever their type: four elements a lane.
constexpr Position c_position(int lane, int i) {
  return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

/// D of one warp of wgmma m64nNkK: N / 2 elements a lane; its rows are 16 * warp + row.
constexpr Position wgmma_d_position(int lane, int i) {
  return {lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + lane % 4 * 2 + i % 2};
}

// One matrix of ldmatrix or stmatrix: rows of 16 bytes, whose addresses lanes give in order.

/// m8n8.b16: element i = 0, 1 of a lane.
constexpr Position m8n8_position(bool transposed, int lane, int i) {
  const Position p{lane / 4, lane % 4 * 2 + i};
  return transposed ? Position{p.column, p.row} : p;
}

/// ldmatrix.m16n16.trans.b8: byte i = 0 .. 7 of a lane's two registers; row is the row in memory.
constexpr Position m16n16_position(int lane, int i) {
  return {lane % 4 * 4 + i % 2 + 2 * (i / 4), lane / 4 + 8 * (i / 2 % 2)};
}

/// stmatrix.m16n8.trans.b8: byte i = 0 .. 3 of a lane's register; memory holds 8 rows of 16 bytes.
constexpr Position m16n8_position(int lane, int i) {
  return {lane % 4 * 2 + i % 2, lane / 4 + 8 * (i / 2)};
}

}  // namespace halftone::simulator
