// SPDX-License-Identifier: Apache-2.0
// wgmma of every format, layout and swizzle. Operands are laid out by the canonical layouts of PTX
// ISA 9.0, 9.7.15.5.1, written as strides; results are compared with sums of small integers, which
// every accumulation keeps exact.
#include <doctest/doctest.h>

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

const Tested kTested{"wgmma.fence.sync.aligned",
                     "wgmma.commit_group.sync.aligned",
                     "wgmma.wait_group.sync.aligned",
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",
                     "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16",
                     "wgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32",
                     "wgmma.mma_async.sync.aligned.m64n256k32.f32.e5m2.e4m3",
                     "setmaxnreg.inc.sync.aligned.u32"};

struct Case {
  const char* name;
  NumberFormat a, b;
  int n;
  int swizzle_a, swizzle_b;  // bytes of the span: 16 (none), 32, 64, 128
  bool transposed_a, transposed_b, registers, half, negative;
};

const Case kCases[] = {
    {"f16, swizzle 128", NumberFormat::f16, NumberFormat::f16, 64, 128, 128, false, false, false,
     false, false},
    {"bf16, swizzle 64 and 32", NumberFormat::bf16, NumberFormat::bf16, 32, 64, 32, false, false,
     false, false, false},
    {"f16, no swizzle", NumberFormat::f16, NumberFormat::f16, 8, 16, 16, false, false, false, false,
     false},
    {"tf32", NumberFormat::tf32, NumberFormat::tf32, 24, 128, 64, false, false, false, false,
     false},
    {"e4m3", NumberFormat::e4m3, NumberFormat::e4m3, 16, 32, 128, false, false, false, false,
     false},
    {"e5m2 and e4m3", NumberFormat::e5m2, NumberFormat::e4m3, 256, 128, 128, false, false, false,
     false, false},
    {"f16, A in registers", NumberFormat::f16, NumberFormat::f16, 40, 16, 128, false, false, true,
     false, false},
    {"tf32, A in registers", NumberFormat::tf32, NumberFormat::tf32, 16, 16, 32, false, false, true,
     false, false},
    {"e4m3, A in registers", NumberFormat::e4m3, NumberFormat::e5m2, 8, 16, 16, false, false, true,
     false, false},
    {"bf16, both transposed, 128", NumberFormat::bf16, NumberFormat::bf16, 128, 128, 128, true,
     true, false, false, false},
    {"f16, both transposed, 64", NumberFormat::f16, NumberFormat::f16, 64, 64, 64, true, true,
     false, false, false},
    {"f16, A transposed, 32", NumberFormat::f16, NumberFormat::f16, 16, 32, 32, true, false, false,
     false, false},
    {"f16, B transposed, no swizzle", NumberFormat::f16, NumberFormat::f16, 32, 128, 16, false,
     true, false, false, false},
    {"f16 sums", NumberFormat::f16, NumberFormat::f16, 48, 128, 128, false, false, false, true,
     false},
    {"negated operands", NumberFormat::bf16, NumberFormat::bf16, 16, 128, 128, false, false, false,
     false, true},
};

int bytes_of_format(NumberFormat f) {
  return f == NumberFormat::tf32 ? 4 : f == NumberFormat::f16 || f == NumberFormat::bf16 ? 2 : 1;
}
int value_at(int seed, int mn, int k) { return (mn * 7 + k * 5 + seed) % 7 - 3; }

// Where element (mn, k) of a tile lies, and the two strides of its descriptor.
struct Layout {
  int leading, stride;
  int offset(int swizzle, bool transposed, int bytes, int mn, int k) const {
    int o;
    if (!transposed) {  // ((8, m), (T, 2)) : ((span, stride), (1, leading or 16))
      const int byte = k * bytes;
      o = mn % 8 * swizzle + mn / 8 * stride + byte % 16 +
          byte / 16 * (swizzle == 16 ? leading : 16);
    } else if (swizzle == 16) {  // ((8, m), (8, k)) : ((1, stride), (16 bytes, leading))
      o = mn % 8 * 2 + mn / 8 * stride + k % 8 * 16 + k / 8 * leading;
    } else {  // ((span, m), (8, k)) : ((1, leading), (span, stride))
      const int span = swizzle / 2;
      o = mn % span * 2 + mn / span * leading + k % 8 * swizzle + k / 8 * stride;
    }
    const int rows = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle == 32 ? 1 : 0;
    return o ^ (o / 128 & rows) * 16;
  }
};

Layout layout_of(int swizzle, bool transposed, int mn) {
  if (!transposed) return {swizzle == 16 ? mn * 16 : 16, swizzle == 16 ? 128 : 8 * swizzle};
  if (swizzle == 16) return {mn / 8 * 128, 128};
  return {2 * 8 * swizzle, 8 * swizzle};  // spans of mn lie behind both groups of 8 k
}

std::uint64_t descriptor(std::uint64_t address, Layout layout, int swizzle) {
  const std::map<int, std::uint64_t> modes = {{16, 0}, {128, 1}, {64, 2}, {32, 3}};
  return address >> 4 | static_cast<std::uint64_t>(layout.leading >> 4) << 16 |
         static_cast<std::uint64_t>(layout.stride >> 4) << 32 | modes.at(swizzle) << 62;
}

void lay_out(std::vector<std::byte>& image, std::size_t base, NumberFormat format, int swizzle,
             bool transposed, int mn_count, int depth, int seed) {
  const Layout layout = layout_of(swizzle, transposed, mn_count);
  const int bytes = bytes_of_format(format);
  for (int mn = 0; mn < mn_count; ++mn)
    for (int k = 0; k < depth; ++k) {
      const std::uint32_t code = encode(format, value_at(seed, mn, k));
      std::memcpy(
          &image[base + static_cast<std::size_t>(layout.offset(swizzle, transposed, bytes, mn, k))],
          &code, static_cast<std::size_t>(bytes));
    }
}

std::string list(int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %r" : "%r") + std::to_string(first + i);
  return text + "}";
}

constexpr int kImage = 49152, kBase = 16384;  // bytes of both operands; where B starts

// Copies the image to shared memory, fences it, multiplies twice (the second time onto the first),
// stores the sums.
std::string body_of(const Case& c) {
  const int depth = 32 / bytes_of_format(c.a), sums = c.half ? c.n / 4 : c.n / 2;
  std::string text =
      "mul.lo.u32 %r300, %tid, 16;\nadd.u32 %r301, %r300, %smem;\ncvt.u64.u32 %rd1, "
      "%r300;\nadd.u64 %rd1, %rd1, %in;\n";
  text +=
      "mov.u32 %r302, 0;\nL0:\nld.global.v4.u32 {%r303, %r304, %r305, %r306}, [%rd1];\n"
      "st.shared.v4.u32 [%r301], {%r303, %r304, %r305, %r306};\nadd.u32 %r301, %r301, "
      "2048;\nadd.u64 %rd1, %rd1, 2048;\n"
      "add.u32 %r302, %r302, 2048;\nsetp.lt.u32 %p1, %r302, " +
      std::to_string(kImage) + ";\n@%p1 bra L0;\n";
  text += "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
  const Layout a = layout_of(c.swizzle_a, c.transposed_a, 64),
               b = layout_of(c.swizzle_b, c.transposed_b, c.n);
  text += "cvt.u64.u32 %rd4, %smem;\nshr.u64 %rd4, %rd4, 4;\n";
  text += "or.b64 %rd2, %rd4, " + std::to_string(descriptor(0, a, c.swizzle_a)) + ";\n";
  text += "add.u64 %rd5, %rd4, " + std::to_string(kBase >> 4) + ";\nor.b64 %rd3, %rd5, " +
          std::to_string(descriptor(0, b, c.swizzle_b)) + ";\n";
  if (c.registers) {  // behind the image: 16 bytes for each thread
    text += "cvt.u64.u32 %rd1, %r300;\nadd.u64 %rd1, %rd1, %in;\nadd.u64 %rd1, %rd1, " +
            std::to_string(kImage) + ";\n";
    text += "ld.global.v4.u32 {%r290, %r291, %r292, %r293}, [%rd1];\n";
  }
  const auto format = [](NumberFormat f) {
    return f == NumberFormat::f16    ? ".f16"
           : f == NumberFormat::bf16 ? ".bf16"
           : f == NumberFormat::tf32 ? ".tf32"
           : f == NumberFormat::e4m3 ? ".e4m3"
                                     : ".e5m2";
  };
  const std::string operation = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k" +
                                std::to_string(depth) + (c.half ? ".f16" : ".f32") + format(c.a) +
                                format(c.b);
  std::string tail = c.negative ? ", -1, 1" : ", 1, 1";
  if (bytes_of_format(c.a) == 2) {
    if (!c.registers) tail += c.transposed_a ? ", 1" : ", 0";
    tail += c.transposed_b ? ", 1" : ", 0";
  }
  text +=
      "wgmma.fence.sync.aligned;\nsetp.ne.u32 %p1, %smem, %smem;\nsetp.eq.u32 %p2, %smem, %smem;\n";
  for (const char* scale : {"%p1", "%p2"})
    text += operation + " " + list(0, sums) + ", " +
            (c.registers ? list(290, 4) : std::string("%rd2")) + ", %rd3, " + scale + tail + ";\n";
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  text += "mul.lo.u32 %r300, %tid, " + std::to_string(4 * sums) +
          ";\ncvt.u64.u32 %rd1, %r300;\nadd.u64 %rd1, %rd1, %out;\n";
  for (int i = 0; i < sums; ++i)
    text += "st.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
  return text;
}

// A's fragment of each thread (PTX ISA 9.0, figures of 9.7.15.5): rows 16 * warp + lane / 4 and 8
// below, columns in pieces of a register at lane % 4, then the same further right.
std::vector<std::byte> fragments(const Case& c) {
  std::vector<std::byte> all(128 * 16);
  const int bytes = bytes_of_format(c.a), packed = 4 / bytes;
  for (int thread = 0; thread < 128; ++thread)
    for (int reg = 0; reg < 4; ++reg)
      for (int e = 0; e < packed; ++e) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + (reg == 1 || reg == 3 ? 8 : 0);
        const int column = thread % 4 * packed + e + (reg >= 2 ? 4 * packed : 0);
        const std::uint32_t code = encode(c.a, value_at(1, row, column));
        std::memcpy(&all[static_cast<std::size_t>(thread * 16 + reg * 4 + e * bytes)], &code,
                    static_cast<std::size_t>(bytes));
      }
  return all;
}

PtxKernel kernel_of(const Case& c) {
  PtxKernel kernel;
  kernel.threads = 128;
  kernel.shared_bytes = kImage;
  kernel.out_words = static_cast<std::size_t>(128 * c.n / 2);
  kernel.in.resize(kImage);
  const int depth = 32 / bytes_of_format(c.a);
  lay_out(kernel.in, 0, c.a, c.swizzle_a, c.transposed_a, 64, depth, 1);
  lay_out(kernel.in, kBase, c.b, c.swizzle_b, c.transposed_b, c.n, depth, 4);
  const std::vector<std::byte> registers = fragments(c);
  kernel.in.insert(kernel.in.end(), registers.begin(), registers.end());
  kernel.body = body_of(c);
  return kernel;
}

}  // namespace

TEST_CASE("wgmma multiplies every format, layout and swizzle, exactly and truncating") {
  for (const Case& c : kCases)
    for (const Accumulation accumulation : {Accumulation::exact, Accumulation::truncating}) {
      CAPTURE(std::string(c.name));
      PtxKernel kernel = kernel_of(c);
      kernel.accumulation = accumulation;
      const PtxRun run = run_ptx(kernel);
      CHECK(run.text() == "");
      const int depth = 32 / bytes_of_format(c.a);
      int wrong = 0;
      for (int thread = 0; thread < 128; ++thread)
        for (int i = 0; i < c.n / 2; ++i) {
          const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
                    column = i / 4 * 8 + thread % 4 * 2 + i % 2;
          int sum = 0;
          for (int k = 0; k < depth; ++k) sum += value_at(1, row, k) * value_at(4, column, k);
          const float wanted = static_cast<float>(c.negative ? -2 * sum : 2 * sum);
          std::uint32_t bits;
          if (c.half)
            bits = run.out[static_cast<std::size_t>(thread * (c.n / 4) + i / 2)] >> (i % 2 * 16) &
                   0xffff;
          else
            bits = run.out[static_cast<std::size_t>(thread * (c.n / 2) + i)];
          std::uint32_t code;
          std::memcpy(&code, &wanted, 4);
          wrong += bits != (c.half ? encode(NumberFormat::f16, wanted) : code);
        }
      CHECK(wrong == 0);
      CHECK(run.report.counters.tensor_operations ==
            static_cast<std::uint64_t>(2 * 2 * 64 * c.n * depth));
    }
}

TEST_CASE("what wgmma needs and a kernel leaves out is found") {
  struct Fault {
    const char* name;
    const char* remove;
    const char* insert;
    Kind kind;
  };
  const Fault faults[] = {
      {"no wait", "wgmma.wait_group.sync.aligned 0;\n", "wgmma.wait_group.sync.aligned 1;\n",
       Kind::in_flight},
      {"no commit", "wgmma.commit_group.sync.aligned;\n", "", Kind::in_flight},
      {"no wgmma.fence", "wgmma.fence.sync.aligned;\n", "", Kind::missing_fence},
      {"no proxy fence", "fence.proxy.async.shared::cta;\n", "", Kind::missing_fence},
      {"no barrier", "bar.sync 0;\n", "", Kind::race},
      {"operand overwritten", "wgmma.commit_group.sync.aligned;\n",
       "wgmma.commit_group.sync.aligned;\nst.shared.u32 [%smem], %r300;\n", Kind::in_flight},
      {"accumulator overwritten", "wgmma.commit_group.sync.aligned;\n",
       "wgmma.commit_group.sync.aligned;\nmov.u32 %r1, 0;\n", Kind::in_flight},
  };
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.name));
    PtxKernel kernel = kernel_of(kCases[0]);
    const std::size_t at = kernel.body.find(fault.remove);
    REQUIRE(at != std::string::npos);
    kernel.body.replace(at, std::strlen(fault.remove), fault.insert);
    const PtxRun run = run_ptx(kernel);
    CAPTURE(run.text());
    CHECK(run.found(fault.kind));
  }
}

TEST_CASE("sums that nobody waited for are no numbers in any format") {
  const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    PtxKernel kernel = kernel_of(c);
    kernel.body.replace(kernel.body.find(wait), wait.size(), "");
    const PtxRun run = run_ptx(kernel);
    CHECK(run.found(Kind::in_flight));
    const int sums = 128 * (c.half ? c.n / 4 : c.n / 2);
    int numbers = 0;
    for (int i = 0; i < sums; ++i) {
      const std::uint32_t bits = run.out[static_cast<std::size_t>(i)], low = bits & 0x7fff,
                          high = bits >> 16 & 0x7fff;
      // Of f16 above 0x7c00, of bf16 and f32 above 0x7f80.
      numbers += high <= 0x7f80 || (c.half && low <= 0x7c00);
    }
    CHECK(numbers == 0);
  }
}

TEST_CASE("setmaxnreg is checked") {
  struct Try {
    const char* name;
    const char* body;
    std::uint32_t threads;
    const char* words;
  };
  const Try tries[] = {
      {"fits", "setmaxnreg.inc.sync.aligned.u32 232;", 256, ""},
      {"no multiple of 8", "setmaxnreg.dec.sync.aligned.u32 44;", 128, "multiple of 8"},
      {"too many together", "setmaxnreg.inc.sync.aligned.u32 232;", 384, "more than the 64512"}};
  for (const Try& t : tries) {
    CAPTURE(std::string(t.name));
    PtxKernel kernel;
    kernel.body = t.body;
    kernel.threads = t.threads;
    const PtxRun run = run_ptx(kernel);
    CHECK(run.report.findings.empty() == std::string(t.words).empty());
    CHECK(run.text().find(t.words) != std::string::npos);
  }
}
