// SPDX-License-Identifier: Apache-2.0
// All 2^32 floats through every rounding of convert.cuh, against every oracle that defines it.
// Prints a table; exit status 1 when any bit differs.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <thread>

#include "conversions.hpp"

namespace {

struct Column {
  const conversions::Rounding* rounding;
  const conversions::Other* other;  ///< null: the definition
  std::atomic<std::uint64_t> inputs = 0, mismatches = 0;
};

/// Floats of one sign whose bits are in [first, end), ascending by magnitude.
void walk(Column& column, std::uint32_t first, std::uint64_t end) {
  const oracle::Format& format = column.rounding->format();
  std::uint32_t below = 0;
  std::uint64_t mismatches = 0;
  for (std::uint64_t bits = first; bits < end; ++bits) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const std::uint32_t computed = column.rounding->computed(x);
    if (!column.other)
      mismatches += computed != format.round(x, column.rounding->toward_zero, below);
    else if (const std::uint32_t expected = column.other->expected(x); format.is_nan(expected))
      mismatches += !format.is_nan(computed);
    else
      mismatches += computed != expected;
  }
  column.inputs += end - first;
  column.mismatches += mismatches;
}

}  // namespace

int main() {
  const std::vector<conversions::Other> others = conversions::other_oracles();
  std::deque<Column> columns;
  for (const conversions::Rounding& rounding : conversions::roundings()) {
    columns.emplace_back(&rounding, nullptr);
    for (const conversions::Other& other : others)
      if (std::strcmp(other.rounding, rounding.name) == 0) columns.emplace_back(&rounding, &other);
  }
  constexpr std::uint64_t kHalf = 0x80000000u;
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < 2 * columns.size(); i = next++)
      walk(columns[i / 2], static_cast<std::uint32_t>(i % 2 * kHalf), (i % 2 + 1) * kHalf);
  };
  {
    std::vector<std::jthread> pool;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      pool.emplace_back(work);
  }
  std::uint64_t mismatches = 0;
  std::printf("%-18s %-14s %12s %10s\n", "rounding", "oracle", "inputs", "mismatches");
  for (const Column& column : columns) {
    std::printf("%-18s %-14s %12llu %10llu\n", column.rounding->name,
                column.other ? column.other->name : "definition",
                static_cast<unsigned long long>(column.inputs),
                static_cast<unsigned long long>(column.mismatches));
    mismatches += column.mismatches;
  }
  return mismatches == 0 ? 0 : 1;
}
