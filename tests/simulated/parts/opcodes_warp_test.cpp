// SPDX-License-Identifier: Apache-2.0
// Exchange among lanes, branches, calls and barriers: 32 or more threads, each one's result
// computed on the host from all inputs.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "opcode_table.hpp"
#include "run_ptx.hpp"

using namespace halftone::tests;
using namespace halftone::simulator;

namespace {

using U = std::uint32_t;
using Words = std::vector<U>;

constexpr U kThreads = 64;

U input(U thread) { return thread * 2654435761u; }

struct Case {
  const char* name;
  const char* text;  ///< from %a (the thread's input) to %d; %r10 is the lane, %tid the thread
  std::function<U(U thread)> expected;
  const char* before = "";  ///< functions of the module
  bool floats = false;      ///< inputs are those of number_of
};

U lane_of(U thread) { return thread % 32; }
U of_lane(U thread, U lane) { return input(thread / 32 * 32 + lane); }
U votes(U thread, const std::function<bool(U)>& holds) {
  U mask = 0;
  for (U l = 0; l < 32; ++l) mask |= U{holds(of_lane(thread, l))} << l;
  return mask;
}
bool odd(U x) { return x & 1; }
template <class T>
U reduced(U thread, T (*f)(T, T)) {
  T sum = static_cast<T>(of_lane(thread, 0));
  for (U l = 1; l < 32; ++l) sum = f(sum, static_cast<T>(of_lane(thread, l)));
  return static_cast<U>(sum);
}

/// What lanes give to redux.f32: lane 5 NaN, lane 9 -0, lane 10 +0.
const std::string kFloats =
    "setp.eq.u32 %p2, %r10, 5; @%p2 mov.b32 %a, 0x7fc00001; setp.eq.u32 %p2, %r10, 9; @%p2 mov.b32 "
    "%a, 0x80000000; setp.eq.u32 %p2, %r10, 10; @%p2 mov.b32 %a, 0; ";
float number_of(U thread, U lane, bool absolute) {
  const U bits = lane == 5    ? 0x7fc00001u
                 : lane == 9  ? 0x80000000u
                 : lane == 10 ? 0
                              : of_lane(thread, lane);
  return std::bit_cast<float>(absolute ? bits & 0x7fffffffu : bits);
}
/// The least or the largest number; -0 lies below +0.
U furthest(U thread, bool least, bool absolute) {
  float best = std::numeric_limits<float>::quiet_NaN();
  for (U l = 0; l < 32; ++l) {
    const float x = number_of(thread, l, absolute);
    const bool beyond = x < best || (x == best && std::signbit(x) && !std::signbit(best));
    const bool inside = x > best || (x == best && !std::signbit(x) && std::signbit(best));
    if (x == x && (best != best || (least ? beyond : inside))) best = x;
  }
  return std::bit_cast<U>(best);
}

// Predicate of odd inputs: %p1.
const Case kCases[] = {
    {"up in segments of 8", "shfl.sync.up.b32 %d|%p2, %a, 3, 0x1800, -1; @!%p2 add.u32 %d, %d, 7;",
     [](U t) { return lane_of(t) % 8 >= 3 ? of_lane(t, lane_of(t) - 3) : input(t) + 7; }},
    {"down", "shfl.sync.down.b32 %d|%p2, %a, 5, 0x1f, -1; @!%p2 add.u32 %d, %d, 7;",
     [](U t) { return lane_of(t) < 27 ? of_lane(t, lane_of(t) + 5) : input(t) + 7; }},
    {"butterfly", "shfl.sync.bfly.b32 %d, %a, 9, 0x1f, -1;",
     [](U t) { return of_lane(t, lane_of(t) ^ 9); }},
    {"index",
     "shfl.sync.idx.b32 %d, %a, %r10, 0x181f, -1; shfl.sync.idx.b32 %d, %a, 3, 0x181f, -1;",
     [](U t) { return of_lane(t, lane_of(t) / 8 * 8 + 3); }},
    {"all, any and uni",
     "vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1; vote.sync.uni.pred %p4, "
     "%p3, -1;"
     "selp.u32 %d, 1, 0, %p2; @%p3 add.u32 %d, %d, 2; @%p4 add.u32 %d, %d, 4;",
     [](U t) { return U{votes(t, odd) == ~0u} + 2 * U{votes(t, odd) != 0} + 4; }},
    {"ballot", "vote.sync.ballot.b32 %d, !%p1, -1;", [](U t) { return ~votes(t, odd); }},
    {"match any", "and.b32 %a, %a, 3; match.any.sync.b32 %d, %a, -1;",
     [](U t) { return votes(t, [&](U x) { return x % 4 == input(t) % 4; }); }},
    {"match all", "and.b32 %a, %a, 0; match.all.sync.b32 %d|%p2, %a, -1; @%p2 sub.u32 %d, %d, 1;",
     [](U) { return ~0u - 1; }},
    {"sum of lanes", "redux.sync.add.s32 %d, %a, -1;",
     [](U t) { return reduced<U>(t, [](U a, U b) { return a + b; }); }},
    {"least of lanes", "redux.sync.min.s32 %d, %a, -1;",
     [](U t) { return reduced<int>(t, [](int a, int b) { return a < b ? a : b; }); }},
    {"largest of lanes", "redux.sync.max.u32 %d, %a, -1;",
     [](U t) { return reduced<U>(t, [](U a, U b) { return a > b ? a : b; }); }},
    {"xor of lanes", "redux.sync.xor.b32 %d, %a, -1;",
     [](U t) { return reduced<U>(t, [](U a, U b) { return a ^ b; }); }},
    {"least number of lanes", "redux.sync.min.f32 %d, %a, -1;",
     [](U t) { return furthest(t, true, false); }, "", true},
    {"largest number of lanes", "redux.sync.max.f32 %d, %a, -1;",
     [](U t) { return furthest(t, false, false); }, "", true},
    {"largest magnitude of lanes", "redux.sync.max.abs.f32 %d, %a, -1;",
     [](U t) { return furthest(t, false, true); }, "", true},
    {"least of zeros", "and.b32 %a, %a, 0x80000000; redux.sync.min.f32 %d, %a, -1;",
     [](U t) { return votes(t, [](U x) { return x >> 31; }) ? 0x80000000u : 0; }},
    {"a NaN among lanes that counts", "redux.sync.min.abs.NaN.f32 %d, %a, -1;",
     [](U) { return 0x7fffffffu; }, "", true},
    {"only NaN", "mov.b32 %a, 0xffc00000; redux.sync.max.f32 %d, %a, -1;",
     [](U) { return 0x7fffffffu; }},
    {"one lane is elected",
     "mov.u32 %d, 0; elect.sync %r20|%p2, -1; @%p2 mov.u32 %d, 1; add.u32 %d, %d, %r20;",
     [](U t) { return U{lane_of(t) == 0}; }},
    {"active lanes",
     "mov.u32 %d, 0; @!%p1 bra N; activemask.b32 %d; bra.uni N; N: bar.warp.sync -1;",
     [](U t) { return odd(input(t)) ? votes(t, odd) : 0; }},
    {"a loop of each lane's length",
     "mov.u32 %d, 0; L: add.u32 %d, %d, 3; setp.lt.u32 %p2, %d, %r10; @%p2 bra L;",
     [](U t) { return lane_of(t) == 0 ? 3 : (lane_of(t) + 2) / 3 * 3; }},
    {"a table of branches",
     "and.b32 %r11, %tid, 3; ts: .branchtargets A, B, C, D; brx.idx %r11, ts; A: mov.u32 %d, 10; "
     "bra.uni E; "
     "B: mov.u32 %d, 21; bra.uni E; C: mov.u32 %d, 32; bra.uni E; D: mov.u32 %d, 43; E: "
     "bar.warp.sync -1;",
     [](U t) { return 10 + 11 * (t % 4); }},
    {"calls",
     "{ .param .b32 q0; .param .b32 q1; st.param.b32 [q0], %a; call.uni (q1), twice, (q0); "
     "ld.param.b32 %d, [q1]; }"
     "@!%p1 bra R; { .param .b32 q0; .param .b32 q1; st.param.b32 [q0], %d; call (q1), twice, "
     "(q0); ld.param.b32 %d, [q1]; } R: bar.warp.sync -1;",
     [](U t) { return input(t) * (odd(input(t)) ? 4 : 2); },
     ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %v;\nld.param.b32 %v, [x];\nadd.u32 "
     "%v, %v, %v;\n"
     "st.param.b32 [r], %v;\nret;\n}\n"},
    {"some lanes leave first",
     "mov.u32 %d, 5; @%p1 st.global.u32 [%rd9], %a; @%p1 exit; add.u32 %d, %d, %r10;",
     [](U t) { return odd(input(t)) ? input(t) : 5 + lane_of(t); }},
    {"votes of a block",
     "bar.red.popc.u32 %d, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1; "
     "@%p2 add.u32 %d, %d, 1000; "
     "@%p3 add.u32 %d, %d, 2000;",
     [](U) {
       return static_cast<U>(std::popcount(votes(0, odd)) + std::popcount(votes(32, odd))) + 2000;
     }},
    {"votes at a named barrier", "barrier.red.popc.aligned.u32 %d, 3, 64, !%p1;",
     [](U) {
       return 64u - static_cast<U>(std::popcount(votes(0, odd)) + std::popcount(votes(32, odd)));
     }},
    {"a barrier that some only arrive at",
     "setp.lt.u32 %p2, %tid, 32; @!%p2 bra V; st.shared.u32 [%r12], %a; barrier.arrive 1, 64; "
     "mov.u32 %d, 1; bra.uni X; V: barrier.sync 1, 64; "
     "ld.shared.u32 %d, [%r12+-128]; X: bar.sync 0; bar.arrive 5, 128; bar.sync 5, 128;",
     [](U t) { return t < 32 ? 1 : input(t - 32); }},
    {"nothing is slept, counted or depended on",
     "nanosleep.u32 20; pmevent 1; griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 "
     "%d, %a;",
     input},
};

std::string body_of(const Case& c) {
  return ".reg .b32 %a, %d;\nmul.wide.u32 %rd8, %tid, 4;\nadd.u64 %rd9, %rd8, %out;\nadd.u64 %rd8, "
         "%rd8, %in;\nld.global.u32 %a, [%rd8];\n"
         "mov.u32 %r10, %laneid;\nmad.lo.u32 %r12, %tid, 4, %smem;\nand.b32 %r13, %a, "
         "1;\nsetp.eq.u32 %p1, %r13, 1;\n" +
         (c.floats ? kFloats : "") + std::string(c.text) + "\nst.global.u32 [%rd9], %d;\n";
}

const Tested kTested{"st.param.b32",
                     "shfl.sync.up.b32",
                     "shfl.sync.down.b32",
                     "shfl.sync.bfly.b32",
                     "shfl.sync.idx.b32",
                     "vote.sync.all.pred",
                     "vote.sync.ballot.b32",
                     "match.any.sync.b32",
                     "match.all.sync.b32",
                     "redux.sync.add.s32",
                     "redux.sync.xor.b32",
                     "redux.sync.min.f32",
                     "redux.sync.max.abs.f32",
                     "elect.sync",
                     "activemask.b32",
                     "bra",
                     "brx.idx",
                     "call.uni",
                     "ret",
                     "exit",
                     "bar.red.popc.u32",
                     "barrier.red.popc.aligned.u32",
                     "bar.warp.sync",
                     "barrier.arrive",
                     "bar.sync",
                     "nanosleep.u32",
                     "pmevent",
                     "griddepcontrol.wait",
                     "trap",
                     "brkpt"};

}  // namespace

TEST_CASE("lanes exchange, vote, branch, call and meet as PTX says") {
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    PtxKernel kernel;
    kernel.before = c.before;
    kernel.body = body_of(c);
    kernel.threads = kThreads;
    kernel.shared_bytes = 1024;
    Words in(kThreads);
    for (U t = 0; t < kThreads; ++t) in[t] = input(t);
    kernel.in = bytes_of_values(in);
    const PtxRun run = run_ptx(kernel);
    CHECK(run.text() == "");
    for (U t = 0; t < kThreads; ++t) {
      CAPTURE(t);
      CHECK(run.out[t] == c.expected(t));
    }
  }
}

TEST_CASE("a trap stops the launch and is reported") {
  for (const char* opcode : {"trap;", "brkpt;"}) {
    PtxKernel kernel;
    kernel.body = opcode;
    CHECK(run_ptx(kernel).found(Kind::trap));
  }
}
