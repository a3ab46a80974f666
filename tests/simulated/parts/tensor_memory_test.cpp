// SPDX-License-Identifier: Apache-2.0
// tcgen05 of every format, layout and swizzle of two operands of 8 bits, with and without scales,
// and of 4 bits, two a byte, with them. Operands are laid out by the canonical layouts of PTX ISA
// 9.0, 9.7.16.4 (in bytes, T = 16), instruction descriptors by its tables 42 to 44, scales by its
// figures 231 and 240, of 4 bits in the bytes of words that 9.7.16.10.7.2 and 9.7.16.10.7.3 say;
// results are compared with sums of small integers times powers of two, which every accumulation
// keeps exact.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "formats.hpp"
#include "opcode_table.hpp"
#include "run_ptx.hpp"

using namespace halftone::tests;
using halftone::simulator::Accumulation;
using halftone::simulator::Kind;
using halftone::simulator::NumberFormat;

namespace {

const Tested kTested{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
                     "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
                     "tcgen05.fence::before_thread_sync",
                     "tcgen05.fence::after_thread_sync",
                     "tcgen05.cp.cta_group::1.32x128b.warpx4",
                     "tcgen05.mma.cta_group::1.kind::f8f6f4",
                     "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X",
                     "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X",
                     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X",
                     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
                     "tcgen05.ld.sync.aligned.32x32b.x16.b32",
                     "tcgen05.ld.sync.aligned.16x256b.x2.b32",
                     "tcgen05.wait::ld.sync.aligned"};

struct Case {
  const char* name;
  NumberFormat a, b;
  int n;
  int swizzle_a, swizzle_b;  // bytes of the span: 16 (none), 32, 64, 128
  bool transposed_a, transposed_b;
  int scales;  // of a line, none where operands are numbers
  bool sixteen_rows, negative;
  int a_byte, b_byte;

  bool scaled() const { return scales > 0; }
  bool packed() const { return a == NumberFormat::e2m1; }
  int depth() const { return packed() ? 64 : 32; }
  const char* kind() const {
    if (!packed()) return scaled() ? "mxf8f6f4.block_scale.scale_vec::1X" : "f8f6f4";
    return scales == 4 ? "mxf4nvf4.block_scale.scale_vec::4X" : "mxf4.block_scale.scale_vec::2X";
  }
};

constexpr NumberFormat kE4M3 = NumberFormat::e4m3, kE5M2 = NumberFormat::e5m2,
                       kE2M1 = NumberFormat::e2m1;
const Case kCases[] = {
    {"swizzle 128", kE4M3, kE4M3, 128, 128, 128, false, false, 0, false, false, 0, 0},
    {"swizzle 64 and 32", kE4M3, kE5M2, 16, 64, 32, false, false, 0, true, false, 0, 0},
    {"no swizzle", kE5M2, kE4M3, 48, 16, 16, false, false, 0, false, false, 0, 0},
    {"both transposed, 128", kE5M2, kE5M2, 256, 128, 128, true, true, 0, true, false, 0, 0},
    {"both transposed, 64 and 32", kE4M3, kE5M2, 64, 64, 32, true, true, 0, false, false, 0, 0},
    {"both transposed, no swizzle", kE4M3, kE4M3, 32, 16, 16, true, true, 0, false, true, 0, 0},
    {"scales, 128 columns", kE4M3, kE5M2, 128, 128, 128, false, false, 1, true, false, 0, 0},
    {"scales, other bytes", kE5M2, kE5M2, 256, 128, 64, true, false, 1, false, false, 1, 2},
    {"scales, the last byte", kE4M3, kE4M3, 24, 32, 128, false, false, 1, false, true, 3, 3},
    {"4 bits, four scales", kE2M1, kE2M1, 128, 128, 128, false, false, 4, true, false, 0, 0},
    {"4 bits, no swizzle", kE2M1, kE2M1, 256, 16, 64, false, false, 4, false, true, 0, 0},
    {"4 bits, two scales", kE2M1, kE2M1, 24, 128, 32, false, false, 2, false, false, 0, 2},
    {"4 bits, the other two", kE2M1, kE2M1, 128, 128, 128, false, false, 2, true, false, 2, 0},
};

int value_at(int seed, int mn, int k) { return (mn * 7 + k * 5 + seed) % 7 - 3; }
/// The exponent of the scale of a line, in one of the bytes of its word. Where a line has several
/// they differ by little, so that sums of all are exact.
int scale_at(const Case& c, int seed, int line, int byte) {
  if (c.packed()) return (line * 5 + byte + seed) % 3 - 1;
  return (line * 5 + byte * 3 + seed) % 9 - 4;
}
/// Its code, of f8e8m0, or of an f8e4m3 without its sign.
int scale_code(const Case& c, int exponent) {
  return c.scales == 4 ? (exponent + 7) << 3 : 127 + exponent;
}

constexpr int kA = 0, kB = 16384, kScalesA = 49152, kImage = 51200;
constexpr int kMbarrier = kImage, kAddress = kImage + 8, kShared = kImage + 64;

struct Layout {
  int leading, stride, span;
  bool transposed;

  int offset(int mn, int k) const {
    const bool plain = span == 16;
    int o;
    if (!transposed)  // ((8, m), (T, 2 k)) : ((span, stride), (1, leading or T))
      o = mn % 8 * span + mn / 8 * stride + k % 16 + k / 16 * (plain ? leading : 16);
    else if (plain)  // ((T, 1, m), (8, k)) : ((1, T, stride), (T, leading))
      o = mn % 16 + mn / 16 * stride + k % 8 * 16 + k / 8 * leading;
    else  // ((T, span / T, m), (8, k)) : ((1, T, leading), (span, stride))
      o = mn % span + mn / span * leading + k % 8 * span + k / 8 * stride;
    const int rows = span == 128 ? 7 : span == 64 ? 3 : span == 32 ? 1 : 0;
    return o ^ (o / 128 & rows) * 16;
  }
  std::uint64_t descriptor() const {  // table 40
    const std::map<int, std::uint64_t> modes = {{16, 0}, {128, 2}, {64, 4}, {32, 6}};
    return static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | std::uint64_t{1} << 46 |
           modes.at(span) << 61;
  }
};

Layout layout_of(int span, bool transposed, int lines) {
  if (!transposed) return {span == 16 ? lines * 16 : 16, 8 * span, span, false};
  if (span == 16) return {128, 512, span, true};
  return {32 * span, 8 * span, span, true};  // spans of lines lie behind all 32 of k
}

std::uint32_t instruction_of(const Case& c) {
  const auto code = [](NumberFormat f) { return f == kE4M3 ? 0u : 1u; };  // e2m1: 1 in table 44
  std::uint32_t bits = code(c.a) << 7 | code(c.b) << 10;
  if (c.negative) bits |= 1u << 13;
  bits |= static_cast<std::uint32_t>(c.transposed_a) << 15;
  bits |= static_cast<std::uint32_t>(c.transposed_b) << 16;
  bits |= static_cast<std::uint32_t>(c.n >> 3) << 17;
  if (!c.scaled()) return bits | 1u << 4 | (128u >> 4) << 24;
  return bits | static_cast<std::uint32_t>(c.b_byte) << 4 | (c.scales == 4 ? 0u : 1u << 23) |
         (128u >> 7) << 27 | static_cast<std::uint32_t>(c.a_byte) << 29;
}

std::string shifted(const char* to, int bytes) {
  return std::string("add.u64 ") + to + ", %rd4, " + std::to_string(bytes >> 4) + ";\n";
}

// Copies the image to shared memory, fences it, multiplies twice (the second time onto the first),
// stores the sums by rows.
std::string body_of(const Case& c) {
  std::string text =
      "mul.lo.u32 %r300, %tid, 16;\nadd.u32 %r301, %r300, %smem;\ncvt.u64.u32 %rd1, "
      "%r300;\nadd.u64 %rd1, %rd1, %in;\nmov.u32 %r302, 0;\nL0:\n"
      "ld.global.v4.u32 {%r303, %r304, %r305, %r306}, [%rd1];\n"
      "st.shared.v4.u32 [%r301], {%r303, %r304, %r305, %r306};\nadd.u32 %r301, %r301, "
      "2048;\nadd.u64 %rd1, %rd1, 2048;\nadd.u32 %r302, %r302, 2048;\nsetp.lt.u32 %p1, %r302, " +
      std::to_string(kImage) + ";\n@%p1 bra L0;\n";
  text += "fence.proxy.async.shared::cta;\n";
  text += "add.u32 %r310, %smem, " + std::to_string(kMbarrier) + ";\n";
  text += "add.u32 %r311, %smem, " + std::to_string(kAddress) + ";\n";
  text += "setp.eq.u32 %p3, %tid, 0;\nsetp.lt.u32 %p4, %tid, 32;\n";
  text += "@%p3 mbarrier.init.shared::cta.b64 [%r310], 1;\n";
  text += "@%p3 fence.mbarrier_init.release.cluster;\n@!%p4 bra L1;\n";
  text += "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r311], 512;\n";
  text += "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nL1:\nbar.sync 0;\n";
  text += "ld.shared.u32 %r312, [%r311];\n@!%p3 bra L2;\n";
  text += "cvt.u64.u32 %rd4, %smem;\nshr.u64 %rd4, %rd4, 4;\n";
  const Layout a = layout_of(c.swizzle_a, c.transposed_a, 128),
               b = layout_of(c.swizzle_b, c.transposed_b, c.n);
  text += shifted("%rd2", kA) + "or.b64 %rd2, %rd2, " + std::to_string(a.descriptor()) + ";\n";
  text += shifted("%rd3", kB) + "or.b64 %rd3, %rd3, " + std::to_string(b.descriptor()) + ";\n";
  text += "mov.u32 %r313, " + std::to_string(instruction_of(c)) + ";\n";
  text += "add.u32 %r314, %r312, 256;\nadd.u32 %r315, %r312, 260;\n";
  if (c.scaled()) {
    const Layout rows = {16, 128, 16, false};
    for (int block = 0; block < 3; ++block)
      text += shifted("%rd5", kScalesA + 512 * block) + "or.b64 %rd5, %rd5, " +
              std::to_string(rows.descriptor()) + ";\nadd.u32 %r316, %r314, " +
              std::to_string(4 * block) +
              ";\ntcgen05.cp.cta_group::1.32x128b.warpx4 [%r316], %rd5;\n";
  }
  text += "setp.ne.u32 %p1, %smem, %smem;\nsetp.eq.u32 %p2, %smem, %smem;\n";
  for (const char* accumulate : {"%p1", "%p2"})
    text += std::string("tcgen05.mma.cta_group::1.kind::") + c.kind() +
            " [%r312], %rd2, %rd3, %r313, " + (c.scaled() ? "[%r314], [%r315], " : "") +
            accumulate + ";\n";
  text +=
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r310];\nL2:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r310], 0;\n@!%p5 bra L2;\n"
      "tcgen05.fence::after_thread_sync;\n";
  // %rd1: where the thread's row begins, or its two rows of each sixteen.
  text +=
      "and.b32 %r300, %tid, 96;\nand.b32 %r301, %tid, 31;\nshl.b32 %r302, %r300, 16;\n"
      "add.u32 %r302, %r302, %r312;\n";
  if (!c.sixteen_rows) {
    text += "mul.lo.u32 %r303, %tid, " + std::to_string(4 * c.n) +
            ";\ncvt.u64.u32 %rd1, %r303;\nadd.u64 %rd1, %rd1, %out;\n";
    for (int first = 0; first < c.n; first += 16) {
      const int count = std::min(16, c.n - first);
      text += "tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(count) + ".b32 {";
      for (int i = 0; i < count; ++i) text += (i ? ", %r" : "%r") + std::to_string(i);
      text += "}, [%r302+" + std::to_string(first) + "];\ntcgen05.wait::ld.sync.aligned;\n";
      for (int i = 0; i < count; ++i)
        text += "st.global.u32 [%rd1+" + std::to_string(4 * (first + i)) + "], %r" +
                std::to_string(i) + ";\n";
    }
  } else {
    for (int sixteen = 0; sixteen < 2; ++sixteen) {
      text += "shr.u32 %r303, %r301, 2;\nadd.u32 %r303, %r303, %r300;\nadd.u32 %r303, %r303, " +
              std::to_string(16 * sixteen) + ";\nmul.lo.u32 %r303, %r303, " +
              std::to_string(4 * c.n) +
              ";\nand.b32 %r304, %r301, 3;\nshl.b32 %r304, %r304, 3;\nadd.u32 %r303, %r303, "
              "%r304;\ncvt.u64.u32 %rd1, %r303;\nadd.u64 %rd1, %rd1, %out;\n";
      text += "add.u32 %r305, %r302, " + std::to_string(sixteen << 20) + ";\n";
      for (int first = 0; first < c.n; first += 16) {
        text += "tcgen05.ld.sync.aligned.16x256b.x2.b32 {";
        for (int i = 0; i < 8; ++i) text += (i ? ", %r" : "%r") + std::to_string(i);
        text += "}, [%r305+" + std::to_string(first) + "];\ntcgen05.wait::ld.sync.aligned;\n";
        for (int i = 0; i < 8; ++i)  // rows g and g + 8, columns 2 t and 2 t + 1 of each eight
          text += "st.global.u32 [%rd1+" +
                  std::to_string(4 * (first + i / 4 * 8 + i % 2 + i / 2 % 2 * 8 * c.n)) + "], %r" +
                  std::to_string(i) + ";\n";
      }
    }
  }
  text +=
      "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n@!%p4 bra L3;\n"
      "tcgen05.fence::after_thread_sync;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r312, 512;\nL3:\n";
  return text;
}

void lay_out(std::vector<std::byte>& image, int base, NumberFormat format, const Layout& layout,
             int lines, int seed) {
  const int places = format == kE2M1 ? 2 : 1;  // of a byte, the first in its lowest bits
  for (int mn = 0; mn < lines; ++mn)
    for (int k = 0; k < 32 * places; ++k)
      image[static_cast<std::size_t>(base + layout.offset(mn, k / places))] |=
          static_cast<std::byte>(encode(format, value_at(seed, mn, k)) << (k % places * 4));
}

PtxKernel kernel_of(const Case& c) {
  PtxKernel kernel;
  kernel.chip = "sm_100a";
  kernel.threads = 128;
  kernel.shared_bytes = kShared;
  kernel.out_words = static_cast<std::size_t>(128 * c.n);
  kernel.in.resize(kImage);
  lay_out(kernel.in, kA, c.a, layout_of(c.swizzle_a, c.transposed_a, 128), 128, 1);
  lay_out(kernel.in, kB, c.b, layout_of(c.swizzle_b, c.transposed_b, c.n), c.n, 4);
  for (int line = 0; line < 128 + 256; ++line)  // a word of four bytes in a column of four
    for (int byte = 0; byte < 4; ++byte)
      kernel.in[static_cast<std::size_t>(kScalesA + line / 128 * 512 + line % 32 * 16 +
                                         line % 128 / 32 * 4 + byte)] =
          static_cast<std::byte>(
              scale_code(c, scale_at(c, line < 128 ? 2 : 3, line < 128 ? line : line - 128, byte)));
  kernel.body = body_of(c);
  return kernel;
}

float wanted_of(const Case& c, int row, int column) {
  const int parts = std::max(c.scales, 1), depth = c.depth() / parts;
  float total = 0;
  for (int part = 0; part < parts; ++part) {
    int sum = 0;
    for (int k = depth * part; k < depth * (part + 1); ++k)
      sum += value_at(1, row, k) * value_at(4, column, k);
    const int scale =
        c.scaled() ? scale_at(c, 2, row, c.a_byte + part) + scale_at(c, 3, column, c.b_byte + part)
                   : 0;
    total += std::ldexp(static_cast<float>(c.negative ? -2 * sum : 2 * sum), scale);
  }
  return total;
}

PtxKernel changed(const Case& c, const std::string& remove, const std::string& insert) {
  PtxKernel kernel = kernel_of(c);
  const std::size_t at = kernel.body.rfind(remove);
  REQUIRE(at != std::string::npos);
  kernel.body.replace(at, remove.size(), insert);
  return kernel;
}

}  // namespace

TEST_CASE("tcgen05.mma multiplies every format, layout and swizzle, exactly and truncating") {
  for (const Case& c : kCases)
    for (const Accumulation accumulation : {Accumulation::exact, Accumulation::truncating}) {
      CAPTURE(std::string(c.name));
      PtxKernel kernel = kernel_of(c);
      kernel.accumulation = accumulation;
      const PtxRun run = run_ptx(kernel);
      CHECK(run.text() == "");
      int wrong = 0;
      for (int row = 0; row < 128; ++row)
        for (int column = 0; column < c.n; ++column)
          wrong += std::bit_cast<float>(run.out[static_cast<std::size_t>(row * c.n + column)]) !=
                   wanted_of(c, row, column);
      CHECK(wrong == 0);
      CHECK(run.report.counters.tensor_operations ==
            static_cast<std::uint64_t>(2 * 2 * 128 * c.n * c.depth()));
    }
}

TEST_CASE("what tcgen05 needs and a kernel leaves out is found") {
  struct Fault {
    const char *name, *remove, *insert;
    Kind kind;
  };
  const std::string commit =
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r310];\n";
  const std::string overwrites = commit + "st.shared.u32 [%smem], %r300;\n";
  const std::string again = commit +
                            "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r312], %rd2, %rd3, "
                            "%r313, %p2;\n";
  const Fault faults[] = {
      {"no wait for the load", "tcgen05.wait::ld.sync.aligned;\n", "", Kind::in_flight},
      {"no commit", commit.c_str(), "", Kind::deadlock},
      {"work behind the commit", commit.c_str(), again.c_str(), Kind::unfinished},
      {"no wait for the mbarrier",
       "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r310], 0;\n@!%p5 bra L2;\n", "",
       Kind::in_flight},
      {"no fence before", "tcgen05.fence::before_thread_sync;\n", "", Kind::missing_fence},
      {"no fence after the wait", "tcgen05.fence::after_thread_sync;\nand", "and",
       Kind::missing_fence},
      {"no fence after the barrier", "@!%p4 bra L3;\ntcgen05.fence::after_thread_sync;\n",
       "@!%p4 bra L3;\n", Kind::missing_fence},
      {"no barrier", "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n",
       "tcgen05.fence::before_thread_sync;\n", Kind::out_of_bounds},
      {"no proxy fence", "fence.proxy.async.shared::cta;\n", "", Kind::missing_fence},
      {"operand overwritten", commit.c_str(), overwrites.c_str(), Kind::in_flight},
      {"kept columns", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r312, 512;\n", "",
       Kind::unfinished},
      {"too few given back", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r312, 512;\n",
       "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r312, 256;\n", Kind::invalid},
      {"no power of two", "[%r311], 512;\n", "[%r311], 96;\n", Kind::invalid},
      {"too few columns", "[%r311], 512;\n", "[%r311], 64;\n", Kind::out_of_bounds},
      {"another warp's lanes", "shl.b32 %r302, %r300, 16;\n", "mov.u32 %r302, 0;\n",
       Kind::out_of_bounds},
      {"asked for by all", "@!%p3 bra L2;\n", "", Kind::invalid},
      {"sums that nothing wrote", "%r313, %p1;\n", "%r313, %p2;\n", Kind::uninitialised},
  };
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.name));
    const PtxRun run = run_ptx(changed(kCases[0], fault.remove, fault.insert));
    CAPTURE(run.text());
    CHECK(run.found(fault.kind));
  }
  const PtxRun run = run_ptx(changed(kCases[6], "%r312, 260;\n", "%r312, 320;\n"));
  CHECK(run.found(Kind::uninitialised));  // scales that nothing wrote
}

TEST_CASE("descriptors that the tables do not have are refused") {
  for (const int number : {0, 6, 9, 11}) {
    const Case& c = kCases[number];
    const std::uint32_t good = instruction_of(c);
    const std::uint32_t unscaled[] = {good ^ 1u << 2,  good ^ 1u << 3,  good ^ 1u << 4,
                                      good ^ 1u << 6,  good | 3u << 7,  good | 5u << 10,
                                      good ^ 1u << 17, good ^ 1u << 23, good ^ 1u << 25,
                                      good ^ 1u << 29, good ^ 1u << 30};
    const std::uint32_t with_scales[] = {good ^ 1u << 1,  good ^ 1u << 2,  good ^ 1u << 3,
                                         good ^ 1u << 6,  good | 3u << 7,  good ^ 1u << 23,
                                         good ^ 1u << 24, good ^ 1u << 27, good ^ 1u << 31};
    const auto check = [&](std::uint32_t bits) {
      CAPTURE(bits);
      const PtxRun run = run_ptx(changed(c, "mov.u32 %r313, " + std::to_string(good),
                                         "mov.u32 %r313, " + std::to_string(bits)));
      CHECK(run.found(Kind::invalid));
    };
    // Of 4 bits: formats, transposition, bytes of words, UE8M0 or not.
    const std::uint32_t packed[] = {
        good ^ 1u << 0,  good ^ 1u << 2,  good ^ 1u << 4,  good ^ 1u << 7,  good ^ 1u << 8,
        good ^ 1u << 10, good ^ 1u << 11, good ^ 1u << 12, good ^ 1u << 15, good ^ 1u << 16,
        good ^ 1u << 23, good ^ 1u << 24, good ^ 1u << 27, good ^ 1u << 29, good ^ 1u << 31};
    for (const std::uint32_t bits : unscaled)
      if (!c.scaled()) check(bits);
    for (const std::uint32_t bits : with_scales)
      if (c.scaled() && !c.packed()) check(bits);
    for (const std::uint32_t bits : packed)
      if (c.packed()) check(bits);
    if (c.scales == 4) check(good ^ 1u << 30);
    const std::uint64_t layout = layout_of(c.swizzle_a, false, 128).descriptor();
    for (const int bit : {14, 30, 46, 47, 48, 49, 52, 53, 60, 61}) {
      CAPTURE(bit);
      const PtxRun run = run_ptx(
          changed(c, "or.b64 %rd2, %rd2, " + std::to_string(layout),
                  "or.b64 %rd2, %rd2, " + std::to_string(layout ^ std::uint64_t{1} << bit)));
      CHECK(run.found(Kind::invalid));
    }
  }
}
