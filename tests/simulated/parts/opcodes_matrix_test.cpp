// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and mma.sync as instructions. The places of elements are the
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
  int scales = 0;     ///< of a row of A and of a column of B
  bool is_ue4m3 = false;
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
     N::e4m3, N::e4m3, 32, false, 1},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32."
     "ue8m0",
     N::e4m3, N::e5m2, 32, false, 1},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32."
     "ue8m0",
     N::e5m2, N::e4m3, 32, false, 1},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e5m2.f32.ue8m0",
     N::e5m2, N::e5m2, 32, false, 1},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
     "ue8m0",
     N::e2m1, N::e2m1, 64, false, 2},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", N::e2m1,
     N::e2m1, 64, false, 2},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
     "ue8m0",
     N::e2m1, N::e2m1, 64, false, 2},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
     "ue8m0",
     N::e2m1, N::e2m1, 64, false, 4},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
     "ue4m3",
     N::e2m1, N::e2m1, 64, false, 4, true},
};

/// A scale's code and what it stands for.
struct Scale {
  U code;
  float value;
};
Scale power(int exponent) { return {static_cast<U>(127 + exponent), std::ldexp(1.0f, exponent)}; }
constexpr Scale kUe4m3[] = {{0x38, 1.0f}, {0x3c, 1.5f}, {0x40, 2.0f}, {0x44, 3.0f}, {0x30, 0.5f}};

Scale a_scale(const Product& p, int row, int part) {
  if (p.is_ue4m3) return kUe4m3[(row + 3 * part) % 4];
  return power((row + 2 * part) % 3 + row % 2 - 2);
}
Scale b_scale(const Product& p, int column, int part) {
  if (p.is_ue4m3) return kUe4m3[(column + 2 * part) % 3 * 2];
  return power((3 * column + part) % 4 - 1);
}

struct TestedProducts {
  TestedProducts() {
    for (const Product& p : kProducts) Tested::all().insert(p.opcode);
    for (const Product& p : kBlockScaled) Tested::all().insert(p.opcode);
  }
} const kTestedProducts;

int packed(N format) {
  return format == N::tf32                       ? 1
         : format == N::f16 || format == N::bf16 ? 2
         : format == N::e2m1                     ? 8
                                                 : 4;
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

const Tested kTested{
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16", "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"};

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

namespace {

/// The statement's scales: first bytes of a register, and lanes of a quad.
struct Choice {
  int a_byte, a_thread, b_byte, b_thread;

  [[nodiscard]] std::string text() const {
    const auto ids = [](int byte, int thread) {
      return ", {" + std::to_string(byte) + ", " + std::to_string(thread) + "}";
    };
    return ", {%r28}" + ids(a_byte, a_thread) + ", {%r29}" + ids(b_byte, b_thread) + ";\n";
  }
};

PtxKernel kernel_of(const Product& p, const Choice& choice) {
  PtxKernel kernel = kernel_of(p);
  // Registers of scales, of whose bytes and lanes all that are not taken are NaN.
  std::vector<U> scales(64, ~0u);
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto put = [&](int operand, int byte, Scale scale) {
      U& word = scales[static_cast<std::size_t>(2 * lane + operand)];
      word = (word & ~(0xffu << (8 * byte))) | scale.code << (8 * byte);
    };
    for (int part = 0; part < p.scales; ++part) {
      if (t / 2 == choice.a_thread) put(0, choice.a_byte + part, a_scale(p, g + 8 * (t % 2), part));
      if (t == choice.b_thread) put(1, choice.b_byte + part, b_scale(p, g, part));
    }
  }
  const std::vector<std::byte> more = bytes_of_values(scales);
  kernel.in.insert(kernel.in.end(), more.begin(), more.end());
  const std::size_t end = kernel.body.find(";\n", kernel.body.find(p.opcode));
  kernel.body.replace(end, 2, choice.text());
  kernel.body.insert(kernel.body.find(p.opcode),
                     "mul.wide.u32 %rd1, %tid, 8;\nadd.u64 %rd1, %rd1, %in;\n"
                     "ld.global.v2.b32 {%r28, %r29}, [%rd1+1280];\n");
  return kernel;
}

}  // namespace

TEST_CASE("mma with block_scale multiplies parts of rows and columns, from any bytes and lanes") {
  constexpr Choice kChoices[] = {{0, 0, 0, 0}, {2, 1, 3, 3}, {1, 0, 2, 1},
                                 {0, 1, 2, 2}, {2, 0, 0, 3}, {0, 1, 0, 1}};
  for (const Product& p : kBlockScaled)
    for (const Choice& choice : kChoices)
      for (const Accumulation accumulation : {Accumulation::exact, Accumulation::truncating}) {
        if (choice.a_byte % p.scales != 0 || choice.b_byte % p.scales != 0) continue;
        CAPTURE(std::string(p.opcode));
        CAPTURE(choice.text());
        PtxKernel kernel = kernel_of(p, choice);
        kernel.accumulation = accumulation;
        const PtxRun run = run_ptx(kernel);
        CHECK(run.text() == "");
        U wrong = 0;
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            float sum = static_cast<float>(c_value(row, column));
            for (int k = 0; k < p.depth; ++k) {
              const int part = k * p.scales / p.depth;
              sum += static_cast<float>(a_value(row, k) * b_value(k, column)) *
                     a_scale(p, row, part).value * b_scale(p, column, part).value;
            }
            wrong += run.out[static_cast<std::size_t>(lane * 4 + i)] != std::bit_cast<U>(sum);
          }
        CHECK(wrong == 0);
      }
}

TEST_CASE("scales that no block_scale has are refused") {
  const Product& mxf4 = kBlockScaled[4];
  const std::string sound = kernel_of(mxf4, {0, 0, 0, 0}).body;
  struct Change {
    const char *from, *to;
  };
  constexpr Change kChanges[] = {{"scale_vec::2X", "scale_vec::4X"},
                                 {"scale_vec::2X", "scale_vec::1X"},
                                 {"kind::mxf4", "kind::mxf4nvf4.sp"},
                                 {"kind::mxf4.block_scale.scale_vec::2X.", ""},
                                 {"f32.ue8m0", "f32.ue4m3"},
                                 {"kind::mxf4", "kind::mxf8f6f4"},
                                 {"e2m1.e2m1", "e4m3.e4m3"},
                                 {"m16n8k64", "m16n8k32"},
                                 {"{%r28}, {0, 0}", "{%r28}, {1, 0}"},
                                 {"{%r28}, {0, 0}", "{%r28}, {0, 2}"},
                                 {"{%r29}, {0, 0}", "{%r29}, {3, 0}"},
                                 {"f32.e2m1", "f16.e2m1"},
                                 {"kind::mxf4.block_scale", "kind::mxf4"}};
  PtxKernel kernel = kernel_of(mxf4, {0, 0, 0, 0});
  CHECK(refusal_of(kernel) == "");
  for (const auto& [from, to] : kChanges) {
    CAPTURE(std::string(from));
    CAPTURE(std::string(to));
    kernel.body = sound;
    const std::size_t at = kernel.body.find(from);
    REQUIRE(at != std::string::npos);
    kernel.body.replace(at, std::string(from).size(), to);
    CHECK(refusal_of(kernel).find("mma") != std::string::npos);
  }
}
