// SPDX-License-Identifier: Apache-2.0
#include "emulator.hpp"

#include <immintrin.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>

namespace halftone::tests::amx {
namespace {

constexpr std::uint8_t kVex3 = 0xc4, kMap0f38 = 2;
enum Prefix : std::uint8_t { kNone, k66, kF3, kF2 };  // VEX.pp

/// A VEX instruction of map 0F38, with W0 and L0, as those of AMX are.
struct Instruction {
  Prefix prefix = kNone;
  std::uint8_t opcode = 0;
  bool is_memory = false;
  unsigned reg = 0, rm = 0, vvvv = 0;     // of the fields, with the bits of VEX
  std::uint64_t address = 0, stride = 0;  // base + displacement; index * scale
  bool has_sib = false;
  std::size_t length = 0;
};

std::int64_t displacement(const std::uint8_t* at, std::size_t bytes) {
  if (bytes == 1) return static_cast<std::int8_t>(*at);
  std::int32_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

/// The operand in memory behind ModRM: of tiles base and stride, otherwise address alone.
void decode_memory(Instruction& decoded, const std::uint8_t* code,
                   std::span<const std::uint64_t, 16> registers) {
  const unsigned mod = code[4] >> 6, high_index = (~code[1] >> 6 & 1) * 8,
                 high_base = (~code[1] >> 5 & 1) * 8;
  const std::uint8_t* at = code + 5;
  decoded.has_sib = (code[4] & 7) == 4;
  unsigned base = code[4] & 7;
  bool is_absolute = mod == 0 && base == 5;  // RIP-relative without SIB
  if (decoded.has_sib) {
    const std::uint8_t sib = *at++;
    const unsigned index = (sib >> 3 & 7) + high_index;
    if (index != 4) decoded.stride = registers[index] << (sib >> 6);
    base = sib & 7;
    is_absolute = mod == 0 && base == 5;
  }
  const std::size_t bytes = mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0;
  const std::int64_t moved = bytes > 0 ? displacement(at, bytes) : 0;
  decoded.length = static_cast<std::size_t>(at - code) + bytes;
  std::uint64_t from = 0;
  if (!is_absolute) {
    from = registers[base + high_base];
  } else if (!decoded.has_sib) {
    from = reinterpret_cast<std::uint64_t>(code) + decoded.length;
  }
  decoded.address = from + static_cast<std::uint64_t>(moved);
}

Instruction decode(const std::uint8_t* code, std::span<const std::uint64_t, 16> registers) {
  Instruction decoded;
  if (code[0] != kVex3 || (code[1] & 0x1f) != kMap0f38 || (code[2] & 0x84) != 0) return decoded;
  decoded.prefix = static_cast<Prefix>(code[2] & 3);
  decoded.opcode = code[3];
  decoded.vvvv = ~code[2] >> 3 & 15;
  decoded.reg = (code[4] >> 3 & 7) + (~code[1] >> 7 & 1) * 8;
  decoded.rm = (code[4] & 7) + (~code[1] >> 5 & 1) * 8;
  decoded.is_memory = code[4] >> 6 != 3;
  decoded.length = 5;
  if (decoded.is_memory) decode_memory(decoded, code, registers);
  return decoded;
}

/// Chapter 18.3: palette 1 alone, tiles of at most 16 rows of 64 bytes, the rest zero.
bool is_sound(const std::uint8_t* configuration) {
  Tiles tiles;
  std::memcpy(tiles.configuration.data(), configuration, 64);
  const auto& c = tiles.configuration;
  const auto zero = [&](std::size_t from, std::size_t to) {
    return std::all_of(c.begin() + from, c.begin() + to, [](auto byte) { return byte == 0; });
  };
  if (c[0] > 1 || !zero(2, 16) || !zero(32, 48) || !zero(56, 64)) return false;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    if (tiles.rows(tile) > kRows || tiles.bytes(tile) > kRowBytes) return false;
    if ((tiles.rows(tile) == 0) != (tiles.bytes(tile) == 0)) return false;
  }
  return true;
}

/// TDPBF16PS. MXCSR flushes and takes subnormals for zeros here, and rounds to the nearest.
__attribute__((noinline, target("avx512f"))) void multiply(Tiles& tiles, unsigned sums, unsigned a,
                                                           unsigned b) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  for (std::size_t m = 0; m < tiles.rows(sums); ++m) {
    __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
    for (std::size_t k = 0; k < tiles.bytes(a) / 4; ++k) {
      std::uint32_t pair = 0;
      std::memcpy(&pair, &tiles.data[a][m][4 * k], 4);
      const __m512i pairs = _mm512_load_si512(tiles.data[b][k]);
      even = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(pair << 16))),
                             _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)), even);
      odd = _mm512_fmadd_ps(
          _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(pair & 0xffff0000))),
          _mm512_castsi512_ps(_mm512_and_si512(pairs, upper)), odd);
    }
    const auto columns = static_cast<unsigned>(tiles.bytes(sums) / 4);
    const __m512 sum = _mm512_add_ps(_mm512_load_ps(tiles.data[sums][m]), _mm512_add_ps(even, odd));
    _mm512_store_ps(tiles.data[sums][m],
                    _mm512_maskz_mov_ps(static_cast<__mmask16>((1u << columns) - 1), sum));
  }
  for (std::size_t m = tiles.rows(sums); m < kRows; ++m) {
    std::memset(tiles.data[sums][m], 0, kRowBytes);
  }
}

std::string fault_of(const Tiles& tiles, const Instruction& i) {
  if (tiles.configuration[0] == 0) return "#UD: no tile is configured";
  const auto is_tile = [&](unsigned tile) { return tile < kTiles && tiles.rows(tile) > 0; };
  if (!is_tile(i.reg)) return "#UD: the first operand is no tile in use";
  if (i.opcode == 0x4b && !i.has_sib) return "#UD: the operand in memory has no SIB byte";
  if (i.opcode != 0x5c) return {};
  if (!is_tile(i.rm) || !is_tile(i.vvvv)) return "#UD: a factor is no tile in use";
  if (i.reg == i.rm || i.reg == i.vvvv || i.rm == i.vvvv) return "#UD: two operands are one tile";
  if (tiles.rows(i.reg) != tiles.rows(i.rm) || tiles.bytes(i.reg) != tiles.bytes(i.vvvv) ||
      tiles.bytes(i.rm) / 4 != tiles.rows(i.vvvv) || tiles.bytes(i.reg) % 4 != 0 ||
      tiles.bytes(i.rm) % 4 != 0) {
    return "#UD: the extents of the tiles do not agree";
  }
  return {};
}

/// Opcode 49: configurations, and tiles set to zero.
bool configure(Tiles& tiles, const Instruction& i, std::string& fault) {
  auto* memory = reinterpret_cast<std::uint8_t*>(i.address);
  if (i.is_memory && i.reg == 0 && i.prefix == kNone) {  // LDTILECFG
    if (!is_sound(memory)) {
      fault = "#GP: the configuration is unsound";
      return true;
    }
    std::memset(tiles.data, 0, sizeof(tiles.data));
    tiles.configuration = {};
    if (memory[0] != 0) std::memcpy(tiles.configuration.data(), memory, 64);
  } else if (i.is_memory && i.reg == 0 && i.prefix == k66) {  // STTILECFG
    std::memcpy(memory, tiles.configuration.data(), 64);
  } else if (!i.is_memory && i.prefix == kNone && i.reg == 0 && i.rm == 0) {  // TILERELEASE
    tiles.configuration = {};
    std::memset(tiles.data, 0, sizeof(tiles.data));
  } else if (!i.is_memory && i.prefix == kF2 && i.rm == 0) {  // TILEZERO
    if (fault = fault_of(tiles, i); fault.empty()) std::memset(tiles.data[i.reg], 0, 1024);
  } else {
    return false;
  }
  return true;
}

/// Opcode 4B: rows between tiles and memory.
bool move(Tiles& tiles, const Instruction& i, std::string& fault) {
  if (!i.is_memory || i.prefix == kNone) return false;
  if (fault = fault_of(tiles, i); !fault.empty()) return true;
  const std::size_t bytes = tiles.bytes(i.reg), rows = tiles.rows(i.reg);
  auto* memory = reinterpret_cast<std::uint8_t*>(i.address);
  if (i.prefix != kF3) std::memset(tiles.data[i.reg], 0, 1024);  // TILELOADD, TILELOADDT1
  for (std::size_t row = 0; row < rows; ++row, memory += i.stride) {
    if (i.prefix == kF3) {  // TILESTORED
      std::memcpy(memory, tiles.data[i.reg][row], bytes);
    } else {
      std::memcpy(tiles.data[i.reg][row], memory, bytes);
    }
  }
  return true;
}

thread_local Tiles tiles_of_thread;
std::atomic<std::uint64_t> products_of_all = 0;

void give_up(const std::string& why) {
  const std::string line = "AMX emulator: " + why + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  _exit(1);
}

void handle(int, siginfo_t*, void* context) {
  constexpr int kByNumber[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  std::array<std::uint64_t, 16> registers{};
  for (std::size_t i = 0; i < 16; ++i) {
    registers[i] = static_cast<std::uint64_t>(machine.gregs[kByNumber[i]]);
  }
  const auto* code = reinterpret_cast<const std::uint8_t*>(machine.gregs[REG_RIP]);
  std::string fault;
  const std::uint64_t before = tiles_of_thread.products;
  const std::size_t length = execute(tiles_of_thread, code, registers, fault);
  if (length == 0) give_up("an instruction that is none of AMX's, or that it does not know");
  if (!fault.empty()) give_up(fault);
  products_of_all += tiles_of_thread.products - before;
  machine.gregs[REG_RIP] += static_cast<greg_t>(length);
}

}  // namespace

std::size_t execute(Tiles& tiles, const std::uint8_t* code,
                    std::span<const std::uint64_t, 16> registers, std::string& fault) {
  const Instruction i = decode(code, registers);
  fault.clear();
  if (i.opcode == 0x49 && configure(tiles, i, fault)) return i.length;
  if (i.opcode == 0x4b && move(tiles, i, fault)) return i.length;
  if (i.opcode != 0x5c || i.is_memory || i.prefix != kF3) return 0;
  if (fault = fault_of(tiles, i); !fault.empty()) return i.length;
  constexpr unsigned kFlushes = 0x9fc0;  // all masked, to the nearest, FTZ and DAZ
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(kFlushes);
  multiply(tiles, i.reg, i.rm, i.vvvv);
  _mm_setcsr(mode);
  ++tiles.products;
  return i.length;
}

void emulate() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

std::uint64_t products() { return products_of_all; }

}  // namespace halftone::tests::amx
