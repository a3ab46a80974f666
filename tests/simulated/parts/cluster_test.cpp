// SPDX-License-Identifier: Apache-2.0
// Clusters: shared memory of other blocks, the cluster's barrier, remote mbarriers, multicast.
#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include "opcode_table.hpp"
#include "run_ptx.hpp"

using namespace halftone::tests;
using halftone::simulator::Kind;

namespace {

const Tested kTested{
    "mapa.shared::cluster.u32",
    "getctarank.shared::cluster.u32",
    "ld.shared::cluster.u32",
    "st.shared::cluster.u32",
    "barrier.cluster.arrive.release.aligned",
    "barrier.cluster.wait.acquire.aligned",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"};

PtxKernel kernel_of(std::string body, std::uint32_t cluster = 2, std::uint32_t blocks = 4) {
  PtxKernel kernel;
  kernel.body = std::move(body);
  kernel.blocks = blocks;
  kernel.cluster = cluster;
  kernel.threads = 32;
  kernel.shared_bytes = 4096;
  kernel.out_words = 256;
  std::vector<std::uint32_t> values(256);
  std::iota(values.begin(), values.end(), 1u);
  kernel.in = bytes_of_values(values);
  return kernel;
}

const std::string kBarrier = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
// The thread's word in its block's shared memory: %r1; in the output, 32 a block: %rd1.
const std::string kWords =
    "mul.lo.u32 %r0, %tid, 4;\nadd.u32 %r1, %r0, %smem;\nmad.lo.u32 %r2, %rank, 128, "
    "%r0;\ncvt.u64.u32 %rd1, %r2;\nadd.u64 %rd1, %rd1, %out;\n"
    "mov.u32 %r3, %cluster_ctarank;\nxor.b32 %r4, %r3, 1;\n";

void check_faults(const PtxKernel& good, const std::vector<std::pair<std::string, Kind>>& removed) {
  for (const auto& [text, kind] : removed) {
    CAPTURE(text);
    PtxKernel kernel = good;
    const std::size_t at = kernel.body.rfind(text);
    REQUIRE(at != std::string::npos);
    kernel.body.erase(at, text.size());
    const PtxRun run = run_ptx(kernel);
    CAPTURE(run.text());
    CHECK(run.found(kind));
  }
}

}  // namespace

TEST_CASE("blocks of a cluster read and write each other's shared memory between barriers") {
  const PtxKernel kernel = kernel_of(
      kWords + "mad.lo.u32 %r5, %rank, 1000, %tid;\nst.shared.u32 [%r1], %r5;\n" + kBarrier +
      "mapa.shared::cluster.u32 %r6, %r1, %r4;\nld.shared::cluster.u32 %r7, "
      "[%r6];\nst.shared::cluster.u32 [%r6+1024], %r5;\n"
      "cvt.u64.u32 %rd3, %r1;\ncvta.shared.u64 %rd2, %rd3;\nmapa.u64 %rd4, %rd2, %r4;\n"
      "ld.u32 %r10, [%rd4];\ngetctarank.shared::cluster.u32 %r11, %r6;\n"
      "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
      "ld.shared.u32 %r8, [%r1+1024];\nadd.u32 %r9, %r7, %r8;\nadd.u32 %r9, %r9, %r10;\nadd.u32 "
      "%r9, %r9, %r11;\nst.global.u32 [%rd1], %r9;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t block = 0; block < 4; ++block)
    for (std::uint32_t t = 0; t < 32; ++t)
      CHECK(run.out[block * 32 + t] == 3 * ((block ^ 1) * 1000 + t) + ((block & 1) ^ 1));
  check_faults(kernel,
               {{kBarrier, Kind::race},
                {"barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n",
                 Kind::race},
                {"barrier.cluster.arrive.release.aligned;\n", Kind::race},
                {"barrier.cluster.arrive.aligned;\n", Kind::misused_barrier}});
}

TEST_CASE("a cluster's barrier waits for threads that run, whoever arrived and ended before") {
  PtxKernel kernel = kernel_of(
      "mov.u32 %r3, %cluster_ctarank;\nmad.lo.u32 %r5, %r3, 64, %tid;\n"
      "mad.lo.u32 %r1, %tid, 4, %smem;\nst.shared.u32 [%r1], %r5;\n"
      "barrier.cluster.arrive.aligned;\nsetp.lt.u32 %p1, %r5, 32;\n@%p1 bra E;\n"
      "barrier.cluster.wait.aligned;\n"
      "mov.u32 %r4, 1;\nxor.b32 %r6, %r1, 128;\nmapa.shared::cluster.u32 %r6, %r6, %r4;\n"
      "ld.shared::cluster.u32 %r7, [%r6];\nmul.lo.u32 %r8, %r5, 4;\ncvt.u64.u32 %rd1, %r8;\n"
      "add.u64 %rd1, %rd1, %out;\nst.global.u32 [%rd1], %r7;\n" +
          kBarrier + "E:\n",
      2, 2);
  kernel.threads = 64;
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 32; t < 128; ++t) CHECK(run.out[t] == 64 + (t % 64 ^ 32));
}

TEST_CASE("special registers and ranks tell a block its place") {
  PtxKernel kernel =
      kernel_of(kWords +
                    "mov.u32 %r5, %cluster_nctarank;\nmov.u32 %r6, %clusterid.x;\nmov.u32 %r7, "
                    "%cluster_ctaid.x;\nmov.u32 %r8, %nclusterid.x;\n"
                    "mad.lo.u32 %r9, %r5, 1000, %r6;\nmad.lo.u32 %r9, %r7, 10, %r9;\nmad.lo.u32 "
                    "%r9, %r8, 100000, %r9;\nst.global.u32 [%rd1], %r9;\n",
                4, 8);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t block = 0; block < 8; ++block)
    CHECK(run.out[block * 32] == 204000 + block / 4 + block % 4 * 10);
}

TEST_CASE("a thread arrives at another block's mbarrier") {
  const std::string remote =
      "mapa.shared::cluster.u32 %r6, %r1, %r4;\nadd.u32 %r7, %tid, 500;\nst.shared::cluster.u32 "
      "[%r6], %r7;\n"
      "mapa.shared::cluster.u32 %r9, %r8, "
      "%r4;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n";
  const std::string wait =
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r8], 0;\n@!%p2 bra W;\n";
  const PtxKernel kernel = kernel_of(
      kWords +
      "add.u32 %r8, %smem, 2048;\nsetp.eq.u32 %p1, %tid, 0;\n@%p1 mbarrier.init.shared::cta.b64 "
      "[%r8], 32;\n"
      "fence.mbarrier_init.release.cluster;\n" +
      kBarrier + remote + wait + "ld.shared.u32 %r10, [%r1];\nst.global.u32 [%rd1], %r10;\n" +
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.acquire.aligned;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 0; t < 32; ++t) CHECK(run.out[32 + t] == 500 + t);
  check_faults(kernel, {{wait, Kind::race}, {kBarrier, Kind::race}});
}

TEST_CASE("a multicast load arrives in every block that its mask names") {
  PtxKernel kernel =
      kernel_of(kWords +
                    "add.u32 %r8, %smem, 2048;\nsetp.eq.u32 %p1, %tid, 0;\n@%p1 "
                    "mbarrier.init.shared::cta.b64 [%r8], 1;\n"
                    "fence.mbarrier_init.release.cluster;\n" +
                    kBarrier +
                    "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 256;\n"
                    // Each block loads one half for both.
                    "@!%p1 bra S;\nmul.lo.u32 %r9, %r3, 128;\nadd.u32 %r10, %smem, "
                    "%r9;\ncvt.u64.u32 %rd2, %r9;\nadd.u64 %rd2, %rd2, %in;\nmov.b16 %h1, 3;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                    "cluster [%r10], [%rd2], 128, [%r8], %h1;\nS:\n"
                    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], 0;\n@!%p2 bra W;\n"
                    "ld.shared.u32 %r11, [%r1];\nld.shared.u32 %r12, [%r1+128];\nmad.lo.u32 %r13, "
                    "%r12, 1000, %r11;\nst.global.u32 [%rd1], %r13;\n" +
                    kBarrier,
                2, 2);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t block = 0; block < 2; ++block)
    for (std::uint32_t t = 0; t < 32; ++t)
      CHECK(run.out[block * 32 + t] == (33 + t) * 1000 + 1 + t);
}

TEST_CASE("what a cluster cannot do is found") {
  PtxKernel odd = kernel_of("", 2, 3);
  CHECK(run_ptx(odd).found(Kind::launch_limit));
  PtxKernel older = kernel_of("", 2, 2);
  older.chip = "sm_80";
  CHECK(run_ptx(older).found(Kind::launch_limit));
  PtxKernel rank = kernel_of(kWords +
                             "mov.u32 %r5, 2;\nmapa.shared::cluster.u32 %r6, %r1, "
                             "%r5;\nld.shared::cluster.u32 %r7, [%r6];\n");
  const PtxRun no_rank = run_ptx(rank);
  CHECK(no_rank.found(Kind::invalid));
  CHECK(no_rank.found(Kind::out_of_bounds));
  // Block 1 ends before block 0 reads its shared memory.
  PtxKernel ended = kernel_of(
      kWords + "st.shared.u32 [%r1], %tid;\n" + kBarrier +
          "setp.eq.u32 %p1, %r3, 1;\n@%p1 bra E;\n"
          "mapa.shared::cluster.u32 %r6, %r1, %r4;\nld.shared::cluster.u32 %r7, [%r6];\nE:\n",
      2, 2);
  CHECK(run_ptx(ended).found(Kind::out_of_bounds));
}
