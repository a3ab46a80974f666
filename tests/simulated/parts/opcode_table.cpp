// SPDX-License-Identifier: Apache-2.0
#include "opcode_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "run_ptx.hpp"

namespace halftone::tests {

namespace {

constexpr std::size_t kSlot = 8;  ///< bytes of an operand in memory
constexpr std::uint32_t kThreads = 128;

template <class T>
void add_floats(std::vector<std::uint64_t>& list) {
  using Limits = std::numeric_limits<T>;
  constexpr T kTelling[] = {
      0,        1,        T(1.5),   2,       T(2.5),          3,
      T(0.5),   T(0.1),   T(1e-20), T(1e20), T(16777217),     T(3.1415926535),
      T(255.5), T(-0.75), 127,      128,     T(2147483648.0), T(4294967040.0)};
  for (const T x : kTelling)
    for (const T y : {x, -x}) list.push_back(bits_of(y));
  for (const T x : {Limits::max(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                    Limits::min() / 2, std::nextafter(T(1), T(2))})
    for (const T y : {x, -x}) list.push_back(bits_of(y));
  list.push_back(bits_of(Limits::quiet_NaN()));
}

void add_integers(std::vector<std::uint64_t>& list, std::size_t bytes) {
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  const std::uint64_t top = std::uint64_t{1} << (8 * bytes - 1);
  for (const std::uint64_t x : {0ull,
                                1ull,
                                2ull,
                                3ull,
                                5ull,
                                7ull,
                                15ull,
                                16ull,
                                31ull,
                                32ull,
                                33ull,
                                63ull,
                                64ull,
                                100ull,
                                127ull,
                                128ull,
                                255ull,
                                256ull,
                                0x3c00ull,
                                0x3f80ull,
                                0x7c00ull,
                                0x7f80ull,
                                0x8001ull,
                                0xffffull,
                                0x10000ull,
                                0x5555555555555555ull,
                                0x123456789abcdef0ull})
    list.push_back(x & mask);
  for (const std::uint64_t x : {top, top - 1, top + 1, mask, mask - 1, mask - 2, mask - 32})
    list.push_back(x & mask);
}

std::string word_of(std::size_t bytes) { return ".b" + std::to_string(8 * bytes); }
/// Registers have at least 16 bits.
std::string register_of(std::size_t bytes) { return word_of(std::max<std::size_t>(bytes, 2)); }

std::string body_of(const OpcodeRow& row) {
  constexpr std::array kNames = {"%a", "%b", "%c"};
  std::string body = ".reg " + register_of(row.result_bytes) + " %d;\n";
  body += "mad.lo.u32 %r0, %rank, " + std::to_string(kThreads) +
          ", %tid;\nmul.wide.u32 %rd0, %r0, 8;\n";
  body += "mul.lo.u64 %rd1, %rd0, 3;\nadd.u64 %rd1, %rd1, %in;\nadd.u64 %rd2, %rd0, %out;\n";
  for (std::size_t n = 0; n < row.operand_bytes.size(); ++n) {
    body += ".reg " + register_of(row.operand_bytes[n]) + " " + kNames[n] + ";\n";
    body += "ld.global" + word_of(row.operand_bytes[n]) + " " + kNames[n] + ", [%rd1+" +
            std::to_string(kSlot * n) + "];\n";
  }
  body += "mad.lo.u32 %r12, %tid, 16, %smem;\n";  // 16 bytes of shared memory for each thread
  return body + row.text + "\nst.global" + word_of(row.result_bytes) + " [%rd2], %d;\n";
}

/// Three operands of each case, one behind the other.
std::vector<std::uint64_t> cases_of(const OpcodeRow& row) {
  std::vector<std::vector<std::uint64_t>> lists;
  const std::size_t operands = row.operand_bytes.size();
  for (std::size_t n = 0; n < operands; ++n)
    lists.push_back(
        samples(row.operand_bytes[n], row.operand_is_float[n], operands == 1 ? 1000 : 6));
  std::vector<std::uint64_t> cases;
  const auto add = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    cases.insert(cases.end(), {a, b, c});
  };
  std::mt19937_64 random(1);
  if (operands == 0) add(0, 0, 0);
  if (operands == 1)
    for (const auto a : lists[0]) add(a, 0, 0);
  if (operands == 2)
    for (const auto a : lists[0])
      for (const auto b : lists[1]) add(a, b, 0);
  if (operands == 3)
    for (int k = 0; k < 4000; ++k)
      add(lists[0][random() % lists[0].size()], lists[1][random() % lists[1].size()],
          lists[2][random() % lists[2].size()]);
  while (cases.size() / 3 % kThreads != 0) add(cases[0], cases[1], cases[2]);
  return cases;
}

/// The opcodes of statements that are not declarations.
std::set<std::string> opcodes_of(const std::string& text) {
  std::set<std::string> opcodes;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    std::size_t begin = text.find_first_not_of(" \n", at);
    if (begin < end && text[begin] == '@')
      begin = text.find_first_not_of(' ', text.find(' ', begin));
    if (begin < end && text[begin] != '.')
      opcodes.insert(text.substr(begin, text.find_first_of(" ;", begin) - begin));
    at = end + 1;
  }
  return opcodes;
}

std::set<std::string>& checked_opcodes() {
  static std::set<std::string> all;
  return all;
}

/// Whether every lane was right.
bool check_row(const OpcodeRow& row) {
  const std::vector<std::uint64_t> cases = cases_of(row);
  PtxKernel kernel;
  kernel.body = body_of(row);
  kernel.threads = kThreads;
  kernel.blocks = static_cast<std::uint32_t>(cases.size() / 3 / kThreads);
  kernel.shared_bytes = 16 * kThreads;
  kernel.before = ".const .align 4 .b32 constants[4] = {11, 22, 33, 44};\n";
  kernel.in = bytes_of_values(cases);
  kernel.out_words = cases.size() / 3 * 2;
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::size_t k = 0; k < cases.size() / 3; ++k) {
    const std::uint64_t got = run.out[2 * k] | std::uint64_t{run.out[2 * k + 1]} << 32;
    const std::uint64_t wanted = row.expected(&cases[3 * k]);
    if (row.same(got, wanted)) continue;
    CAPTURE(cases[3 * k]);
    CAPTURE(cases[3 * k + 1]);
    CAPTURE(cases[3 * k + 2]);
    CHECK(got == wanted);
    return false;  // one is enough
  }
  return run.report.findings.empty();
}

}  // namespace

std::set<std::string>& Tested::all() {
  static std::set<std::string> all;
  return all;
}

std::set<std::string> tested_opcodes() {
  std::set<std::string> tested = checked_opcodes();
  std::ranges::set_intersection(Tested::all(), launched_opcodes(),
                                std::inserter(tested, tested.end()));
  return tested;
}

std::vector<std::uint64_t> samples(std::size_t bytes, bool is_float, std::size_t random) {
  std::vector<std::uint64_t> list;
  if (is_float)
    bytes == 4 ? add_floats<float>(list) : add_floats<double>(list);
  else
    add_integers(list, bytes);
  std::mt19937_64 source(bytes + (is_float ? 16u : 0u));
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  for (std::size_t n = 0; n < random; ++n) list.push_back(source() & mask);
  return list;
}

void check(const OpcodeTable& table) {
  for (const OpcodeRow& row : table.rows) {
    CAPTURE(row.text);
    if (check_row(row)) checked_opcodes().merge(opcodes_of(row.text));
  }
}

}  // namespace halftone::tests
