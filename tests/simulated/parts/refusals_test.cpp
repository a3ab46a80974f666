// SPDX-License-Identifier: Apache-2.0
// PTX that an assembler would refuse is refused by one sentence that names the culprit, its line
// and its kernel. What it must say follows from the operands that PTX ISA 9.0 gives each
// instruction.
#include <doctest/doctest.h>

#include <algorithm>

#include "run_ptx.hpp"

using namespace halftone::tests;

namespace {

struct Refused {
  const char* statement;  ///< registers as run_ptx.hpp declares them
  const char* sentence;   ///< a part of it, behind the opcode
};

/// Behind a guard.
std::string opcode_of(const std::string& statement) {
  const std::size_t begin = statement.starts_with('@') ? statement.find(' ') + 1 : 0;
  return statement.substr(begin, statement.find(' ', begin) - begin);
}

void check_all(std::span<const Refused> rows) {
  for (const Refused& row : rows) {
    const std::string statement = row.statement;
    CAPTURE(statement);
    PtxKernel kernel;
    kernel.body = statement + ";";
    const std::string text = ptx_of(kernel), message = refusal_of(kernel);
    CAPTURE(message);
    const auto line = 1 + std::ranges::count(text.substr(0, text.find(statement)), '\n');
    const std::string wanted = "PTX line " + std::to_string(line) +
                               " of kernel 'k': the instruction " + opcode_of(statement) + " " +
                               row.sentence;
    CHECK(message == wanted);
  }
}

}  // namespace

TEST_CASE("a register of another width than its instruction's is named with both widths") {
  constexpr Refused kRows[] = {
      // Arithmetic
      {"add.u64 %r1, %rd1, %rd2", "needs 64 bits where '%r1' has 32 bits"},
      {"add.u64 %rd1, %r1, %rd2", "needs 64 bits where '%r1' has 32 bits"},
      {"add.u32 %rd1, %r1, %r2", "needs 32 bits where '%rd1' has 64 bits"},
      {"add.s32 %r1, %h1, %r2", "needs 32 bits where '%h1' has 16 bits"},
      {"add.s16 %h1, %h2, %r1", "needs 16 bits where '%r1' has 32 bits"},
      {"add.s32 %r1, %p1, %r2", "needs 32 bits where '%p1' is a predicate"},
      {"add.cc.u64 %rd1, %rd2, %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"mul.wide.u32 %r1, %r2, %r3", "needs 64 bits where '%r1' has 32 bits"},
      {"mad.wide.u32 %rd1, %r2, %r3, %r4", "needs 64 bits where '%r4' has 32 bits"},
      // Floats
      {"fma.rn.f64 %rd1, %rd2, %rd3, %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"add.rz.f64 %r1, %rd2, %rd3", "needs 64 bits where '%r1' has 32 bits"},
      {"add.ftz.f16x2 %r1, %h1, %r2", "needs 32 bits where '%h1' has 16 bits"},
      {"max.ftz.f32 %rd1, %r1, %r2", "needs 32 bits where '%rd1' has 64 bits"},
      {"add.f64 %rd1, %rd2, 0f3f800000", "needs 64 bits where a number has 32"},
      // Bits
      {"popc.b64 %r1, %r2", "needs 64 bits where '%r2' has 32 bits"},
      {"shl.b64 %rd1, %rd2, %rd3", "needs 32 bits where '%rd3' has 64 bits"},
      {"and.pred %p1, %p2, %r1", "needs a predicate where '%r1' has 32 bits"},
      {"lop3.or.b32 %r1|%r2, %r3, %r4, %r5, 7, %p1", "needs a predicate where '%r2' has 32 bits"},
      // Comparisons and selections
      {"setp.eq.u32 %r1, %r2, %r3", "needs a predicate where '%r1' has 32 bits"},
      {"setp.eq.u64 %p1, %rd1, %r3", "needs 64 bits where '%r3' has 32 bits"},
      {"setp.eq.u32 %p1|%r1, %r2, %r3", "needs a predicate where '%r1' has 32 bits"},
      {"setp.eq.and.u32 %p1, %r2, %r3, %r1", "needs a predicate where '%r1' has 32 bits"},
      {"set.lt.f32.s64 %r1, %rd2, %r3", "needs 64 bits where '%r3' has 32 bits"},
      {"set.lt.u32.f16x2 %r1, %h1, %r3", "needs 32 bits where '%h1' has 16 bits"},
      {"selp.b64 %rd1, %rd2, %r1, %p1", "needs 64 bits where '%r1' has 32 bits"},
      {"selp.b32 %r1, %r2, %r3, %r4", "needs a predicate where '%r4' has 32 bits"},
      {"testp.finite.f64 %p1, %r1", "needs 64 bits where '%r1' has 32 bits"},
      // Moves and conversions
      {"mov.b64 %rd1, %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"mov.u64 %r1, %clock64", "needs 64 bits where '%r1' has 32 bits"},
      {"mov.pred %p1, %r1", "needs a predicate where '%r1' has 32 bits"},
      {"mov.b64 {%r1, %h1}, %rd1", "needs 32 bits where '%h1' has 16 bits"},
      {"mov.b64 %r1, {%r2, %r3}", "needs 64 bits where '%r1' has 32 bits"},
      {"mov.u64 %r1, p0", "needs 64 bits where '%r1' has 32 bits"},
      {"activemask.b32 %rd1", "needs 32 bits where '%rd1' has 64 bits"},
      {"cvt.u64.u32 %r1, %r2", "needs 64 bits where '%r1' has 32 bits"},
      {"cvt.rn.f32.f64 %r1, %r2", "needs 64 bits where '%r2' has 32 bits"},
      {"cvt.rn.f32.u32 %r1, %h1", "needs 32 bits where '%h1' has 16 bits"},
      {"cvt.rn.satfinite.e4m3x2.f32 %p1, %r1, %r2", "needs 16 bits where '%p1' is a predicate"},
      {"cvt.pack.sat.u16.s32 %h1, %r1, %r2", "needs 32 bits where '%h1' has 16 bits"},
      {"cvta.shared.u64 %r1, %rd1", "needs 64 bits where '%r1' has 32 bits"},
      // Memory
      {"ld.global.u64 %r1, [%in]", "needs 64 bits where '%r1' has 32 bits"},
      {"ld.global.u32 %p1, [%in]", "needs 32 bits where '%p1' is a predicate"},
      {"ld.global.u32 %h1, [%in]", "needs 32 bits where '%h1' has 16 bits"},
      {"ld.global.u32 %r1, [%h1]", "needs 64 bits where '%h1' has 16 bits"},
      {"st.global.v2.u64 [%out], {%rd1, %r1}", "needs 64 bits where '%r1' has 32 bits"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r1], %r2, [%r3]",
       "needs 64 bits where '%r2' has 32 bits"},
      {"isspacep.shared %r1, %rd1", "needs a predicate where '%r1' has 32 bits"},
      // Atomics
      {"atom.global.add.u64 %r1, [%out], %rd1", "needs 64 bits where '%r1' has 32 bits"},
      {"atom.global.cas.b64 %rd1, [%out], %rd2, %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"red.global.add.f64 [%out], %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"red.global.add.v2.f32 [%out], {%r1, %rd1}", "needs 32 bits where '%rd1' has 64 bits"},
      // Control
      {"@%r1 bra end", "needs a predicate where '%r1' has 32 bits"},
      {"bar.red.and.pred %p1, 0, %r1", "needs a predicate where '%r1' has 32 bits"},
      {"bar.red.popc.u32 %p1, 0, %p2", "needs 32 bits where '%p1' is a predicate"},
      {"bar.sync %p1", "needs 32 bits where '%p1' is a predicate"},
      // Warps
      {"shfl.sync.up.b32 %rd1, %r1, 1, 0, -1", "needs 32 bits where '%rd1' has 64 bits"},
      {"shfl.sync.up.b32 %r1|%r2, %r3, 1, 0, -1", "needs a predicate where '%r2' has 32 bits"},
      {"vote.sync.all.pred %r1, %p1, -1", "needs a predicate where '%r1' has 32 bits"},
      {"vote.sync.ballot.b32 %p1, %p2, -1", "needs 32 bits where '%p1' is a predicate"},
      {"match.any.sync.b64 %r1, %r2, -1", "needs 64 bits where '%r2' has 32 bits"},
      {"redux.sync.add.u32 %p1, %r1, -1", "needs 32 bits where '%p1' is a predicate"},
      {"elect.sync %r1|%r2, -1", "needs a predicate where '%r2' has 32 bits"},
      // Matrices
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %p1}, [%smem]",
       "needs 32 bits where '%p1' is a predicate"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %p1}, {%r5, %r6}, {%r7}, "
       "{%r1, %r2, %r3, %r4}",
       "needs 32 bits where '%p1' is a predicate"},
      // Asynchronous copies, mbarriers, clusters, warpgroups
      {"cp.async.ca.shared.global [%p1], [%in], 4", "needs 64 bits where '%p1' is a predicate"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%out], [%smem], %rd1",
       "needs 32 bits where '%rd1' has 64 bits"},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%in, {%p1}], [%smem]",
       "needs 32 bits where '%p1' is a predicate"},
      {"mbarrier.arrive.shared.b64 %r1, [%smem]", "needs 64 bits where '%r1' has 32 bits"},
      {"mbarrier.try_wait.shared.b64 %p1, [%smem], %r1", "needs 64 bits where '%r1' has 32 bits"},
      {"mbarrier.test_wait.parity.shared.b64 %r1, [%smem], 0",
       "needs a predicate where '%r1' has 32 bits"},
      {"mapa.shared::cluster.u64 %r1, %rd1, 0", "needs 64 bits where '%r1' has 32 bits"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %p1}, %rd1, %rd2, %p2, "
       "1, 1, 0, 0",
       "needs 32 bits where '%p1' is a predicate"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %r5, %rd2, %p2, 1, "
       "1, 0, 0",
       "needs 64 bits where '%r5' has 32 bits"},
  };
  check_all(kRows);
}

TEST_CASE("a list of registers that is too short or too long is named with both lengths") {
  constexpr Refused kRows[] = {
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%smem]",
       "needs 4 registers as operand 1, not 2"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1, %r2}, [%smem]",
       "needs 1 register as operand 1, not 2"},
      {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%smem], %r1",
       "needs 4 registers as operand 2, not 1"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r8}, "
       "{%r7}, {%r1, %r2, %r3, %r4}",
       "needs 2 registers as operand 2, not 3"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3}, %rd1, %rd2, %p2, 1, 1, "
       "0, 0",
       "needs 4 registers as operand 1, not 3"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, {%r5, %r6}, %rd2, "
       "%p2, 1, 1, 0",
       "needs 4 registers as operand 2, not 2"},
      {"atom.global.add.v2.f32 {%r1}, [%out], {%r2, %r3}", "needs 2 registers as operand 1, not 1"},
      {"red.global.add.v4.f32 [%out], {%r2, %r3}", "needs 4 registers as operand 2, not 2"},
      {"ld.global.v4.u32 {%r1, %r2}, [%in]", "needs 4 registers as operand 1, not 2"},
      {"ld.global.u32 {%r1, %r2}, [%in]", "needs 1 register as operand 1, not 2"},
      {"st.global.v2.u32 [%out], %r1", "needs 2 registers as operand 2, not 1"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2}, [%r3]",
       "needs 2 registers as operand 2, not 1"},
      {"mov.b32 {%h1, %h2, %h3}, %r1", "needs 2 or 4 parts of whole bytes, not 3"},
      {"mov.b32 %r1, {}", "needs 2 or 4 parts of whole bytes, not 0"},
      {"mov.b64 {%r1}, %rd1", "needs 2 or 4 parts of whole bytes, not 1"},
      {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%in, {%r1}], [%smem]",
       "needs other coordinates than the 1 that it has"},
      {"ld.global.u32 %r1, [%in, {%r2}]", "needs an address without coordinates"},
  };
  check_all(kRows);
}

TEST_CASE("an operand that nothing reads, or that lacks, is named") {
  constexpr Refused kRows[] = {
      {"add.u32 %r1, %r2, %r3, %r4", "takes no operand 4"},
      {"add.u32 %r1, %r2", "lacks operand 3"},
      {"add.rz.f32 %r1, %r2, %r3, %r4", "takes no operand 4"},
      {"max.f32 %r1, %r2, %r3, %r4, %r5", "takes no operand 5"},
      {"max.ftz.f32 %r1, %r2, %r3, %r4, %r5", "takes no operand 5"},
      {"not.b32 %r1, %r2, %r3", "takes no operand 3"},
      {"setp.eq.u32 %p1, %r2, %r3, %p2", "takes no operand 4"},
      {"mov.u32 %r1, %r2, %r3", "takes no operand 3"},
      {"cvt.rn.f16x2.f32 %r1, %r2, %r3, %r4", "takes no operand 4"},
      {"cvt.rn.f16x2.e4m3x2 %r1, %h1, %h2", "takes no operand 3"},
      {"ld.global.u32 %r1, [%in], %r2", "takes no operand 3"},
      {"atom.global.add.u32 %r1, [%out], %r2, %r3", "takes no operand 4"},
      {"red.global.add.u32 [%out], %r2, %r3", "takes no operand 3"},
      {"bar.sync 0, 32, 1", "takes no operand 3"},
      {"bar.red.popc.u32 %r1, 0, 32, 1, %p1", "takes no operand 4"},
      {"exit %r1", "takes no operand 1"},
      {"fence.sc.gpu %r1", "takes no operand 1"},
      {"shfl.sync.up.b32 %r1, %r2, 1, 0, -1, 7", "takes no operand 6"},
      {"vote.sync.all.pred %p1, %p2, -1, 1", "takes no operand 4"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%smem], %r2", "takes no operand 3"},
      {"cp.async.ca.shared.global [%smem], [%in], 4, 4, %rd1", "takes no operand 5"},
      {"cp.async.commit_group 1", "takes no operand 1"},
      {"cp.async.bulk.commit_group 1", "takes no operand 1"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%out], [%smem], 16, %rd1",
       "takes no operand 4"},
      {"mbarrier.init.shared.b64 [%smem], 1, 2", "takes no operand 3"},
      {"mbarrier.test_wait.shared.b64 %p1, [%smem], %rd1, 5", "takes no operand 4"},
      {"mapa.shared::cluster.u32 %r1, %r2, 0, 1", "takes no operand 4"},
      {"wgmma.fence.sync.aligned 0", "takes no operand 1"},
      {"barrier.cluster.arrive 1", "takes no operand 1"},
      {"bar.red.and.pred %p1, 0", "lacks operand 3"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p2, "
       "1, 1, 0",
       "lacks operand 8"},
      {"ld.global.L2::cache_hint.u32 %r1, [%in]", "lacks operand 3"},
      {"cp.async.cg.shared.global.L2::cache_hint [%smem], [%in], 16, %r1",
       "needs 64 bits where '%r1' has 32 bits"},
      {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [%smem], 16, %r1",
       "needs 64 bits where '%r1' has 32 bits"},
      {"match.any.sync.b32 %r1|%p1, %r2, -1", "takes no '|%p1' behind '%r1'"},
      {"mov.b64 {%r1|%p1, %r2}, %rd1", "takes no '|%p1' behind '%r1'"},
      {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%in, {%r1}]",
       "needs other coordinates than the 1 that it has"},
      {"add.u32 %r1|%p1, %r2, %r3", "takes no '|%p1' behind '%r1'"},
      {"shfl.sync.up.b32 %r1, %r2|%p1, 1, 0, -1", "takes no '|%p1' behind '%r2'"},
  };
  check_all(kRows);
}

TEST_CASE("an operand of another kind than its instruction's is named") {
  constexpr Refused kRows[] = {
      {"add.u32 [%r1], %r2, %r3", "needs a register to write to"},
      {"add.u32 5, %r2, %r3", "needs a register to write to"},
      {"add.u32 %q1, %r2, %r3", "needs a register to write to, not '%q1'"},
      {"not.b32 %r1, !%r2", "cannot be simulated with '!' before '%r2'"},
      {"and.pred %p1, %p2, !%p3", "cannot be simulated with '!' before '%p3'"},
      {"selp.b32 %r1, %r2, %r3, !%p1", "cannot be simulated with '!' before '%p1'"},
      {"add.u32 %r1, %r2+4, %r3", "cannot be simulated with an offset behind '%r2'"},
      {"ld.global.u32 %r1, %in", "needs an address in brackets, not '%in'"},
      {"cp.async.ca.shared.global [%smem], [%in], %r1", "needs a number as operand 3"},
      {"cp.async.ca.shared.global [%smem], [%in], 260", "copies 4, 8 or 16 bytes, not 260"},
      {"cp.async.wait_group %r1", "needs a number as operand 1"},
      {"cp.async.bulk.wait_group %r1", "needs a number as operand 1"},
      {"wgmma.wait_group.sync.aligned %r1", "needs a number as operand 1"},
      {"setmaxnreg.inc.sync.aligned.u32 %r1", "needs a number as operand 1"},
      {"elect.sync %r1, -1", "needs a predicate behind its result, as in %r0|%p0"},
      {"ld.param.u32 %r1, [p0-4]", "cannot be simulated"},
      {"cp.async.ca.shared.global [%smem], [%in], 16, 17", "reads 17 bytes to copy 16"},
      {"cp.async.cg.shared.global [%smem], [%in], 4", "copies 16 bytes, not 4"},
      {"cp.async.wait_group -1", "waits for all but a number of groups, which -1 is not"},
      {"cp.async.bulk.wait_group -1", "waits for all but a number of groups, which -1 is not"},
      {"wgmma.wait_group.sync.aligned -2", "waits for all but a number of groups, which -2 is not"},
      {"wgmma.mma_async.sync.aligned.m64nk16.f32.f16.f16 {}, %rd1, %rd2, %p2, 1, 1, 0, 0",
       "cannot be simulated"},
  };
  check_all(kRows);
}

TEST_CASE("a call whose arguments are not the function's is refused") {
  struct Row {
    const char* call;
    const char* sentence;
  };
  constexpr Row kRows[] = {
      {"call (got), f, (given, given)", "needs the 1 arguments and 1 results of 'f'"},
      {"call (got), f", "needs the 1 arguments and 1 results of 'f'"},
      {"call f, (given)", "needs the 1 arguments and 1 results of 'f'"},
      {"call (got), f, (absent)", "needs a .param variable of 8 bytes, not 'absent'"},
      {"call (got), f, (narrow)", "needs a .param variable of 8 bytes, not 'narrow'"},
      {"call (got), f, (given), given", "takes no operand 4"},
  };
  for (const auto& [call, sentence] : kRows) {
    PtxKernel kernel;
    kernel.before =
        ".func (.param .b64 result) f(.param .b64 argument) {\n.reg .b64 %a;\n"
        "ld.param.u64 %a, [argument];\nst.param.u64 [result], %a;\nret;\n}\n";
    kernel.body = "{\n.param .b64 got;\n.param .b64 given;\n.param .b32 narrow;\n";
    kernel.body += std::string(call) + ";\n}";
    const std::string message = refusal_of(kernel);
    CAPTURE(kernel.body);
    CAPTURE(message);
    CHECK(message.find(std::string("the instruction call ") + sentence) != message.npos);
  }
}

TEST_CASE("registers that are wider than a conversion's types are read and written whole") {
  // PTX ISA 9.0, 9.4.1: a source is cut to its type, a result widened as its type says.
  PtxKernel kernel;
  kernel.body =
      "mov.b64 %rd1, 0x1122334455667780;\n"
      "cvt.s64.s8 %rd2, %rd1;\nst.global.u64 [%out], %rd2;\n"
      "cvt.u64.u8 %rd2, %rd1;\nst.global.u64 [%out+8], %rd2;\n"
      "cvt.u16.u32 %rd2, %rd1;\nst.global.u64 [%out+16], %rd2;\n"
      "cvt.s8.s32 %r2, 0x180;\nst.global.u32 [%out+24], %r2;\n"
      "cvt.sat.s8.s64 %r2, %rd1;\nst.global.u32 [%out+28], %r2;\n"
      "cvt.s32.s8 %r2, %rd1;\nst.global.u32 [%out+32], %r2;\n"
      "cvt.rn.f32.s8 %r2, %rd1;\nst.global.u32 [%out+36], %r2;\n"
      "cvt.rzi.s8.f32 %rd2, 0fc0a00000;\nst.global.u64 [%out+40], %rd2;\n"  // -5
      "cvt.rzi.s16.f32 %r2, 0fc0a00000;\nst.global.u32 [%out+48], %r2;\n"
      "cvt.rzi.u16.f32 %rd2, 0f40a00000;\nst.global.u64 [%out+56], %rd2;\n"
      "mov.b64 %rd1, 0x1122334440a00000;\n"
      "cvt.f64.f32 %rd2, %rd1;\nst.global.u64 [%out+64], %rd2;\n"
      "mov.b64 %rd1, 0x1122334455663c00;\n"  // 1 in f16
      "cvt.f32.f16 %r2, %rd1;\nst.global.u32 [%out+72], %r2;\n"
      "cvt.rn.f16.f32 %rd2, 0f3f800000;\nst.global.u64 [%out+80], %rd2;\n";
  kernel.threads = 1;
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  const std::vector<std::uint32_t> expected = {
      0xffffff80, 0xffffffff, 0x80,       0,          0x7780,     0, 0xffffff80, 0x7f,
      0xffffff80, 0xc3000000, 0xfffffffb, 0xffffffff, 0xfffffffb, 0, 5,          0,
      0,          0x40140000, 0x3f800000, 0,          0x3c00,     0};
  CHECK(std::vector(run.out.begin(), run.out.begin() + 22) == expected);
}

TEST_CASE("a variable that no chip has room for is named with its size") {
  constexpr Refused kRows[] = {
      {".shared .align 16 .b8 big[4294967296]",
       "variable 'big' of kernel 'k' takes 4294967296 bytes of .shared, more than any chip has; "
       "make it smaller"},
      {".local .b64 big[200000000]",
       "variable 'big' of kernel 'k' takes 1600000000 bytes of .local, more than any chip has"},
      {".shared .b8 small[1000000000];\n.shared .b8 big[100000000]",
       "variable 'big' of kernel 'k' takes 100000000 bytes of .shared"},
      {".shared .b8 big[4294967296][4294967296]", "an array is too large"},
      {".shared .b64 big[2305843009213693952]", "an array is too large"},
      {".shared .b8 first[4];\n.shared .align 2147483648 .b8 big[4]",
       "variable 'big' of kernel 'k' takes 4 bytes of .shared"},
  };
  for (const Refused& row : kRows) {
    PtxKernel kernel;
    kernel.body = std::string(row.statement) + ";";
    CAPTURE(kernel.body);
    const std::string message = refusal_of(kernel);
    CAPTURE(message);
    CHECK(message.find(row.sentence) != message.npos);
  }
}

TEST_CASE("a load from outside the kernel's parameters, or across their grain, is refused") {
  // The kernel has two parameters of 8 bytes.
  constexpr Refused kRows[] = {
      {"ld.param.u32 %r1, [p0+100]", "reads bytes 100 to 103 of 16 bytes of parameters"},
      {"ld.param.u32 %r1, [p0+1000000000]",
       "reads bytes 1000000000 to 1000000003 of 16 bytes of parameters"},
      {"ld.param.u64 %rd1, [p1+8]", "reads bytes 16 to 23 of 16 bytes of parameters"},
      {"ld.param.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [p0]",
       "reads bytes 0 to 31 of 16 bytes of parameters"},
      {"ld.param.u64 %rd1, [p0+4]", "reads 8 bytes at byte 4 of the parameters, no multiple of 8"},
      {"ld.param.u32 %r1, [p1+2]", "reads 4 bytes at byte 10 of the parameters, no multiple of 4"},
      {"ld.param.v2.u32 {%r1, %r2}, [p0+4]",
       "reads 8 bytes at byte 4 of the parameters, no multiple of 8"},
  };
  check_all(kRows);
}
