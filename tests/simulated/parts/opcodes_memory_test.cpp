// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of every space and width: what memory holds afterwards, computed in
// C++; and flags that pass an order from block to block.
#include <doctest/doctest.h>

#include <algorithm>

#include "opcode_table.hpp"
#include "rounded_float.hpp"
#include "run_ptx.hpp"

using namespace halftone::tests;
using halftone::simulator::Kind;

namespace {

using U = std::uint32_t;
using I = std::int32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

//===--- Loads and stores ---===//

/// A load into a wider register keeps the type's sign.
U sign_extended(U a) { return static_cast<U>(static_cast<I>(static_cast<std::int8_t>(a))); }
U zero_extended(U a) { return a & 0xffff; }

OpcodeRows memory_rows() {
  OpcodeRows rows;
  for (const char* text :
       {"ld.global.volatile.u32 %d, [%rd1];", "ld.global.nc.L1::no_allocate.b32 %d, [%rd1];",
        "ld.relaxed.gpu.global.u32 %d, [%rd1];", "ld.u32 %d, [%rd1];", "ldu.global.u32 %d, [%rd1];",
        "st.shared.u32 [%r12+4], %a; ld.shared.u32 %d, [%r12+4];",
        "st.volatile.shared.u32 [%r12], %a; ld.volatile.shared.u32 %d, [%r12];",
        ".local .align 8 .b8 depot[24]; st.local.u32 [depot+8], %a; ld.local.u32 %d, [depot+8];",
        ".local .align 8 .b8 depot[8]; .reg .b64 %x; mov.u64 %x, depot; cvta.local.u64 %x, %x; "
        "st.u32 [%x], %a; ld.u32 %d, [%x];",
        ".reg .b64 %x; cvt.u64.u32 %x, %r12; cvta.shared.u64 %x, %x; st.u32 [%x], %a; "
        "cvta.to.shared.u64 %x, %x; ld.shared.u32 %d, [%x];",
        ".reg .b64 %x; cvta.to.global.u64 %x, %rd1; ld.global.cs.b32 %d, [%x];",
        "prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1]; discard.global.L2 [%rd2], 128; "
        "applypriority.global.L2::evict_normal [%rd1], 128; mov.b32 %d, %a;",
        ".reg .b64 %x; createpolicy.fractional.L2::evict_last.b64 %x, 1.0; "
        "ld.global.L2::cache_hint.b32 %d, [%rd1], %x;"})
    rows.push_back(row(text, same<U>));
  rows.push_back(row("ld.global.s8 %d, [%rd1];", sign_extended));
  rows.push_back(row("ld.global.nc.u16 %d, [%rd1];", zero_extended));
  rows.push_back(row("st.shared.b8 [%r12+3], %a; ld.shared.s8 %d, [%r12+3];", sign_extended));
  rows.push_back(row("ld.global.f64 %d, [%rd1];", same<U64>));
  rows.push_back(row(
      "st.shared.v2.b32 [%r12], {%a, %b}; ld.shared.b64 %d, [%r12];",
      +[](U a, U b) { return U64{b} << 32 | a; }));
  rows.push_back(row(
      "st.shared.b64 [%r12+8], %a; .reg .b16 %w, %x, %y, %z; ld.shared.v4.b16 {%w, %x, %y, %z}, "
      "[%r12+8]; mov.b64 %d, {%z, %y, %x, %w};",
      +[](U64 a) {
        return a << 48 | (a << 16 & 0xffff00000000) | (a >> 16 & 0xffff0000) | a >> 48;
      }));
  rows.push_back(row(".reg .b64 %x; ld.global.nc.b64 %x, [%rd1]; mov.b64 %d, %x;", same<U64>));
  rows.push_back(row(
      "and.b32 %a, %a, 3; .reg .b64 %x; mul.wide.u32 %x, %a, 4; .reg .b64 %y; mov.u64 %y, "
      "constants; add.u64 %x, %x, %y; "
      "ld.const.u32 %d, [%x];",
      +[](U a) { return 11 * (1 + a % 4); }));
  rows.push_back(row(
      ".reg .pred %q, %s, %t; .reg .b64 %x; cvt.u64.u32 %x, %r12; cvta.shared.u64 %x, %x; "
      "isspacep.shared %q, %x; isspacep.global %s, %x; "
      "isspacep.global %t, %rd1; selp.u32 %d, 1, 0, %q; @%s add.u32 %d, %d, 2; @%t add.u32 %d, %d, "
      "4;",
      +[](U) { return U{5}; }));
  rows.push_back(row(
      ".reg .b64 %x; mov.b64 %x, p1; cvta.param.u64 %x, %x; ld.param.u64 %x, [p1]; setp.eq.u64 "
      "%p1, %x, %out; selp.u32 %d, 1, 0, %p1;",
      +[](U) { return U{1}; }));
  return rows;
}

//===--- Atomics ---===//

/// a op= b in shared memory: what it was, which must be a, and what is there.
template <class T>
std::string atomic(const std::string& opcode, const std::string& bits,
                   const std::string& operands = "%b") {
  const std::string old = opcode.starts_with("red") ? "" : "%o, ";
  return ".reg .b" + bits + " %o; .reg .pred %q; st.shared.b" + bits + " [%r12], %a; mov.b" + bits +
         " %o, %a; " + opcode + " " + old + "[%r12], " + operands + "; ld.shared.b" + bits +
         " %d, [%r12]; setp.ne.b" + bits + " %q, %o, %a; @%q mov.b" + bits + " %d, 51966;";
}
template <class T>
void add_atomic(OpcodeRows& rows, const std::string& name, T (*f)(T, T)) {
  const std::string bits = std::to_string(8 * sizeof(T));
  rows.push_back(row(atomic<T>("atom.shared." + name, bits), f));
  rows.push_back(row(atomic<T>("red.relaxed.cta.shared::cta." + name, bits), f));
}

template <NumberFormat k>
std::uint16_t half_sum(U a, U b) {
  static const Narrow format(k);
  const double x = format.value(static_cast<std::uint16_t>(a)),
               y = format.value(static_cast<std::uint16_t>(b));
  return format.code(static_cast<__float128>(x) + y, std::signbit(x + y));
}
template <NumberFormat k, class P>
P pair_sum(P a, P b) {
  return {U{half_sum<k>(a.bits >> 16, b.bits >> 16)} << 16 |
          half_sum<k>(a.bits & 0xffff, b.bits & 0xffff)};
}
template <NumberFormat k, class P>
P pair_least(P a, P b) {
  static const Narrow format(k);
  const auto part = [&](int shift) {
    const auto x = static_cast<std::uint16_t>(a.bits >> shift),
               y = static_cast<std::uint16_t>(b.bits >> shift);
    const double u = format.value(x), v = format.value(y);
    if (u != u && v != v) return U{0x7fff} << shift;
    return U{u != u || v < u || (u == v && std::signbit(v)) ? y : x} << shift;
  };
  return {part(16) | part(0)};
}

OpcodeRows atomic_rows() {
  OpcodeRows rows;
  add_atomic<U>(rows, "add.u32", +[](U a, U b) { return a + b; });
  add_atomic<U64>(rows, "add.u64", +[](U64 a, U64 b) { return a + b; });
  add_atomic<float>(rows, "add.f32", +[](float a, float b) { return a + b; });
  add_atomic<double>(rows, "add.f64", +[](double a, double b) { return a + b; });
  add_atomic<I>(rows, "min.s32", +[](I a, I b) { return std::min(a, b); });
  add_atomic<U64>(rows, "max.u64", +[](U64 a, U64 b) { return std::max(a, b); });
  add_atomic<I64>(rows, "max.s64", +[](I64 a, I64 b) { return std::max(a, b); });
  add_atomic<U>(rows, "inc.u32", +[](U a, U b) { return a >= b ? 0 : a + 1; });
  add_atomic<U>(rows, "dec.u32", +[](U a, U b) { return a == 0 || a > b ? b : a - 1; });
  add_atomic<U>(rows, "and.b32", +[](U a, U b) { return a & b; });
  add_atomic<U64>(rows, "or.b64", +[](U64 a, U64 b) { return a | b; });
  add_atomic<U>(rows, "xor.b32", +[](U a, U b) { return a ^ b; });
  add_atomic<F16Pair>(rows, "add.noftz.f16x2", pair_sum<NumberFormat::f16, F16Pair>);
  add_atomic<Bf16Pair>(rows, "add.noftz.bf16x2", pair_sum<NumberFormat::bf16, Bf16Pair>);
  add_atomic<F16Pair>(rows, "min.noftz.f16x2", pair_least<NumberFormat::f16, F16Pair>);
  rows.push_back(row(atomic<U>("atom.shared.exch.b32", "32"), +[](U, U b) { return b; }));
  rows.push_back(row(atomic<U64>("atom.shared.exch.b64", "64"), +[](U64, U64 b) { return b; }));
  rows.push_back(row(
      atomic<U>("atom.acq_rel.cta.shared.cas.b32", "32", "%b, %c"),
      +[](U a, U b, U c) { return a == b ? c : a; }));
  rows.push_back(row(
      "and.b16 %b, %b, 1; and.b16 %a, %a, 1; " + atomic<U>("atom.shared.cas.b16", "16", "%b, %c"),
      +[](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
        return a % 2 == b % 2 ? c : static_cast<std::uint16_t>(a % 2);
      }));
  // Elements of a vector, one after the other, in the result's own place.
  for (const std::string opcode : {"red.global.add.v2.f32 ", "atom.global.add.v2.f32 {%x, %y}, "})
    rows.push_back(row(
        ".reg .b32 %x, %y; st.global.v2.b32 [%rd2], {%a, %b}; " + opcode +
            "[%rd2], {%b, %b}; ld.global.b64 %d, [%rd2];",
        +[](float a, float b) {
          const auto bits = [](float x) {
            return x != x ? U64{0x7fffffff} : U64{std::bit_cast<U>(x)};
          };
          return bits(b + b) << 32 | bits(a + b);
        }));
  return rows;
}

const OpcodeTable kMemory(memory_rows()), kAtomics(atomic_rows());

//===--- Flags ---===//

struct Passing {
  const char *set, *get;
};

// Block 0 stores and sets a flag, block 1 waits for it and loads.
PtxKernel passing(const Passing& p) {
  PtxKernel kernel;
  kernel.blocks = 2;
  kernel.threads = 1;
  kernel.body = "setp.ne.u32 %p1, %rank, 0;\n@%p1 bra B;\nst.global.u32 [%out+4], 77;\n" +
                std::string(p.set) + "\nbra E;\nB:\n" + p.get +
                "\nsetp.ne.u32 %p2, %r1, 1;\n@%p2 bra B;\nld.global.u32 %r2, "
                "[%out+4];\nst.global.u32 [%out+8], %r2;\nE:\n";
  return kernel;
}

const Tested kFences{"membar.gl",
                     "fence.acq_rel.gpu",
                     "st.release.gpu.global.u32",
                     "ld.acquire.gpu.global.u32",
                     "fence.proxy.alias",
                     "fence.proxy.tensormap::generic.acquire.gpu"};

}  // namespace

TEST_CASE("what is stored is loaded, from every space and at every width") { check(kMemory); }
TEST_CASE("atomics leave what the operation gives and return what was there") { check(kAtomics); }

TEST_CASE(
    "release and acquire, or fences around relaxed accesses, pass an order to another block") {
  const char *const plain_set = "st.relaxed.gpu.global.u32 [%out], 1;",
                    *const plain_get = "ld.relaxed.gpu.global.u32 %r1, [%out];";
  const char* const fenced_get = "ld.relaxed.gpu.global.u32 %r1, [%out]; fence.acq_rel.gpu;";
  const Passing ordered[] = {
      {"st.release.gpu.global.u32 [%out], 1;", "ld.acquire.gpu.global.u32 %r1, [%out];"},
      {"membar.gl; st.relaxed.gpu.global.u32 [%out], 1;", fenced_get},
      {"fence.sc.gpu; red.relaxed.gpu.global.add.u32 [%out], 1;",
       "atom.acquire.gpu.global.or.b32 %r1, [%out], 0;"},
      {"fence.acq_rel.sys; fence.proxy.alias; st.volatile.global.u32 [%out], 1;",
       "ld.volatile.global.u32 %r1, [%out]; membar.sys; fence.proxy.tensormap::generic.acquire.gpu "
       "[%out], 128;"}};
  for (const Passing& p : ordered) {
    CAPTURE(std::string(p.set));
    const PtxRun run = run_ptx(passing(p));
    CHECK(run.text() == "");
    CHECK(run.out[2] == 77);
  }
  const Passing unordered[] = {{plain_set, ordered[0].get},
                               {ordered[0].set, plain_get},
                               {ordered[1].set, plain_get},
                               {plain_set, fenced_get},
                               {"membar.cta; st.relaxed.gpu.global.u32 [%out], 1;", fenced_get},
                               {"st.release.cta.global.u32 [%out], 1;", ordered[0].get}};
  for (const Passing& p : unordered) {
    CAPTURE(std::string(p.set));
    CHECK(run_ptx(passing(p)).found(Kind::race));
  }
}
