// SPDX-License-Identifier: Apache-2.0
// The arena and what contractions work in: as many bytes as planned, each in one piece, all given
// back, and a clear sentence when there are none.
#include "halftone/memory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>

#include "changed_artifact.hpp"
#include "generated_example.hpp"
#include "message_of.hpp"

using models::line::Predictor;
using models::line::Trainer;

// The sanitizers' allocators end the program where a real one returns null.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

/// Counts by itself, and has nothing for the allocation with number `fail_at`.
class CountingMemory final : public halftone::MemorySource {
 public:
  explicit CountingMemory(int fail_at = 0) : fail_at_(fail_at) {}

  void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept override {
    if (++allocations == fail_at_) return nullptr;
    held_bytes += bytes;
    return halftone::host_memory()->allocate(bytes, alignment);
  }

  void release(void* address, std::int64_t bytes) noexcept override {
    held_bytes -= bytes;
    halftone::host_memory()->release(address, bytes);
  }

  int allocations = 0;
  std::int64_t held_bytes = 0;

 private:
  int fail_at_;
};

/// Aligned to 4 bytes alone.
class UnalignedMemory final : public halftone::MemorySource {
 public:
  void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept override {
    ++held;
    auto* address = halftone::host_memory()->allocate(bytes + alignment, alignment);
    return static_cast<std::byte*>(address) + kOffset;
  }
  void release(void* address, std::int64_t bytes) noexcept override {
    --held;
    halftone::host_memory()->release(static_cast<std::byte*>(address) - kOffset, bytes);
  }

  int held = 0;

 private:
  static constexpr std::ptrdiff_t kOffset = 4;
};

}  // namespace

TEST_CASE("predicted and measured bytes are equal, and are what the memory handed out") {
  for (std::int64_t batch : {1, 5, 32, 1000}) {
    const auto memory = std::make_shared<CountingMemory>();
    const auto device = halftone::Device::cpu().with_memory(memory);
    Trainer trainer(device, {.batch = batch});
    CAPTURE(batch);
    const auto stats = trainer.stats();
    CHECK(stats.peak_bytes_predicted == memory->held_bytes);
    CHECK(stats.peak_bytes_measured == memory->held_bytes);
    CHECK(memory->allocations == 1);
    const Predictor predictor(device, {.batch = batch});
    CHECK(predictor.peak_bytes_predicted() == predictor.peak_bytes_measured());
    CHECK(predictor.peak_bytes_measured() == memory->held_bytes - stats.peak_bytes_measured);
    CHECK(predictor.peak_bytes_measured() < stats.peak_bytes_measured);
    trainer.step(std::vector<float>(static_cast<std::size_t>(batch * 3)),
                 std::vector<float>(static_cast<std::size_t>(batch * 2)));
    CHECK(memory->allocations == 2);
  }
}

TEST_CASE("runs of fewer rows than planned take no memory of their own") {
  const auto memory = std::make_shared<CountingMemory>();
  Trainer trainer(halftone::Device::cpu().with_memory(memory), {.batch = 40});
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    trainer.step(std::vector<float>(rows * 3), std::vector<float>(rows * 2));
  }
  CHECK(memory->allocations == 1);
  CHECK(trainer.stats().peak_bytes_measured == memory->held_bytes);
}

TEST_CASE("the planner's figure for five rows is the one worked out by hand") {
  // The slots are listed in manifest_test.cpp; here 60, 40, 256, 256, 40, 40, 40 and eleven times
  // 4 bytes, each rounded up to 64.
  CHECK(Trainer(halftone::Device::cpu(), {.batch = 5}).stats().peak_bytes_measured == 1536);
}

TEST_CASE("what contractions work in is counted, a part for each thread") {
  const ChangedArtifact blocked([](auto& manifest) {
    auto& kernel = manifest.kernels[0];
    kernel.tasks.push_back({{{hand_made::kTargets, -1}}, 1});
    kernel.blocking = {
        {{6, 16, 8}, {1, 4, 1}}, {{hand_made::kFeatures, -1}}, /*stride=*/48, /*transposes=*/true};
  });
  // Of the variant with tiles of 1 by 4, for 5 by 2 results of 3 products: lhs's 5 * 48 floats, a
  // panel of 3 * 4, sums of 4, sums of lhs of 5 + 4, the last three in whole lines of 16.
  constexpr std::int64_t kPart = 4 * (240 + 16 + 16 + 16);
  const auto device = halftone::Device::cpu("x86-64");
  for (const int threads : {1, 3}) {
    const auto memory = std::make_shared<CountingMemory>();
    Trainer trainer(blocked.artifact(), device.with_threads(threads).with_memory(memory),
                    {.batch = 5});
    CHECK(memory->held_bytes == 1536 + threads * kPart);
    CHECK(trainer.stats().peak_bytes_measured == memory->held_bytes);
    CHECK(trainer.stats().peak_bytes_predicted == memory->held_bytes);
  }
  const auto memory = std::make_shared<CountingMemory>(2);
  CHECK(message_of([&] {
          Trainer(blocked.artifact(), device.with_threads(3).with_memory(memory), {.batch = 5});
        }) ==
        "trainer: model 'line' needs 3456 bytes of memory for contractions on 3 threads, which the "
        "device 'cpu:x86-64' does not have; free memory, or give the device fewer threads");
  CHECK(memory->held_bytes == 0);
}

TEST_CASE("a source whose memory is not aligned is named, and gets it back") {
  const auto memory = std::make_shared<UnalignedMemory>();
  CHECK(message_of([&] { Trainer(halftone::Device::cpu().with_memory(memory), {.batch = 5}); }) ==
        "trainer: the memory source of the device 'cpu' gave an address that is no multiple of 64; "
        "let its allocate() return what is aligned as its second argument says");
  CHECK(memory->held == 0);
}

TEST_CASE("the sum over micro-batches takes memory from the first accumulate() on") {
  const auto memory = std::make_shared<CountingMemory>();
  Trainer trainer(halftone::Device::cpu().with_memory(memory), {.batch = 5});
  const std::vector<float> features(15), target(10);
  trainer.step(features, target);
  CHECK(memory->held_bytes == 1536);
  for (int i = 0; i < 3; ++i) {
    trainer.accumulate(features, target);
    CHECK(memory->held_bytes == 1536 + 256);
    CHECK(trainer.stats().peak_bytes_predicted == 1536 + 256);
    CHECK(trainer.stats().peak_bytes_measured == 1536 + 256);
  }
}

TEST_CASE("what a diagnosis needs is given back") {
  const auto memory = std::make_shared<CountingMemory>();
  Trainer trainer(halftone::Device::cpu().with_memory(memory), {.batch = 5});
  trainer.step(std::vector<float>(15), std::vector<float>(10));
  CHECK_FALSE(trainer.diagnose());
  CHECK(memory->allocations == 2);
  CHECK(memory->held_bytes == 1536);
  CHECK(trainer.stats().peak_bytes_measured == 1536);
}

TEST_CASE("micro-batches and diagnoses without memory end in a sentence, and training goes on") {
  const auto memory = std::make_shared<CountingMemory>(2);
  Trainer trainer(halftone::Device::cpu().with_memory(memory), {.batch = 5});
  const std::vector<float> features(15), target(10);
  CHECK(
      message_of([&] { trainer.accumulate(features, target); }) ==
      "trainer: model 'line' with batch 5 needs 256 bytes of memory in one piece, which the device "
      "'cpu' does not have; bind smaller sizes or free memory");
  trainer.step(features, target);
  CHECK(trainer.updated());
  trainer.accumulate(features, target);
  trainer.step(features, target);
  CHECK(trainer.updated());
  memory->allocations = 1;
  CHECK(message_of([&] { (void)trainer.diagnose(); }).find("diagnose: model 'line' with batch 5") ==
        0);
  trainer.step(features, target);
  CHECK(trainer.updated());
}

TEST_CASE("a missing allocation, whichever it is, ends in one sentence and leaks nothing") {
  int failures = 0;
  for (int fail_at = 1;; ++fail_at) {
    const auto memory = std::make_shared<CountingMemory>(fail_at);
    const std::string message = message_of([&] {
      const auto device = halftone::Device::cpu().with_memory(memory);
      const Trainer trainer(device, {.batch = 5});
      Predictor(device, {.batch = 5}).copy_parameters(trainer);
    });
    CHECK(memory->held_bytes == 0);
    if (message == "no error") break;
    ++failures;
    CAPTURE(fail_at);
    CHECK(message ==
          std::string(fail_at == 1 ? "trainer" : "predictor") +
              ": model 'line' with batch 5 needs " + (fail_at == 1 ? "1536" : "384") +
              " bytes of memory in one piece, which the device 'cpu' does not have; bind "
              "smaller sizes or free memory");
  }
  CHECK(failures == 2);
}

TEST_CASE("the host's memory begins with a huge page where it fills one") {
  constexpr std::int64_t kHugePage = 2 << 20, kAlignment = 64;
  const auto memory = halftone::host_memory();
  for (const std::int64_t bytes : {kHugePage, 3 * kHugePage + kAlignment}) {
    void* address = memory->allocate(bytes, kAlignment);
    REQUIRE(address != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(address) % kHugePage == 0);
    memory->release(address, bytes);
  }
}

TEST_CASE("more memory than the host has ends in the same sentence") {
  const std::string message =
      message_of([] { Trainer(halftone::Device::cpu(), {.batch = std::int64_t{1} << 52}); });
  CHECK(message.find("trainer: model 'line' with batch 4503599627370496 needs ") == 0);
  CHECK(message.find(" bytes of memory in one piece, which the device 'cpu' does not have") !=
        std::string::npos);
}

TEST_CASE("all memory is given back at the end") {
  const auto memory = std::make_shared<CountingMemory>();
  {
    Trainer trainer(halftone::Device::cpu().with_memory(memory), {.batch = 5});
    Trainer moved = std::move(trainer);
    CHECK(memory->held_bytes == 1536);
  }
  CHECK(memory->held_bytes == 0);
}
