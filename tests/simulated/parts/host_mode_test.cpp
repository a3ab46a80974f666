// SPDX-License-Identifier: Apache-2.0
// The simulator computes the same bits whatever its host's floating-point mode is, and leaves that
// mode as it was. Expected bits are IEEE 754's, by hand.
#include <doctest/doctest.h>
#include <fenv.h>

#include "run_ptx.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>

using namespace halftone::tests;

namespace {

constexpr unsigned kRoundings[] = {0x0000, 0x2000, 0x4000, 0x6000};  // nearest, down, up, zero
constexpr unsigned kFlushes[] = {0x0000, 0x0040, 0x8000, 0x8040};    // -, DAZ, FTZ, both
constexpr unsigned kMasks = 0x1f80, kX87Masks = 0x003f;              // of all six exceptions

/// Of both units.
struct HostMode {
  unsigned sse = 0;
  unsigned short x87 = 0;

  static HostMode current() {
    HostMode mode{_mm_getcsr(), 0};
    asm volatile("fnstcw %0" : "=m"(mode.x87));
    return mode;
  }
  void set() const {
    asm volatile("fldcw %0" : : "m"(x87));
    _mm_setcsr(sse);
  }
  bool operator==(const HostMode&) const = default;
};

/// The x87 has the same two bits of rounding control, lower; 0x340 is how it always is.
HostMode mode_of(unsigned rounding, unsigned flush, bool traps) {
  return {rounding | flush | (traps ? 0 : kMasks),
          static_cast<unsigned short>(0x0340 | rounding >> 3 | (traps ? 0 : kX87Masks))};
}

struct Operation {
  const char* ptx;  ///< leaves its result in %r1 or, as 64 bits, in %rd1
  std::uint64_t expected;
  bool wide = false;
};

constexpr Operation kOperations[] = {
    {"add.rn.f32 %r1, 0f3f800000, 0f33800000", 0x3f800000},              // 1 + 2^-24, a tie
    {"add.rn.f32 %r1, 0f3f800000, 0f33c00000", 0x3f800001},              // 1 + 1.5 * 2^-24
    {"add.rn.f32 %r1, 0fbf800000, 0fb3c00000", 0xbf800001},              // and negative
    {"add.rz.f32 %r1, 0f3f800000, 0f33c00000", 0x3f800000},              // towards zero
    {"add.rp.f32 %r1, 0f3f800000, 0f33000000", 0x3f800001},              // up
    {"mul.rn.f32 %r1, 0f00000001, 0f3f800000", 0x00000001},              // a subnormal stays
    {"mul.rn.f32 %r1, 0f00800000, 0f3f000000", 0x00400000},              // and is made
    {"mul.rn.f32 %r1, 0f7f000000, 0f7f000000", 0x7f800000},              // overflow
    {"fma.rn.f32 %r1, 0f3f800001, 0f3f800001, 0fbf800002", 0x28800000},  // 2^-46, exact
    {"div.rn.f32 %r1, 0f3f800000, 0f40400000", 0x3eaaaaab},              // 1/3
    {"div.rn.f32 %r1, 0f3f800000, 0f00000000", 0x7f800000},              // 1/0
    {"div.rn.f32 %r1, 0f00000000, 0f00000000", 0x7fffffff},              // 0/0, PTX's NaN
    {"sqrt.rn.f32 %r1, 0f40000000", 0x3fb504f3},                         // the root of 2
    {"cvt.rn.bf16x2.f32 %r1, 0f3eaaaaab, 0f3eaaaaab", 0x3eab3eab},
    {"cvt.rn.f16x2.f32 %r1, 0f3eaaaaab, 0f33800000", 0x35550001},  // and f16's least
    {"cvt.rni.s32.f32 %r1, 0f40200000", 2},                        // 2.5
    {"cvt.rn.f32.s32 %r1, 16777217", 0x4b800000},                  // 2^24 + 1
    {"cvt.rn.f32.f64 %r1, 0d3fd5555555555555", 0x3eaaaaab},
    {"add.rn.f64 %rd1, 0d3ff0000000000000, 0d3ca8000000000000", 0x3ff0000000000001, true},
    {"add.rm.f64 %rd1, 0d3ff0000000000000, 0d3ca8000000000000", 0x3ff0000000000000, true},
    {"div.rn.f64 %rd1, 0d3ff0000000000000, 0d4008000000000000", 0x3fd5555555555555, true},
    {"mul.rn.f64 %rd1, 0d0000000000000001, 0d3ff0000000000000", 1, true},
};

/// 1 + 1.5 * 2^-24 as products of f16: every element of the result. The terms are added exactly
/// and rounded once.
const std::string kMatrix =
    "mov.b32 %r2, 0;\nmov.b32 %r3, 0;\n"
    "and.b32 %r4, %tid, 3;\nsetp.eq.u32 %p1, %r4, 0;\n"
    "@%p1 mov.b32 %r2, 0x00013c00;\n@%p1 mov.b32 %r3, 0x3e003c00;\n"
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r5, %r6, %r7, %r8}, {%r2, %r2}, {%r3}, "
    "{%r9, %r9, %r9, %r9};\n";

PtxKernel kernel_of_all() {
  PtxKernel kernel;
  kernel.chip = "sm_80";
  kernel.body = "mov.b32 %r9, 0;\n" + kMatrix;
  const std::size_t words = 2 * std::size(kOperations) + 2;
  kernel.body += "mul.lo.u32 %r10, %rank, " + std::to_string(4 * words) + ";\n";
  kernel.body += "cvt.u64.u32 %rd10, %r10;\nadd.u64 %out, %out, %rd10;\n";
  kernel.body += "setp.ne.u32 %p2, %tid, 0;\n@%p2 bra END;\n";
  kernel.body += "cvt.u64.u32 %rd1, %r5;\nst.global.u64 [%out], %rd1;\n";
  std::size_t at = 8;
  for (const Operation& each : kOperations) {
    kernel.body += std::string(each.ptx) + ";\n";
    if (!each.wide) kernel.body += "cvt.u64.u32 %rd1, %r1;\n";
    kernel.body += "st.global.u64 [%out+" + std::to_string(at) + "], %rd1;\n";
    at += 8;
  }
  kernel.body += "END:\n";
  kernel.blocks = 4;
  kernel.out_words = kernel.blocks * words;
  return kernel;
}

}  // namespace

TEST_CASE("kernels compute the same bits in every mode of their host, which stays as it was") {
  const PtxKernel kernel = kernel_of_all();
  const auto module = halftone::simulator::Module::parse(ptx_of(kernel), "modes");
  std::vector<std::uint32_t> expected;
  for (std::uint32_t block = 0; block < kernel.blocks; ++block) {
    expected.insert(expected.end(), {0x3f800001, 0});
    for (const Operation& each : kOperations)
      expected.insert(expected.end(), {static_cast<std::uint32_t>(each.expected),
                                       static_cast<std::uint32_t>(each.expected >> 32)});
  }
  const HostMode before = HostMode::current();
  for (const unsigned rounding : kRoundings)
    for (const unsigned flush : kFlushes)
      for (const bool traps : {false, true})
        for (const unsigned threads : {1, 3}) {
          halftone::simulator::Device device(kernel.chip);
          const std::uint64_t out = device.allocate(expected.size() * 4, "out");
          const void* parameters[] = {&out, &out};
          halftone::simulator::LaunchOptions options;
          options.check = threads == 1;
          options.threads = threads;
          const HostMode host = mode_of(rounding, flush, traps);
          host.set();
          const auto report =
              device.launch(module, "k", {kernel.blocks, 1, 1}, {32, 1, 1}, 0, parameters, options);
          const HostMode after = HostMode::current();
          before.set();
          std::vector<std::uint32_t> found(expected.size());
          device.copy_out(std::as_writable_bytes(std::span(found)), out);
          CAPTURE(rounding);
          CAPTURE(flush);
          CAPTURE(traps);
          CAPTURE(threads);
          CHECK(report.findings.empty());
          CHECK(found == expected);
          CHECK((after.sse & ~0x3fu) == (host.sse & ~0x3fu));  // without the flags of exceptions
          CHECK((after.sse & 0x3fu) == 0);
          CHECK(after.x87 == host.x87);
        }
}

TEST_CASE("an x87 unit that rounds otherwise than the rest of the host changes nothing") {
  // fegetround() asks that unit, and what it says is set for both.
  PtxKernel kernel;
  kernel.body =
      "add.rm.f64 %rd1, 0d3ff0000000000000, 0d3ca8000000000000;\n"
      "add.rn.f64 %rd1, 0d3ff0000000000000, 0d3ca8000000000000;\nst.global.u64 [%out], %rd1;";
  kernel.threads = 1;
  const HostMode before = HostMode::current();
  HostMode host = before;
  host.x87 |= 0x0400;  // down
  host.set();
  const PtxRun run = run_ptx(kernel);
  const HostMode after = HostMode::current();
  before.set();
  CHECK(run.out[0] == 1);
  CHECK(after == host);
}
#endif
