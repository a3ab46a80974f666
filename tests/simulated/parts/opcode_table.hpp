// SPDX-License-Identifier: Apache-2.0
// Tables of opcodes: each row is PTX for one lane and what it must leave behind, computed on the
// host without the simulator. Rows run on every combination of telling operands.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "halftone/simulator/device.hpp"

namespace halftone::tests {

/// Opcodes whose results this run has compared: those of rows that check() ran and found right, and
/// those of a Tested that were launched. opcodes_test.cpp sets them against the ledger.
std::set<std::string> tested_opcodes();

/// Opcodes that test cases of the same file launch with run_ptx.
struct Tested {
  Tested(std::initializer_list<const char*> opcodes) {
    all().insert(opcodes.begin(), opcodes.end());
  }
  static std::set<std::string>& all();
};

/// Bits of 16-bit floats, one or two, that compare equal when both are NaN.
struct F16Bits {
  std::uint16_t bits;
};
struct Bf16Bits {
  std::uint16_t bits;
};
struct F16Pair {
  std::uint32_t bits;
};
struct Bf16Pair {
  std::uint32_t bits;
};

/// What a register holds, as 64 bits.
template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}
template <class T>
T of_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
  if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
}

/// Telling values of a type, as bits, and `random` arbitrary ones.
std::vector<std::uint64_t> samples(std::size_t bytes, bool is_float, std::size_t random);

struct OpcodeRow {
  std::string text;  ///< statements from %a, %b, %c to %d
  std::size_t result_bytes = 0;
  std::vector<std::size_t> operand_bytes;
  std::vector<bool> operand_is_float;
  std::function<std::uint64_t(const std::uint64_t*)> expected;
  std::function<bool(std::uint64_t got, std::uint64_t wanted)> same;
};

template <class T>
bool same_value(std::uint64_t got, std::uint64_t wanted) {
  const auto halves = [](std::uint16_t a, std::uint16_t b, std::uint16_t infinity) {
    const bool nan_a = (a & 0x7fff) > infinity, nan_b = (b & 0x7fff) > infinity;
    return nan_a || nan_b ? nan_a && nan_b : a == b;
  };
  constexpr bool kF16 = std::is_same_v<T, F16Bits> || std::is_same_v<T, F16Pair>;
  constexpr bool kBf16 = std::is_same_v<T, Bf16Bits> || std::is_same_v<T, Bf16Pair>;
  if constexpr (std::is_floating_point_v<T>) {
    const T a = of_bits<T>(got), b = of_bits<T>(wanted);
    return (a != a && b != b) || got == wanted;
  } else if constexpr (kF16 || kBf16) {
    constexpr std::uint16_t kInfinity = kF16 ? 0x7c00 : 0x7f80;
    return halves(static_cast<std::uint16_t>(got), static_cast<std::uint16_t>(wanted), kInfinity) &&
           halves(static_cast<std::uint16_t>(got >> 16), static_cast<std::uint16_t>(wanted >> 16),
                  kInfinity);
  } else {
    return got == wanted;
  }
}

/// A row. `text` is an opcode, whose operands are then "%d, %a, %b, %c", or whole statements.
template <class R, class... A>
OpcodeRow row(const std::string& text, R (*expected)(A...)) {
  OpcodeRow made;
  made.text = text;
  if (text.find(' ') == std::string::npos) {
    constexpr std::array kNames = {", %a", ", %b", ", %c"};
    made.text += " %d";
    for (std::size_t n = 0; n < sizeof...(A); ++n) made.text += kNames[n];
    made.text += ";";
  }
  made.result_bytes = sizeof(R);
  made.operand_bytes = {sizeof(A)...};
  made.operand_is_float = {std::is_floating_point_v<A>...};
  made.expected = [expected](const std::uint64_t* operands) {
    return [&]<std::size_t... n>(std::index_sequence<n...>) {
      return bits_of(expected(of_bits<A>(operands[n])...));
    }(std::index_sequence_for<A...>{});
  };
  made.same = same_value<R>;
  return made;
}

/// The same, for results that PTX allows an error: |got - wanted| <= absolute + relative *
/// |wanted|.
template <class R, class... A>
OpcodeRow row_near(const std::string& text, R (*expected)(A...), double relative, double absolute) {
  OpcodeRow made = row(text, expected);
  made.same = [relative, absolute](std::uint64_t got, std::uint64_t wanted) {
    const double a = static_cast<double>(of_bits<R>(got)),
                 b = static_cast<double>(of_bits<R>(wanted));
    if (a == b || (a != a && b != b)) return true;
    return std::fabs(a - b) <= absolute + relative * std::fabs(b);
  };
  return made;
}

/// Of rows that leave their operand as it is.
template <class T>
T same(T a) {
  return a;
}

using OpcodeRows = std::vector<OpcodeRow>;

struct OpcodeTable {
  explicit OpcodeTable(OpcodeRows made) : rows(std::move(made)) {}
  OpcodeRows rows;
};

/// Runs every row and fails, with operands and results, where a lane differs. The opcodes of rows
/// that are right count as tested.
void check(const OpcodeTable& table);

}  // namespace halftone::tests
