// SPDX-License-Identifier: Apache-2.0
// cp.async, and what async_test.cpp and cluster_test.cpp leave: the rarer operations of mbarriers,
// copies between blocks, tensor copies of other ranks, to several blocks and with a sum.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "opcode_table.hpp"
#include "run_ptx.hpp"
#include "tensor_map.hpp"

using namespace halftone::tests;
using namespace halftone::simulator;

namespace {

const Tested kTested{"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32",
                     "mbarrier.inval.shared::cta.b64",
                     "mbarrier.arrive_drop.shared::cta.b64",
                     "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64",
                     "mbarrier.test_wait.shared::cta.b64",
                     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
                     "cp.async.bulk.prefetch.L2.global",
                     "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes.multicast::cluster",
                     "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group",
                     "cp.async.bulk.prefetch.tensor.2d.L2.global.tile",
                     "cp.async.ca.shared.global",
                     "cp.async.commit_group",
                     "cp.async.wait_group",
                     "cp.async.wait_all"};

using U = std::uint32_t;

const std::string kLane =
    "mul.lo.u32 %r1, %tid, 16;\nadd.u32 %r2, %r1, %smem;\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd2, "
    "%rd1, %in;\nadd.u64 %rd3, %rd1, %out;\n";

// The mbarrier at byte 4096 for `count` arrivals; %p1: thread 0 of its block.
std::string initialised(const std::string& count) {
  return "add.u32 %r1, %smem, 4096;\nsetp.eq.u32 %p1, %tid, 0;\n@%p1 mbarrier.init.shared::cta.b64 "
         "[%r1], " +
         count + ";\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
}
const std::string kClusterBarrier =
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
std::string wait(const std::string& label, int parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], " +
         std::to_string(parity) + ";\n@!%p2 bra " + label + ";\n";
}
// The word of the thread's number in shared memory to that of the output, behind those of lower
// blocks.
const std::string kDump =
    "mul.lo.u32 %r20, %tid, 4;\nadd.u32 %r21, %r20, %smem;\nld.shared.u32 %r22, "
    "[%r21];\nmad.lo.u32 %r23, %rank, 256, %r20;\n"
    "cvt.u64.u32 %rd20, %r23;\nadd.u64 %rd20, %rd20, %out;\nst.global.u32 [%rd20], %r22;\n";

PtxKernel kernel_of(std::string body, std::uint32_t cluster = 1) {
  PtxKernel kernel;
  kernel.body = std::move(body);
  kernel.threads = 64;
  kernel.blocks = kernel.cluster = cluster;
  kernel.shared_bytes = 8192;
  std::vector<std::uint32_t> values(1024);
  std::iota(values.begin(), values.end(), 1u);
  kernel.in = bytes_of_values(values);
  kernel.out_words = 1024;
  return kernel;
}

/// `kernel` with another text in place of one of its own.
PtxKernel changed(PtxKernel kernel, const std::string& from, const std::string& to) {
  const std::size_t at = kernel.body.find(from);
  REQUIRE(at != std::string::npos);
  kernel.body.replace(at, from.size(), to);
  return kernel;
}

/// 4-byte integers: 8 columns, 8 rows, 8 planes.
TensorMap map_of(std::uint64_t address, std::uint32_t rank,
                 std::array<std::uint32_t, kMaxTensorRank> box) {
  TensorMap map;
  map.address = address;
  map.rank = rank;
  map.element = TensorElement::u32;
  map.extents = {8, 8, 8};
  map.stride_bytes = {0, 32, 256};
  map.box = box;
  return map;
}
PtxRun run_with_map(PtxKernel kernel, bool on_output, std::uint32_t rank,
                    std::array<std::uint32_t, kMaxTensorRank> box) {
  kernel.third.resize(128);
  PtxDevice device(kernel);
  const EncodedTensorMap bytes =
      encode_tensor_map(map_of(on_output ? device.out() : device.in(), rank, box));
  kernel.third = {bytes.begin(), bytes.end()};
  return device.run(kernel);
}

}  // namespace

TEST_CASE(
    "a dropped arrival is not waited for again, and an mbarrier that was given up takes none") {
  const std::string drop = "@%p3 mbarrier.arrive_drop.shared::cta.b64 _, [%r1];\n";
  const PtxKernel kernel = kernel_of(
      initialised("64") + "setp.lt.u32 %p3, %tid, 32;\n" + drop +
      "@!%p3 mbarrier.arrive.shared::cta.b64 %rd1, [%r1];\n" + wait("A", 0) +
      "@%p3 bra B;\nmbarrier.arrive.shared::cta.b64 _, [%r1];\nB:\n" + wait("C", 1) +
      "bar.sync 0;\n@%p1 mbarrier.inval.shared::cta.b64 [%r1];\n@%p1 st.global.u32 [%out], 5;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  CHECK(run.out[0] == 5);
  CHECK(run_ptx(changed(kernel, "arrive_drop", "arrive")).found(Kind::deadlock));
  CHECK(run_ptx(changed(kernel, "@%p1 st.global.u32 [%out], 5;\n",
                        "bar.sync 0;\nmbarrier.arrive.shared::cta.b64 _, [%r1];\n"))
            .found(Kind::misused_barrier));
}

TEST_CASE("bytes may be counted off without a copy, and states told from phases") {
  const std::string complete =
      "@%p1 mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%r1], 64;\n";
  const PtxKernel kernel = kernel_of(
      initialised("64") + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;\n" +
      "mbarrier.arrive.shared::cta.b64 %rd1, [%r1];\nmbarrier.test_wait.shared::cta.b64 %p3, "
      "[%r1], %rd1;\n"
      "selp.u32 %r2, 1, 0, %p3;\nbar.sync 0;\n" +
      complete + wait("A", 0) +
      "mbarrier.test_wait.shared::cta.b64 %p4, [%r1], %rd1;\n"
      "@%p4 add.u32 %r2, %r2, 2;\n@%p1 st.global.u32 [%out], %r2;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  CHECK(run.out[0] == 2);
  CHECK(run_ptx(changed(kernel, complete, "")).found(Kind::deadlock));
}

TEST_CASE("a bulk copy moves shared memory to another block of the cluster") {
  const PtxKernel kernel =
      kernel_of(initialised("1") + kClusterBarrier +
                    "mov.u32 %r3, %cluster_ctarank;\nxor.b32 %r4, %r3, 1;\nmad.lo.u32 %r5, %tid, "
                    "4, %smem;\nmad.lo.u32 %r6, %rank, 1000, %tid;\n"
                    "st.shared.u32 [%r5+1024], %r6;\nfence.proxy.async.shared::cta;\nbar.sync "
                    "0;\n@!%p1 bra S;\n"
                    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], "
                    "256;\nmapa.shared::cluster.u32 %r7, %smem, %r4;\n"
                    "mapa.shared::cluster.u32 %r8, %r1, %r4;\nadd.u32 %r9, %smem, 1024;\n"
                    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], "
                    "[%r9], 256, [%r8];\nS:\n" +
                    wait("A", 0) + kDump + kClusterBarrier,
                2);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t block = 0; block < 2; ++block)
    for (std::uint32_t t = 0; t < 64; ++t) CHECK(run.out[block * 64 + t] == (block ^ 1) * 1000 + t);
  CHECK(run_ptx(changed(kernel, wait("A", 0), "")).found(Kind::in_flight));
  CHECK(
      run_ptx(changed(kernel, "fence.proxy.async.shared::cta;\n", "")).found(Kind::missing_fence));
}

TEST_CASE("asynchronous stores to another block arrive with its mbarrier's phase") {
  const PtxKernel kernel = kernel_of(
      initialised("1") + kClusterBarrier +
          "mov.u32 %r3, %cluster_ctarank;\nxor.b32 %r4, %r3, 1;\nmad.lo.u32 %r6, %rank, 1000, "
          "%tid;\nadd.u32 %r7, %r6, 500;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], "
          "512;\nmad.lo.u32 %r5, %tid, 8, %smem;\nmapa.shared::cluster.u32 %r8, %r5, "
          "%r4;\nmapa.shared::cluster.u32 %r9, %r1, %r4;\n"
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r8], {%r6, %r7}, "
          "[%r9];\n" +
          wait("A", 0) +
          "ld.shared.v2.u32 {%r10, %r11}, [%r5];\nsub.u32 %r11, %r11, %r10;\n"
          "add.u32 %r10, %r10, %r11;\nbar.sync 0;\nmad.lo.u32 %r5, %tid, 4, %smem;\n"
          "st.shared.u32 [%r5], %r10;\n" +
          kDump + kClusterBarrier,
      2);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t block = 0; block < 2; ++block)
    for (std::uint32_t t = 0; t < 64; ++t)
      CHECK(run.out[block * 64 + t] == (block ^ 1) * 1000 + t + 500);
  CHECK(run_ptx(changed(kernel, wait("A", 0), "")).found(Kind::in_flight));
  CHECK(run_ptx(changed(kernel, "[%r1], 512", "[%r1], 1024")).found(Kind::deadlock));
  CHECK(run_ptx(changed(kernel, "{%r6, %r7}, [%r9]", "{%r6, %r7}, [%r1]")).found(Kind::invalid));
}

TEST_CASE("what an asynchronous copy has not brought yet reads as ones") {
  const std::string bulk =
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], "
      "[%r5+1024], "
      "256, [%r9];\n";
  const std::string store =
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %r6, [%r9];\n";
  for (const std::string& copy : {bulk, store}) {
    CAPTURE(copy);
    const PtxKernel kernel = kernel_of(
        initialised("1") +
            "mov.u32 %r3, %cluster_ctarank;\nxor.b32 %r4, %r3, 1;\nmad.lo.u32 %r5, %tid, 4, "
            "%smem;\nmad.lo.u32 %r6, %rank, 1000, %tid;\nst.shared.u32 [%r5], 7;\nst.shared.u32 "
            "[%r5+1024], %r6;\nfence.proxy.async.shared::cta;\n@%p1 "
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n" +
            kClusterBarrier +
            "mapa.shared::cluster.u32 %r8, %r5, %r4;\nmapa.shared::cluster.u32 %r9, %r1, %r4;\n" +
            copy + wait("A", 0) + kDump + kClusterBarrier,
        2);
    const PtxRun right = run_ptx(kernel);
    CHECK(right.text() == "");
    const PtxRun early = run_ptx(changed(kernel, wait("A", 0), ""));
    CHECK(early.found(Kind::in_flight));
    // One block reads before the other has started its copy.
    CHECK(std::count(early.out.begin(), early.out.begin() + 128, 7u) == 64);
    CHECK(std::count(early.out.begin(), early.out.begin() + 128, 0xffffffffu) == 64);
    for (std::uint32_t t = 0; t < 64; ++t) CHECK(right.out[t] == 1000 + t);
  }
}

TEST_CASE("a tensor load of three dimensions arrives in two blocks") {
  const PtxKernel kernel =
      kernel_of(initialised("1") + kClusterBarrier +
                    "@!%p1 bra S;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], "
                    "256;\nmov.u32 %r3, %cluster_ctarank;\nmov.u32 %r5, 4;\n"
                    "mov.u32 %r6, 2;\nmad.lo.u32 %r7, %r3, 2, 1;\nmov.b16 %h1, 3;\nmad.lo.u32 %r8, "
                    "%r3, 128, %smem;\n"
                    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes.multicast::cluster [%r8], [%third, {%r5, %r6, %r7}], "
                    "[%r1], %h1;\nS:\n" +
                    wait("A", 0) + kDump + kClusterBarrier,
                2);
  const PtxRun run = run_with_map(kernel, false, 3, {4, 4, 2});
  CHECK(run.text() == "");
  for (std::uint32_t w = 0; w < 64; ++w) {
    const std::uint32_t column = w % 4 + 4, row = w / 4 % 4 + 2, plane = 1 + w / 16;
    CHECK(run.out[w] == plane * 64 + row * 8 + column + 1);
    CHECK(run.out[64 + w] == run.out[w]);
  }
}

TEST_CASE("a tensor store may add") {
  PtxKernel kernel = kernel_of(
      "mad.lo.u32 %r5, %tid, 4, %smem;\nst.shared.u32 [%r5], "
      "%tid;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %tid, 0;\n"
      "@%p1 bra E;\nmov.u32 %r6, 0;\ncp.async.bulk.prefetch.tensor.2d.L2.global.tile [%third, "
      "{%r6, %r6}];\n"
      "cp.async.bulk.prefetch.L2.global [%in], "
      "256;\ncp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%third, {%r6, "
      "%r6}], [%smem];\n"
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%third, {%r6, %r6}], "
      "[%smem];\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\n");
  const PtxRun run = run_with_map(kernel, true, 2, {8, 8});
  CHECK(run.text() == "");
  for (std::uint32_t w = 0; w < 64; ++w) CHECK(run.out[w] == 2 * w);
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
