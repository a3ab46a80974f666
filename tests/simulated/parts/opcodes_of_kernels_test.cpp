// SPDX-License-Identifier: Apache-2.0
// What NVRTC emits for kernels (golden/opcodes.txt) and no other table has to the letter: moves
// through every space, comparisons, selections. Expected: what was stored, and C++.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "opcode_table.hpp"

using namespace halftone::tests;

namespace {

using U16 = std::uint16_t;
using U = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}

/// Stores %a at the address and loads it again.
std::string through(const std::string& space, const std::string& address, const std::string& type) {
  return "st" + space + type + " [" + address + "], %a; ld" + space + type + " %d, [" + address +
         "];";
}
const std::string kDepot = ".local .align 8 .b8 depot[16]; ";

template <class T>
void add_spaces(OpcodeRows& rows, const std::string& type) {
  rows.push_back(row("ld.global" + type + " %d, [%rd1];", same<T>));
  rows.push_back(row("ld.global.nc" + type + " %d, [%rd1];", same<T>));
  rows.push_back(row(through(".global", "%rd2", type), same<T>));
  rows.push_back(row(through("", "%rd2", type), same<T>));
  rows.push_back(row(through(".shared", "%r12+8", type), same<T>));
  rows.push_back(row(kDepot + through(".local", "depot+8", type), same<T>));
}

/// Four elements of 16 bytes in which the operand is the first two or, where it is not aligned, the
/// last two.
OpcodeRow wide_load(const std::string& opcode) {
  return row(".reg .b64 %q; .reg .b32 %w, %x, %y, %z; and.b64 %q, %rd1, -16; " + opcode +
                 " {%w, %x, %y, %z}, [%q]; and.b64 %q, %rd1, 8; setp.eq.s64 %p1, %q, 0; selp.b32 "
                 "%w, %w, %y, %p1; selp.b32 %x, %x, %z, %p1; mov.b64 %d, {%w, %x};",
             same<U64>);
}
OpcodeRow halves_load(const std::string& opcode) {
  return row(".reg .b16 %w, %x, %y, %z; " + opcode +
                 " {%w, %x, %y, %z}, [%rd1]; mov.b64 %d, {%w, %x, %y, %z};",
             same<U64>);
}

OpcodeRows memory_rows() {
  OpcodeRows rows;
  add_spaces<U>(rows, ".f32");
  add_spaces<U>(rows, ".u32");
  add_spaces<U16>(rows, ".u16");
  add_spaces<U64>(rows, ".u64");
  const auto low_byte = +[](U16 a) { return static_cast<U16>(a & 255); };
  for (const char* load : {"ld.global.u8 %d, [%rd1];", "ld.global.nc.u8 %d, [%rd1];"})
    rows.push_back(row(load, low_byte));
  for (const std::string load : {"ld.global.v4.u8", "ld.global.nc.v4.u8"})
    rows.push_back(row(".reg .b16 %w, %x, %y, %z; .reg .b32 %q; " + load +
                           " {%w, %x, %y, %z}, [%rd1]; mov.b32 %d, {%w, %y}; mov.b32 %q, {%x, %z}; "
                           "shl.b32 %q, %q, 8; or.b32 %d, %d, %q;",
                       same<U>));
  rows.push_back(row("ld.global.nc.u64 %d, [%rd1];", same<U64>));
  rows.push_back(row(through(".shared", "%r12+3", ".u8"), low_byte));
  rows.push_back(row(kDepot + through(".local", "depot+3", ".u8"), low_byte));
  for (const char* opcode :
       {"ld.global.v4.f32", "ld.global.nc.v4.f32", "ld.global.v4.u32", "ld.global.nc.v4.u32"})
    rows.push_back(wide_load(opcode));
  for (const char* opcode : {"ld.global.v4.u16", "ld.global.nc.v4.u16"})
    rows.push_back(halves_load(opcode));
  rows.push_back(row(
      ".reg .b32 %x, %y; ld.global.nc.v2.u32 {%x, %y}, [%rd1]; mov.b64 %d, {%x, %y};", same<U64>));
  const auto both = +[](U a, U b) { return U64{b} << 32 | a; };
  for (const std::string load : {"ld.shared.v2.b32", "ld.shared.v2.f32"})
    rows.push_back(row(".reg .b32 %x, %y; st.shared.v2.f32 [%r12], {%a, %b}; " + load +
                           " {%x, %y}, [%r12]; mov.b64 %d, {%x, %y};",
                       both));
  rows.push_back(row(kDepot +
                         ".reg .b32 %x, %y; st.local.v2.f32 [depot], {%a, %b}; ld.local.v2.f32 "
                         "{%x, %y}, [depot]; mov.b64 %d, {%x, %y};",
                     both));
  // Of a thread's 24 bytes of operands the 16 that are aligned.
  const std::string aligned = ".reg .b64 %q; add.u64 %q, %rd1, 8; and.b64 %q, %q, -16; ";
  for (const auto& [before, space, address] :
       {std::array<std::string, 3>{"", ".shared", "%r12"}, {aligned, ".global", "%q"}})
    rows.push_back(row(
        before + ".reg .b32 %w, %x, %y, %z; st" + space + ".v4.f32 [" + address +
            "], {%a, %b, %c, %a}; ld" + space + ".v4.f32 {%w, %x, %y, %z}, [" + address +
            "]; mad.lo.u32 %d, %x, 3, %w; mad.lo.u32 %d, %y, 5, %d; mad.lo.u32 %d, "
            "%z, 7, %d;",
        +[](U a, U b, U c) { return a + 3 * b + 5 * c + 7 * a; }));
  for (const std::string increment : {"atom.global.inc.u32", "atom.acq_rel.gpu.global.inc.u32"})
    rows.push_back(row(
        "st.global.u32 [%rd2], %a; " + increment +
            " %d, [%rd2], %b; setp.ne.u32 %p1, %d, %a; ld.global.u32 %d, [%rd2]; "
            "@%p1 mov.u32 %d, 51966;",
        +[](U a, U b) { return a >= b ? 0 : a + 1; }));
  return rows;
}

template <class T>
void add_comparison(OpcodeRows& rows, const std::string& name, U (*wanted)(T, T)) {
  rows.push_back(row("setp." + name + " %p1, %a, %b; selp.u32 %d, 1, 0, %p1;", wanted));
}

OpcodeRows register_rows() {
  OpcodeRows rows;
  rows.push_back(row("mov.f32", same<U>));
  rows.push_back(row("cvt.u32.u16", +[](U16 a) { return U{a}; }));
  rows.push_back(row("cvt.u32.u64", +[](U64 a) { return static_cast<U>(a); }));
  rows.push_back(row("setp.lt.u16 %p1, %a, %b; selp.b16 %d, %a, %b, %p1;", smaller<U16>));
  rows.push_back(row("setp.lt.u16 %p1, %a, %b; selp.u16 %d, %a, %b, %p1;", smaller<U16>));
  rows.push_back(row("setp.lt.u32 %p1, %a, %b; selp.f32 %d, %a, %b, %p1;", smaller<U>));
  add_comparison<U>(rows, "eq.b32", [](U a, U b) { return U{a == b}; });
  add_comparison<U>(rows, "gt.u32", [](U a, U b) { return U{a > b}; });
  add_comparison<U64>(rows, "ge.u64", [](U64 a, U64 b) { return U{a >= b}; });
  add_comparison<U64>(rows, "gt.u64", [](U64 a, U64 b) { return U{a > b}; });
  add_comparison<U64>(rows, "le.u64", [](U64 a, U64 b) { return U{a <= b}; });
  add_comparison<U64>(rows, "lt.u64", [](U64 a, U64 b) { return U{a < b}; });
  return rows;
}

const OpcodeTable kMemory(memory_rows()), kRegisters(register_rows());

}  // namespace

TEST_CASE("values come back from every space that kernels keep them in") { check(kMemory); }
TEST_CASE("kernels' comparisons and selections are C++'s") { check(kRegisters); }
