// SPDX-License-Identifier: Apache-2.0
// AMX in software, for processors with AVX-512 that lack it: whatever AMX instruction a thread of
// this process meets is carried out as "Intel 64 and IA-32 Architectures Software Developer's
// Manual", volumes 1 (chapter 18) and 2, says. Those that generated code has: LDTILECFG, STTILECFG,
// TILERELEASE, TILEZERO, TILELOADD, TILELOADDT1, TILESTORED, TDPBF16PS.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halftone::tests::amx {

inline constexpr std::size_t kTiles = 8, kRows = 16, kRowBytes = 64;

/// What a thread's tiles hold and how large they are.
struct Tiles {
  std::array<std::uint8_t, 64> configuration{};  ///< as LDTILECFG reads it; zeros: no tiles in use
  alignas(64) std::uint8_t data[kTiles][kRows][kRowBytes] = {};
  std::uint64_t products = 0;  ///< TDPBF16PS that were carried out

  [[nodiscard]] std::size_t rows(unsigned tile) const { return configuration[48 + tile]; }
  [[nodiscard]] std::size_t bytes(unsigned tile) const {
    return configuration[16 + 2 * tile] + 256u * configuration[17 + 2 * tile];
  }
};

/// Carries out the instruction at `code`; `registers` are the general ones by number. Returns its
/// length, or 0 where it is none of AMX's. Needs AVX-512. `fault` says why a processor would have
/// raised an exception, after which nothing has changed.
std::size_t execute(Tiles& tiles, const std::uint8_t* code,
                    std::span<const std::uint64_t, 16> registers, std::string& fault);

/// From here on this process, whose processor must have AVX-512 and lack AMX, meets AMX as if it
/// had it.
void emulate();

/// Products that this process emulated.
std::uint64_t products();

}  // namespace halftone::tests::amx
