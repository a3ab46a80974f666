// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of the object beside this test, on memory whose neighbours must not be touched.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "halftone/error.hpp"
#include "halftone/manifest/blocks.hpp"
#include "halftone/manifest/plan.hpp"
#include "processor.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_emit_cpu;

namespace native {

/// `Place::end`: the last element lies before an inaccessible page; `Place::start`: the first lies
/// behind one.
enum class Place { start, end };

template <class T>
class Memory {
 public:
  Memory(std::size_t count, Place place) : count_(count) {
    const std::size_t used = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    bytes_ = used + 2 * kPage;
    base_ =
        static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + kPage, used, PROT_READ | PROT_WRITE) == 0);
    std::memset(base_ + kPage, kUntouched, used);
    slack_begin_ = base_ + kPage;
    slack_end_ = slack_begin_ + used;
    data_ =
        reinterpret_cast<T*>(place == Place::start ? slack_begin_ : slack_end_ - count * sizeof(T));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { munmap(base_, bytes_); }

  T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] void* pointer() const { return data_; }
  [[nodiscard]] std::vector<T> values() const { return {data_, data_ + count_}; }
  /// Whether the bytes of the pages around the elements are as they were.
  [[nodiscard]] bool neighbours_untouched() const {
    const char* first = reinterpret_cast<const char*>(data_);
    for (const char* at = slack_begin_; at < slack_end_; ++at)
      if ((at < first || at >= first + count_ * sizeof(T)) && *at != kUntouched) return false;
    return true;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr char kUntouched = 0x5a;
  std::size_t count_, bytes_;
  char *base_, *slack_begin_, *slack_end_;
  T* data_;
};

using Floats = Memory<float>;
using Integers = Memory<std::int32_t>;

/// Values in [-2, 2); with `specials` one of 16 is a NaN, an infinity, a zero of either sign or a
/// subnormal.
inline void fill(Floats& memory, std::size_t count, unsigned seed, bool specials) {
  constexpr float kSpecials[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-40f};
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    memory[i] = static_cast<float>(random() >> 8) * 0x1p-22f - 2.0f;
    if (specials && random() % 16 == 0) memory[i] = kSpecials[random() % 6];
  }
}

inline const halftone::manifest::Manifest& manifest() {
  static const halftone::manifest::Manifest decoded = [] {
    const auto& image = halftone_artifact_emit_cpu;
    halftone::manifest::Manifest result;
    halftone::manifest::DecodeError error;
    const bool good = decode({image.manifests->bytes, image.manifests->size}, result, error);
    REQUIRE_MESSAGE(good, error.message);
    return result;
  }();
  return decoded;
}

/// Why variants were left out, by name.
inline std::map<std::string, std::string>& skipped() {
  static std::map<std::string, std::string> reasons;
  return reasons;
}

/// Whether this processor runs the variant; the test is skipped, once all others passed, if not.
/// What AMX and AVX512-BF16 multiply is cpu_tiles_test's and cpu_pairs_test's, and the rest of
/// these variants is x86-64-v4's code.
inline bool runs(const std::string& variant) {
  if (variant == "x86-64-v4-amx" || variant == "x86-64-v4-bf16") return false;
  try {
    halftone::require_variant(halftone::this_processor(), variant);
    return true;
  } catch (const halftone::Error& error) {
    skipped()[variant] = error.what();
    return false;
  }
}

/// Whether contractions get blocks that end everywhere instead of those of the runtime; each_case()
/// says so in half of its cases.
inline bool small_blocks = false;

inline halftone::manifest::BlockPlan plan_of(const halftone::manifest::Kernel& kernel,
                                             std::size_t variant, std::int64_t batch) {
  using namespace halftone::manifest;
  const std::vector<std::int64_t> symbols{batch};
  if (kernel.blocking.tiles.empty()) return {{}, task_count(kernel, symbols)};
  const RegisterTile tile = kernel.blocking.tiles[variant];
  if (!small_blocks) return plan_blocks(kernel, variant, symbols, CacheSizes{}, 2);
  const std::int64_t rows = std::max<std::int64_t>(2 * tile.rows, 2 * kFewRows);
  return plan_blocks(kernel, variant, symbols, CpuBlocks{rows, kPanels * tile.columns, 16});
}

/// The arguments that may go past the caches: those that begin with a line.
inline std::uint64_t aligned(const std::vector<const void*>& arguments) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (reinterpret_cast<std::uintptr_t>(arguments[i]) % 64 == 0) found |= std::uint64_t{1} << i;
  return found;
}

/// Rhs of a contraction, in about half of the calls, packed before its tasks by tasks that run one
/// by one, the last first; otherwise nothing: tasks pack their own panels.
template <class Run>
std::unique_ptr<Memory<char>> pack_sometimes(const halftone::manifest::Kernel& kernel,
                                             std::size_t variant, std::int64_t batch,
                                             const Run& run) {
  static std::mt19937 coin(17);
  if (kernel.blocking.tiles.empty() || kernel.blocking.rhs < 0 || coin() % 2 == 0) return nullptr;
  auto plan = plan_packing(kernel, variant, std::vector<std::int64_t>{batch});
  auto memory = std::make_unique<Memory<char>>(static_cast<std::size_t>(plan.bytes), Place::end);
  plan.blocks.rhs = static_cast<std::byte*>(memory->pointer());
  for (std::int64_t task = plan.tasks; task-- > 0;) run(task, task + 1, plan.blocks);
  return memory;
}

/// Runs all tasks, one by one or half by half and the last ones first, then the finish. Where
/// blocks are not small, results go past the caches.
inline void run(std::size_t variant, const std::string& name,
                const std::vector<const void*>& arguments, std::int64_t batch) {
  using halftone::manifest::BlockPlan, halftone::manifest::CpuBlocks;
  using Entry = void (*)(const void* const*, const std::int64_t*, std::int64_t, std::int64_t,
                         const CpuBlocks*);
  for (const auto& kernel : manifest().kernels) {
    if (kernel.name != name) continue;
    const auto entry = [&](std::int32_t index) {
      return reinterpret_cast<Entry>(
          const_cast<void*>(halftone_artifact_emit_cpu.cpu_entries[variant][index]));
    };
    const BlockPlan plan = plan_of(kernel, variant, batch);
    Floats memory(static_cast<std::size_t>(std::max<std::int64_t>(1, plan.floats())), Place::end);
    CpuBlocks blocks = plan.in(static_cast<float*>(memory.pointer()));
    if (!small_blocks) blocks.past_caches = aligned(arguments);
    const std::unique_ptr<Memory<char>> packed = pack_sometimes(
        kernel, variant, batch, [&](std::int64_t first, std::int64_t last, const CpuBlocks& by) {
          entry(kernel.cpu_entry)(arguments.data(), &batch, first, last, &by);
        });
    if (packed) {
      blocks.rhs = static_cast<std::byte*>(packed->pointer());
      blocks.panels = halftone::manifest::Panels::packed;
    }
    const std::int64_t step = plan.tasks <= 100 && small_blocks ? 1 : (plan.tasks + 1) / 2;
    for (std::int64_t last = plan.tasks; last > 0; last -= step)
      entry(kernel.cpu_entry)(arguments.data(), &batch, std::max<std::int64_t>(0, last - step),
                              last, &blocks);
    CHECK(memory.neighbours_untouched());
    CHECK((!packed || packed->neighbours_untouched()));
    if (kernel.cpu_finish >= 0) entry(kernel.cpu_finish)(arguments.data(), &batch, 0, 1, nullptr);
    return;
  }
  FAIL("no kernel ", name);
}

inline std::uint32_t bits(float value) {
  std::uint32_t result;
  std::memcpy(&result, &value, sizeof(result));
  return std::isnan(value) ? 0x7fffffffu : result;  // N7
}
inline std::uint32_t bits(std::int32_t value) { return static_cast<std::uint32_t>(value); }

/// Every element to the bit, and nothing beside them; tells the first that differs.
template <class T>
void check(const Memory<T>& memory, const std::vector<T>& expected) {
  const std::vector<T> got = memory.values();
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (bits(got[i]) != bits(expected[i])) {
      CAPTURE(i);
      CHECK(got[i] == expected[i]);
      FAIL_CHECK("bits ", bits(got[i]), " are not ", bits(expected[i]));
      return;
    }
  CHECK(memory.neighbours_untouched());
}

/// One way of running a kernel.
struct Case {
  std::size_t variant;
  std::int64_t batch;
  Place place;
  bool specials;
};

/// Calls `test(case)` for every variant that runs here, every batch, both places in memory, with
/// and without specials.
template <class Test>
void each_case(const std::vector<std::int64_t>& batches, Test test) {
  for (std::size_t variant = 0; variant < manifest().variants.size(); ++variant) {
    if (!runs(manifest().variants[variant])) continue;
    for (const std::int64_t batch : batches)
      for (const bool specials : {false, true}) {
        const Place place = specials ? Place::start : Place::end;
        CAPTURE(manifest().variants[variant]);
        CAPTURE(batch);
        CAPTURE(specials);
        small_blocks = !specials;
        test(Case{variant, batch, place, specials});
      }
  }
}

}  // namespace native
