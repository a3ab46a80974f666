// SPDX-License-Identifier: Apache-2.0
#include "ptx_quality.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace halftone::tests;

namespace {

/// An entry with these lines.
std::string entry(const std::string& lines) {
  return ".visible .entry kernel(\n\t.param .u64 kernel_param_0\n)\n{\n" + lines + "\tret;\n}\n";
}

/// What of a pointwise kernel's text the checks read.
std::string pointwise(const std::string& type, const std::string& columns,
                      const std::string& width = "") {
  return "struct Body {\n  columns() { return " + columns + "; }\n  struct Inputs {\n    " + type +
         " input0[kWidth];\n  };\n  struct Outputs {\n  };\n  inputs.input0[i]\n};\n  "
         "pointwise::run<Body, 256" +
         width + ">(body);\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string tensor(const std::string& lhs_bytes, const std::string& rhs_bytes) {
  return "struct Body {\n  columns() { return 64; }\n};\n  k::tensor_contraction::run<Body,\n      "
         "k::tensor_contraction::Tile<64, 64, 64, 32, 32, 4, " +
         lhs_bytes + ", " + rhs_bytes + ", 1>>(body);\n";
}

}  // namespace

TEST_CASE("accesses to global memory are counted by what a thread moves") {
  struct Case {
    const char* line;
    const char* accesses;
  };
  for (const auto& [line, accesses] : {
           Case{"\tld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n", "1x16"},
           Case{"\tld.global.u8 %rs1, [%rd1];\n", "1x1"},
           Case{"\tst.global.v4.u16 [%rd1], {%rs1, %rs2, %rs3, %rs4};\n", "1x8"},
           Case{"\t@%p1 st.global.v2.b32 [%rd1], {%r1, %r2};\n", "1x8"},
           Case{"\tcp.async.cg.shared.global [%r1 + 0], [%rd1 + 0], 16;\n", "1x16"},
           Case{"\tcp.async.ca.shared.global [%r1], [%rd1], 4, %r2;\n", "1x4"},
           Case{"\tld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];\n", "-"},
           Case{"\tcp.async.commit_group;\n", "-"},
       }) {
    CAPTURE(line);
    CHECK(accesses_text(quality_of(entry(line))) == accesses);
  }
}

TEST_CASE("the share of mma is that of the innermost loop with the most") {
  const std::string mma = "\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {}, {}, {}, {};\n";
  const PtxQuality quality = quality_of(
      entry("$L_outer:\n\tadd.s32 %r1, %r1, 1;\n$L_inner:\n" + mma + mma +
            "\tadd.s32 %r2, %r2, 1;\n\t@%p1 bra $L_inner;\n\t@%p2 bra $L_outer;\n" + mma));
  CHECK(quality.loop_mma == 2);
  CHECK(quality.loop_instructions == 4);
  CHECK(quality.mma_percent() == 50);
}

TEST_CASE("what no kernel may have is named") {
  struct Case {
    std::string lines, text, fault;
  };
  const std::string wide = "\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n";
  const std::string narrow = "\tld.global.f32 %f1, [%rd1];\n";
  const std::string copy = "\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n";
  const std::string small = "\tcp.async.ca.shared.global [%r1], [%rd1], 8;\n";
  const Case cases[] = {
      {"\tcvt.f64.f32 %fd1, %f1;\n", "", "has 1 instructions on f64"},
      {"\tst.local.f32 [%rd1], %f1;\n", "", "has 1 instructions that name local memory"},
      {"\tex2.approx.ftz.f32 %f1, %f2;\n", "", "has 1 instructions with .approx or .ftz"},
      {wide, pointwise("float", "64"), ""},
      {narrow, pointwise("float", "64"), "has no load of 16 bytes, which 4 of its elements are"},
      {narrow, pointwise("float", "63"), ""},
      {narrow,
       replaced(pointwise("float", "64"), "inputs.input0[i]",
                "inputs.input0[i] = read0(row, column + i); inputs.input0[i]"),
       ""},
      {narrow, replaced(pointwise("float", "64"), "pointwise::run", "segment::run"),
       "has no load of 16 bytes, which 4 of its elements are"},
      {narrow, replaced(pointwise("float", "64"), "pointwise::run", "kernels::segment::run"), ""},
      {narrow, replaced(pointwise("float", "64"), "pointwise::run", "kernels::batched_column::run"),
       ""},
      {narrow,
       replaced(pointwise("float", "64", ", 2"), "pointwise::run", "kernels::kept_row::run"),
       "has no load of 16 bytes, which 4 of its elements are"},
      {wide, replaced(pointwise("float", "64", ", 2"), "pointwise::run", "kernels::kept_row::run"),
       ""},
      {narrow, pointwise("float", "elements"),
       "has no load of 16 bytes, which 4 of its elements are"},
      {wide, pointwise("halftone::kernels::bf16", "64"),
       "has no load of 8 bytes, which 4 of its elements are"},
      {wide, pointwise("halftone::kernels::bf16", "64", ", 8"), ""},
      {wide, pointwise("halftone::kernels::f8e4m3", "64"),
       "has no load of 4 bytes, which 4 of its elements are"},
      {narrow, pointwise("halftone::kernels::f8e4m3", "64"), ""},
      {copy, tensor("16", "16"), ""},
      {copy + small, tensor("16", "8"), ""},
      {small, tensor("16", "8"), "does not take operands 16 bytes at a time"},
      {copy + small, tensor("16", "16"), "has copies of operands of less than 16 bytes"},
      {small, tensor("8", "8"), ""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.lines);
    CAPTURE(one.text);
    const auto faults = faults_of(quality_of(entry(one.lines)), one.text);
    CHECK(faults == (one.fault.empty() ? std::vector<std::string>() : std::vector{one.fault}));
  }
}
