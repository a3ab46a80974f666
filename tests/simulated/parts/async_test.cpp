// SPDX-License-Identifier: Apache-2.0
// mbarriers, bulk copies and tensor copies: what they leave behind, and what is reported when a
// step is missing.
#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include "opcode_table.hpp"
#include "run_ptx.hpp"
#include "tensor_map.hpp"

using namespace halftone::tests;
using namespace halftone::simulator;

namespace {

std::vector<std::uint32_t> counting(std::size_t n) {
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

PtxKernel kernel_of(std::string body, std::uint32_t threads = 64) {
  PtxKernel kernel;
  kernel.body = std::move(body);
  kernel.threads = threads;
  kernel.shared_bytes = 8192;
  kernel.in = bytes_of_values(counting(1024));
  kernel.out_words = 1024;
  return kernel;
}

// Thread 0 makes an mbarrier for `count` arrivals at byte 4096; everybody sees it.
std::string initialised(const char* count) {
  return "add.u32 %r1, %smem, 4096;\nsetp.eq.u32 %p1, %tid, 0;\n@%p1 mbarrier.init.shared::cta.b64 "
         "[%r1], " +
         std::string(count) + ";\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
}
const std::string kWait0 =
    "W0: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;\n@!%p2 bra W0;\n";
// Each thread stores the shared word of its number.
const std::string kDump =
    "mul.lo.u32 %r20, %tid, 4;\nadd.u32 %r21, %r20, %smem;\nld.shared.u32 %r22, "
    "[%r21];\ncvt.u64.u32 %rd20, %r20;\n"
    "add.u64 %rd20, %rd20, %out;\nst.global.u32 [%rd20], %r22;\n";

const Tested kTested{
    "mbarrier.init.shared::cta.b64",
    "mbarrier.arrive.shared::cta.b64",
    "mbarrier.arrive.expect_tx.shared::cta.b64",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64",
    "mbarrier.test_wait.parity.shared::cta.b64",
    "mbarrier.try_wait.parity.shared::cta.b64",
    "mbarrier.try_wait.shared::cta.b64",
    "mbarrier.pending_count.b64",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.async.shared::cta",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    "cp.async.bulk.global.shared::cta.bulk_group",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group.read",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"};

struct Fault {
  const char* name;
  std::string remove, insert;
  Kind kind;
};

void check_faults(const PtxKernel& good, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.name));
    PtxKernel kernel = good;
    const std::size_t at = kernel.body.find(fault.remove);
    REQUIRE(at != std::string::npos);
    kernel.body.replace(at, fault.remove.size(), fault.insert);
    const PtxRun run = run_ptx(kernel);
    CAPTURE(run.text());
    CHECK(run.found(fault.kind));
  }
}

}  // namespace

TEST_CASE("a bulk load arrives with its mbarrier's phase") {
  const PtxKernel kernel = kernel_of(
      initialised("1") +
      "@!%p1 bra S;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n"
      "add.u64 %rd1, %in, 64;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%smem], [%rd1], 256, [%r1];\nS:\n" +
      kWait0 + kDump);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(run.out[t] == 17 + t);
  check_faults(
      kernel,
      {{"no wait", kWait0, "", Kind::in_flight},
       {"not initialised", "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;\n", "",
        Kind::misused_barrier},
       {"no barrier after the initialisation", "bar.sync 0;\n", "", Kind::race},
       {"no fence after the initialisation", "@%p1 fence.mbarrier_init.release.cluster;\n", "",
        Kind::missing_fence},
       {"too few bytes expected", "[%r1], 256;\nadd", "[%r1], 128;\nadd", Kind::deadlock},
       {"too many bytes expected", "[%r1], 256;\nadd", "[%r1], 512;\nadd", Kind::deadlock},
       {"nobody arrives", "mbarrier.arrive.expect_tx.shared::cta.b64 _, ",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 ", Kind::deadlock},
       {"arrives twice", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\nmbarrier.arrive.shared::cta.b64 "
        "_, [%r1];\n",
        Kind::misused_barrier},
       {"size not a multiple of 16", "[%rd1], 256, ", "[%rd1], 248, ", Kind::misaligned},
       {"source not aligned", "%rd1, %in, 64", "%rd1, %in, 68", Kind::misaligned},
       {"source past the end", "%rd1, %in, 64", "%rd1, %in, 4032", Kind::out_of_bounds},
       {"destination past the end", "[%smem], [%rd1]", "[%smem+8064], [%rd1]", Kind::out_of_bounds},
       {"written meanwhile", kWait0, "st.shared.u32 [%smem], %tid;\n" + kWait0, Kind::in_flight},
       {"the wait of one thread is not everybody's", kWait0, "@!%p1 bra D;\n" + kWait0 + "D:\n",
        Kind::in_flight}});
}

TEST_CASE("arrivals are counted, phases alternate, and states tell them apart") {
  const PtxKernel kernel = kernel_of(
      initialised("64") +
      "mul.lo.u32 %r2, %tid, 4;\nadd.u32 %r3, %r2, %smem;\nst.shared.u32 [%r3], %tid;\n"
      "mbarrier.arrive.shared::cta.b64 %rd2, [%r1];\n"
      "W0: mbarrier.try_wait.shared::cta.b64 %p2, [%r1], %rd2;\n@!%p2 bra W0;\n"
      "xor.b32 %r4, %r2, 252;\nadd.u32 %r4, %r4, %smem;\nld.shared.u32 %r5, [%r4];\n"
      "mbarrier.arrive.shared::cta.b64 %rd3, [%r1], 1;\n"
      "W1: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r1], 1;\n@!%p3 bra W1;\n"
      "st.shared.u32 [%r3], %r5;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r1], 0;\nselp.u32 %r6, 1, 0, %p4;\n"
      "mbarrier.pending_count.b64 %r7, %rd3;\n"
      "cvt.u64.u32 %rd4, %r2;\nadd.u64 %rd4, %rd4, %out;\nst.global.u32 [%rd4], "
      "%r5;\nst.global.u32 [%rd4+256], %r6;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 0; t < 64; ++t) {
    CHECK(run.out[t] == 63 - t);
    CHECK(run.out[64 + t] == 0);  // the third phase, of parity 0, is not complete
  }
  check_faults(
      kernel,
      {{"relaxed arrivals order nothing", "mbarrier.arrive.shared",
        "mbarrier.arrive.relaxed.cta.shared", Kind::race},
       {"no second phase",
        "W1: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r1], 1;\n@!%p3 bra W1;\n", "",
        Kind::race},
       {"one thread does not arrive", "mbarrier.arrive.shared::cta.b64 %rd2",
        "@!%p1 mbarrier.arrive.shared::cta.b64 %rd2", Kind::deadlock},
       {"initialised again without order", kernel.body.substr(kernel.body.find("mbarrier.pending")),
        "mbarrier.init.shared::cta.b64 [%r1], 2;\n", Kind::race}});
}

TEST_CASE("cp.async arrives on an mbarrier when its copies are done") {
  const PtxKernel kernel = kernel_of(
      initialised("64") +
      "mul.lo.u32 %r2, %tid, 4;\nadd.u32 %r3, %r2, %smem;\ncvt.u64.u32 %rd2, %r2;\nadd.u64 %rd2, "
      "%rd2, %in;\n"
      "cp.async.ca.shared.global [%r3], [%rd2], 4;\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 "
      "[%r1];\n" +
      kWait0 +
      "xor.b32 %r4, %r2, 252;\nadd.u32 %r4, %r4, %smem;\nld.shared.u32 %r5, [%r4];\n"
      "add.u64 %rd2, %rd2, %out;\nsub.u64 %rd2, %rd2, %in;\nst.global.u32 [%rd2], %r5;\n");
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(run.out[t] == 64 - t);
  check_faults(kernel, {{"no wait", kWait0, "", Kind::in_flight},
                        {"counted twice", ".noinc.shared", ".shared", Kind::deadlock}});
}

TEST_CASE("a ragged copy needs the bytes that it asks for, and no others") {
  const auto copies = [](const std::string& bytes, const std::string& place) {
    PtxKernel kernel = kernel_of(
        "setp.ne.u32 %p1, %tid, 0;\n@%p1 bra E;\n"
        "cp.async.cg.shared.global [%smem], [%in+" +
        place + "], 16, " + bytes +
        ";\ncp.async.wait_all;\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, "
        "[%smem];\nst.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\nE:\n");
    kernel.in = bytes_of_values(counting(10));
    return run_ptx(kernel);
  };
  const PtxRun last = copies("8", "32");  // of 40 bytes
  CHECK(last.text() == "");
  CHECK(last.out[0] == 9);
  CHECK(last.out[1] == 10);
  CHECK(last.out[2] == 0);
  for (const char* bytes : {"10", "12", "15"}) {
    CAPTURE(std::string(bytes));
    CHECK(copies(bytes, "32").found(Kind::out_of_bounds));
    CHECK(copies(bytes, "8").found(Kind::misaligned));
    CHECK(copies(bytes, "16").text() == "");
  }
  CHECK(copies("0", "4096").text() == "");
}

TEST_CASE("what a launch without checks wrote counts as written for copies too") {
  PtxKernel store = kernel_of("st.global.u32 [%in], %tid;\n");
  store.in.clear();
  store.check = false;
  const std::string ragged =
      "cp.async.cg.shared.global [%smem], [%in], 16, 12;\ncp.async.wait_all;\n";
  const std::string bulk = initialised("1") +
                           "@!%p1 bra S;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], "
                           "16;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                           "[%smem], [%in], 16, [%r1];\nS:\n" +
                           kWait0;
  for (const std::string& body : {ragged, bulk}) {
    CAPTURE(body);
    PtxKernel copy = kernel_of(body, body == ragged ? 1 : 64);
    copy.in.clear();
    PtxDevice device(copy);
    CHECK(device.run(copy).found(Kind::uninitialised));
    device.run(store);
    CHECK(device.run(copy).text() == "");
  }
}

TEST_CASE("a bulk store writes or adds what shared memory holds") {
  const std::string fill =
      "mul.lo.u32 %r2, %tid, 4;\nadd.u32 %r3, %r2, %smem;\nadd.u32 %r4, %tid, 100;\nst.shared.u32 "
      "[%r3], %r4;\n";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%out], [%smem], 256;\n";
  const std::string body =
      fill +
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %tid, 0;\n@%p1 bra E;\n" +
      store +
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.u32 [%smem], "
      "0;\ncp.async.bulk.wait_group 0;\nE:\n";
  const PtxKernel kernel = kernel_of(body);
  const PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(run.out[t] == 100 + t);
  check_faults(
      kernel,
      {{"no wait for the source", "cp.async.bulk.wait_group.read 0;\n", "", Kind::in_flight},
       {"no proxy fence", "fence.proxy.async.shared::cta;\n", "", Kind::missing_fence},
       {"no barrier", "bar.sync 0;\n", "", Kind::race},
       {"no wait at all",
        "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%smem], 0;\ncp.async.bulk.wait_group "
        "0;\n",
        "", Kind::unfinished},
       {"nothing written", fill, "", Kind::uninitialised},
       {"past the end", "[%smem], 256", "[%smem+7936], 512", Kind::out_of_bounds}});
  struct Sum {
    const char* type;
    std::uint32_t first,
        second;  // the words of thread 0 and 1 after adding 100 and 101 to themselves
  };
  for (const Sum& sum : {Sum{"add.u32", 200, 202}, Sum{"max.s32", 100, 101}, Sum{"xor.b32", 0, 0},
                         Sum{"and.b32", 100, 101}}) {
    CAPTURE(std::string(sum.type));
    PtxKernel twice = kernel;
    const std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                               std::string(sum.type) + " [%out], [%smem], 256;\n";
    twice.body.replace(
        twice.body.find(store), store.size(),
        store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n" + reduce);
    const PtxRun reduced = run_ptx(twice);
    CHECK(reduced.text() == "");
    CHECK(reduced.out[0] == sum.first);
    CHECK(reduced.out[1] == sum.second);
  }
}

namespace {

// 32 columns and 32 rows of f32; boxes of 8 by 8.
TensorMap map_of(std::uint64_t address, Swizzle swizzle) {
  TensorMap map;
  map.address = address;
  map.rank = 2;
  map.extents = {32, 32};
  map.stride_bytes = {0, 128};
  map.box = {8, 8};
  map.swizzle = swizzle;
  return map;
}
std::vector<std::byte> encoded(const TensorMap& map) {
  const EncodedTensorMap bytes = encode_tensor_map(map);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("tensor loads and stores move boxes, swizzled or not, and clip them") {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::span32}) {
    PtxKernel kernel = kernel_of(initialised("1") +
                                 "@!%p1 bra S;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, "
                                 "[%r1], 256;\nmov.u32 %r5, 28;\nmov.u32 %r6, 3;\n"
                                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                                 "complete_tx::bytes [%smem], [%third, {%r5, %r6}], [%r1];\nS:\n" +
                                 kWait0 + kDump);
    kernel.third.resize(128);
    PtxDevice device(kernel);
    kernel.third = encoded(map_of(device.in(), swizzle));
    const PtxRun run = device.run(kernel);
    CHECK(run.text() == "");
    for (std::uint32_t w = 0; w < 64; ++w) {
      // Words of a pattern of 32: lines of 32 bytes, whose halves change places in every other 128
      // bytes.
      const std::uint32_t from = swizzle == Swizzle::none ? w : w ^ (w / 32 % 2) * 4;
      const std::uint32_t row = from / 8, column = from % 8;
      CHECK(run.out[w] == (column < 4 ? (3 + row) * 32 + 28 + column + 1 : 0));
    }
    PtxKernel store = kernel_of(
        "mul.lo.u32 %r2, %tid, 4;\nadd.u32 %r3, %r2, %smem;\nadd.u32 %r4, %tid, "
        "100;\nst.shared.u32 [%r3], %r4;\n"
        "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %tid, 0;\n@%p1 bra "
        "E;\nmov.u32 %r5, 28;\nmov.u32 %r6, -2;\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%third, {%r5, %r6}], "
        "[%smem];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\n");
    store.third.resize(128);
    PtxDevice other(store);
    store.third = encoded(map_of(other.out(), swizzle));
    const PtxRun stored = other.run(store);
    CHECK(stored.text() == "");
    std::uint32_t wrong = 0;
    for (std::uint32_t row = 0; row < 32; ++row)
      for (std::uint32_t column = 0; column < 32; ++column) {
        const bool inside = row < 6 && column >= 28;
        const std::uint32_t linear = (row + 2) * 8 + column - 28;
        const std::uint32_t word =
            swizzle == Swizzle::none ? linear : linear ^ (linear / 32 % 2) * 4;
        wrong += stored.out[row * 32 + column] != (inside ? 100 + word : 0);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a tensor copy with a wrong map or place is named") {
  const std::string good =
      initialised("1") +
      "@!%p1 bra S;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\nmov.u32 %r5, 0;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%smem], "
      "[%third, {%r5, %r5}], [%r1];\nS:\n" +
      kWait0;
  const auto run = [&](const std::string& from, const std::string& to, int change) {
    PtxKernel kernel = kernel_of(good);
    kernel.third.resize(128);
    PtxDevice device(kernel);
    TensorMap map = map_of(device.in(), Swizzle::none);
    if (change == 1) map.extents[1] = 64;  // more rows than the buffer has
    kernel.third = encoded(map);
    if (change == 2) kernel.third[17] ^= std::byte{1};
    if (!from.empty()) kernel.body.replace(kernel.body.find(from), from.size(), to);
    if (change == 1) kernel.body.replace(kernel.body.find("%r5, 0"), 6, "%r5, 28");
    return device.run(kernel);
  };
  CHECK(run("", "", 0).text() == "");
  CHECK(run("", "", 1).found(Kind::out_of_bounds));
  CHECK(run("", "", 2).found(Kind::invalid));
  CHECK(run("[%smem], [%third", "[%smem+64], [%third", 0).found(Kind::misaligned));
  CHECK_THROWS_AS(run("2d", "3d", 0), Error);
}
