// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix, mma.sync and cp.async as instructions. The places of elements are the
// formulas of PTX ISA 9.0, 9.7.14.5, which golden/fragments.txt holds as CuTe gives them; products
// are of small integers, exact in every format.
#include <doctest/doctest.h>

#include "opcode_table.hpp"
#include "representable.hpp"
#include "run_ptx.hpp"

using namespace halftone::tests;
using halftone::simulator::Accumulation;
using halftone::simulator::Kind;

namespace {

using U = std::uint32_t;

const std::string kLane =
    "mul.lo.u32 %r1, %tid, 16;\nadd.u32 %r2, %r1, %smem;\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd2, "
    "%rd1, %in;\nadd.u64 %rd3, %rd1, %out;\n";

//===--- ldmatrix, stmatrix ---===//

/// Element (row, column) of matrix m, as 16 bits.
U element(U m, U row, U column) { return 1 + m * 64 + row * 8 + column; }

std::vector<std::byte> matrices() {
  std::vector<std::uint16_t> all;
  for (U e = 0; e < 4 * 64; ++e) all.push_back(static_cast<std::uint16_t>(e + 1));
  return bytes_of_values(all);
}

/// What lane l holds of matrix m: two neighbours of a row, or of a column.
U held(U lane, U m, bool transposed) {
  const U first = lane / 4, second = 2 * (lane % 4);
  if (transposed) return element(m, second, first) | element(m, second + 1, first) << 16;
  return element(m, first, second) | element(m, first, second + 1) << 16;
}

std::string vector_of(U count) {
  std::string list = "{%r10";
  for (U m = 1; m < count; ++m) list += ", %r" + std::to_string(10 + m);
  return list + "}";
}

//===--- mma ---===//

struct Product {
  const char* opcode;
  NumberFormat a, b;
  int depth;
  bool half = false;  ///< f16 accumulators
};

using N = NumberFormat;
const Product kProducts[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", N::f16, N::f16, 8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", N::f16, N::f16, 16},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", N::f16, N::f16, 16, true},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", N::f16, N::f16, 8, true},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", N::bf16, N::bf16, 8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", N::bf16, N::bf16, 16},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", N::tf32, N::tf32, 4},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", N::tf32, N::tf32, 8},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", N::e4m3, N::e4m3, 32},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", N::e4m3, N::e5m2, 32},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", N::e5m2, N::e4m3, 32},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32", N::e5m2, N::e5m2, 16},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", N::e4m3, N::e4m3, 32, true},
};

constexpr Product kBlockScaled[] = {
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32."
     "ue8m0",
     N::e4m3, N::e4m3, 32},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32."
     "ue8m0",
     N::e4m3, N::e5m2, 32},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32."
     "ue8m0",
     N::e5m2, N::e4m3, 32},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e5m2.f32.ue8m0",
     N::e5m2, N::e5m2, 32},
};

struct TestedProducts {
  TestedProducts() {
    for (const Product& p : kProducts) Tested::all().insert(p.opcode);
    for (const Product& p : kBlockScaled) Tested::all().insert(p.opcode);
  }
} const kTestedProducts;

int packed(N format) {
  return format == N::tf32 ? 1 : format == N::f16 || format == N::bf16 ? 2 : 4;
}
int a_value(int row, int k) { return (row * 7 + k * 3) % 5 - 2; }
int b_value(int k, int column) { return (k * 5 + column * 11) % 5 - 2; }
int c_value(int row, int column) { return row - 3 * column; }

U code(N format, int value) {
  for (const Definition& d : kDefinitions)
    if (d.format == format) return rounded_code(d, finite_values(d), value, {});
  return 0;
}

/// A register of `count` elements.
template <class Value>
U gathered(N format, Value value) {
  U word = 0;
  const int count = packed(format), bits = 32 / count;
  for (int e = 0; e < count; ++e) word |= code(format, value(e)) << (bits * e);
  return word;
}

/// Registers of lanes: 4 of A, 2 of B, 4 of C at most, ten words a lane.
std::vector<U> operands(const Product& p) {
  std::vector<U> words(32 * 10);
  const int pa = packed(p.a), pb = packed(p.b);
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    U* const mine = &words[static_cast<std::size_t>(lane) * 10];
    for (int r = 0; r < p.depth / 2 / pa; ++r)
      mine[r] = gathered(
          p.a, [&](int e) { return a_value(g + 8 * (r % 2), pa * t + e + 4 * pa * (r / 2)); });
    for (int r = 0; r < p.depth / 4 / pb; ++r)
      mine[4 + r] = gathered(p.b, [&](int e) { return b_value(pb * t + e + 4 * pb * r, g); });
    for (int i = 0; i < 4; ++i) {
      const int c = c_value(g + 8 * (i / 2), 2 * t + i % 2);
      if (p.half)
        mine[6 + i / 2] |= code(N::f16, c) << (16 * (i % 2));
      else
        mine[6 + i] = std::bit_cast<U>(static_cast<float>(c));
    }
  }
  return words;
}

PtxKernel kernel_of(const Product& p) {
  PtxKernel kernel;
  kernel.in = bytes_of_values(operands(p));
  kernel.out_words = 128;
  kernel.body =
      "mul.wide.u32 %rd1, %tid, 40;\nadd.u64 %rd1, %rd1, %in;\nmul.wide.u32 %rd2, %tid, "
      "16;\nadd.u64 %rd2, %rd2, %out;\n";
  for (int r = 0; r < 10; ++r)
    kernel.body +=
        "ld.global.b32 %r" + std::to_string(10 + r) + ", [%rd1+" + std::to_string(4 * r) + "];\n";
  const auto list = [](int first, int count) {
    std::string text = "{%r" + std::to_string(first);
    for (int r = 1; r < count; ++r) text += ", %r" + std::to_string(first + r);
    return text + "}";
  };
  const int sums = p.half ? 2 : 4;
  kernel.body += std::string(p.opcode) + " " + list(30, sums) + ", " +
                 list(10, p.depth / 2 / packed(p.a)) + ", " + list(14, p.depth / 4 / packed(p.b)) +
                 ", " + list(16, sums) + ";\n";
  for (int r = 0; r < sums; ++r)
    kernel.body +=
        "st.global.b32 [%rd2+" + std::to_string(4 * r) + "], %r" + std::to_string(30 + r) + ";\n";
  return kernel;
}

const Tested kTested{"ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                     "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                     "stmatrix.sync.aligned.m8n8.x4.shared.b16",
                     "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                     "cp.async.ca.shared.global",
                     "cp.async.commit_group",
                     "cp.async.wait_group",
                     "cp.async.wait_all"};

}  // namespace

TEST_CASE("ldmatrix and stmatrix move 8 by 8 matrices, and their transposes") {
  for (const bool transposed : {false, true})
    for (const U count : {1u, 2u, 4u}) {
      CAPTURE(count);
      CAPTURE(transposed);
      const std::string shape =
          "m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 ";
      PtxKernel load;
      load.shared_bytes = 1024;
      load.in = matrices();
      load.out_words = 128;
      load.body = kLane +
                  "ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd2];\nst.shared.v4.b32 [%r2], {%r3, "
                  "%r4, %r5, %r6};\nbar.sync 0;\n";
      load.body += "ldmatrix.sync.aligned." + shape + vector_of(count) + ", [%r2];\n";
      for (U m = 0; m < count; ++m)
        load.body += "st.global.b32 [%rd3+" + std::to_string(4 * m) + "], %r" +
                     std::to_string(10 + m) + ";\n";
      const PtxRun loaded = run_ptx(load);
      CHECK(loaded.text() == "");
      U wrong = 0;
      for (U lane = 0; lane < 32; ++lane)
        for (U m = 0; m < count; ++m)
          wrong += loaded.out[lane * 4 + m] != held(lane, m, transposed);
      CHECK(wrong == 0);

      std::vector<U> registers(128);
      for (U lane = 0; lane < 32; ++lane)
        for (U m = 0; m < 4; ++m) registers[lane * 4 + m] = held(lane, m, transposed);
      PtxKernel store = load;
      store.in = bytes_of_values(registers);
      store.body = kLane +
                   "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd2];\nstmatrix.sync.aligned." +
                   shape + "[%r2], " + vector_of(count) +
                   ";\nbar.sync 0;\nsetp.ge.u32 %p1, %tid, " + std::to_string(8 * count) +
                   ";\n@%p1 bra E;\nld.shared.v4.b32 {%r3, %r4, %r5, %r6}, "
                   "[%r2];\nst.global.v4.b32 [%rd3], {%r3, %r4, %r5, %r6};\nE:\n";
      const PtxRun stored = run_ptx(store);
      CHECK(stored.text() == "");
      for (U e = 0; e < count * 32; ++e)
        wrong += stored.out[e] != ((2 * e + 1) | (2 * e + 2) << 16);
      CHECK(wrong == 0);
    }
}

TEST_CASE("mma multiplies every format and shape, exactly and truncating") {
  for (const Product& p : kProducts)
    for (const Accumulation accumulation : {Accumulation::exact, Accumulation::truncating}) {
      CAPTURE(std::string(p.opcode));
      PtxKernel kernel = kernel_of(p);
      kernel.accumulation = accumulation;
      const PtxRun run = run_ptx(kernel);
      CHECK(run.text() == "");
      U wrong = 0;
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) {
          const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
          int sum = c_value(row, column);
          for (int k = 0; k < p.depth; ++k) sum += a_value(row, k) * b_value(k, column);
          const U* const mine = &run.out[static_cast<std::size_t>(lane) * 4];
          if (p.half)
            wrong += (mine[i / 2] >> (16 * (i % 2)) & 0xffff) != code(N::f16, sum);
          else
            wrong += mine[i] != std::bit_cast<U>(static_cast<float>(sum));
        }
      CHECK(wrong == 0);
    }
}

TEST_CASE(
    "mma with block_scale multiplies rows and columns by powers of two, from any byte and lanes") {
  struct Choice {
    int a_byte, a_thread, b_byte, b_thread;
  };
  constexpr Choice kChoices[] = {{0, 0, 0, 0}, {2, 1, 3, 3}, {1, 0, 2, 1}};
  const auto a_exponent = [](int row) { return row % 5 - 2; };
  const auto b_exponent = [](int column) { return 3 - column; };
  for (const Product& p : kBlockScaled)
    for (const auto& [a_byte, a_thread, b_byte, b_thread] : kChoices)
      for (const Accumulation accumulation : {Accumulation::exact, Accumulation::truncating}) {
        CAPTURE(std::string(p.opcode));
        CAPTURE(a_byte);
        PtxKernel kernel = kernel_of(p);
        kernel.accumulation = accumulation;
        // Registers of scales, of whose bytes and lanes all that are not taken are NaN.
        std::vector<U> scales(64, ~0u);
        for (int lane = 0; lane < 32; ++lane) {
          const int g = lane / 4, t = lane % 4;
          const auto put = [&](int operand, int byte, int exponent) {
            U& word = scales[static_cast<std::size_t>(2 * lane + operand)];
            word = (word & ~(0xffu << (8 * byte))) | static_cast<U>(127 + exponent) << (8 * byte);
          };
          if (t / 2 == a_thread) put(0, a_byte, a_exponent(g + 8 * (t % 2)));
          if (t == b_thread) put(1, b_byte, b_exponent(g));
        }
        const std::vector<std::byte> more = bytes_of_values(scales);
        kernel.in.insert(kernel.in.end(), more.begin(), more.end());
        const std::string ids = ", {%r28}, {" + std::to_string(a_byte) + ", " +
                                std::to_string(a_thread) + "}, {%r29}, {" + std::to_string(b_byte) +
                                ", " + std::to_string(b_thread) + "};\n";
        const std::size_t end = kernel.body.find(";\n", kernel.body.find(p.opcode));
        kernel.body.replace(end, 2, ids);
        kernel.body.insert(kernel.body.find(p.opcode),
                           "mul.wide.u32 %rd1, %tid, 8;\nadd.u64 %rd1, %rd1, %in;\n"
                           "ld.global.v2.b32 {%r28, %r29}, [%rd1+1280];\n");
        const PtxRun run = run_ptx(kernel);
        CHECK(run.text() == "");
        U wrong = 0;
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            int sum = 0;
            for (int k = 0; k < p.depth; ++k) sum += a_value(row, k) * b_value(k, column);
            const float scaled =
                std::ldexp(static_cast<float>(sum), a_exponent(row) + b_exponent(column));
            wrong += run.out[static_cast<std::size_t>(lane * 4 + i)] !=
                     std::bit_cast<U>(scaled + static_cast<float>(c_value(row, column)));
          }
        CHECK(wrong == 0);
      }
}

TEST_CASE("cp.async copies 4, 8 or 16 bytes, and fills with zeros past the source's size") {
  struct Copy {
    const char* opcode;
    U bytes, valid;
    const char* wait;
  };
  constexpr Copy kCopies[] = {
      {"cp.async.ca.shared.global", 4, 4, "cp.async.wait_all;\n"},
      {"cp.async.ca.shared::cta.global.L2::128B", 8, 5,
       "cp.async.commit_group;\ncp.async.wait_group 0;\n"},
      {"cp.async.cg.shared.global", 16, 16, "cp.async.commit_group;\ncp.async.wait_all;\n"},
      {"cp.async.cg.shared.global.L2::256B", 16, 0,
       "cp.async.commit_group;\ncp.async.wait_group 0;\n"}};
  for (const Copy& c : kCopies) {
    CAPTURE(std::string(c.opcode));
    CAPTURE(c.valid);
    PtxKernel kernel;
    kernel.shared_bytes = 512;
    std::vector<std::uint8_t> bytes(512);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 1);
    kernel.in = bytes_of_values(bytes);
    kernel.out_words = 128;
    kernel.body = kLane + "st.shared.v4.b32 [%r2], {-1, -1, -1, -1};\n" + c.opcode +
                  " [%r2], [%rd2], " + std::to_string(c.bytes) +
                  (c.valid == c.bytes ? "" : ", " + std::to_string(c.valid)) + ";\n" + c.wait +
                  "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];\nst.global.v4.b32 [%rd3], {%r3, "
                  "%r4, %r5, %r6};\n";
    const PtxRun run = run_ptx(kernel);
    CHECK(run.text() == "");
    U wrong = 0;
    for (U at = 0; at < 512; ++at) {
      const U within = at % 16, got = run.out[at / 4] >> (8 * (at % 4)) & 255;
      wrong += got != (within >= c.bytes ? 255 : within >= c.valid ? 0 : bytes[at]);
    }
    CHECK(wrong == 0);
    kernel.body.replace(kernel.body.find(c.wait), std::string(c.wait).size(), "");
    CHECK(run_ptx(kernel).found(Kind::in_flight));
  }
}
