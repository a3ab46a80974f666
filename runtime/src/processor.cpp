// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "halftone/error.hpp"
#include "text.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#endif

namespace halftone {
namespace {

struct Variant {
  std::string name;
  std::vector<std::string> needs;
  bool has_tiles = false;
};

/// Best first. The levels are those of the x86-64 psABI.
const std::vector<Variant>& known_variants() {
  static const std::vector<Variant> variants = {
#if defined(__x86_64__)
    {"x86-64-v4-amx",
     {"amx-bf16", "amx-tile", "avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f",
      "avx512vl", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
     true},
    {"x86-64-v4-bf16",
     {"avx", "avx2", "avx512bf16", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "bmi",
      "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
    {"x86-64-v4",
     {"avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "bmi", "bmi2",
      "f16c", "fma", "lzcnt", "movbe"}},
    {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
    {"x86-64", {}},
#elif defined(__aarch64__)
    {"aarch64", {}},
#endif
  };
  return variants;
}

#if defined(__x86_64__)
/// The largest data cache that the processor lists; 0 where it lists none. The C library has
/// another number for the last level on AMD's: what all its sockets' parts have together.
std::int64_t largest_cache() {
  constexpr unsigned kIntel = 4, kAmd = 0x8000001d;
  std::int64_t largest = 0;
  for (const unsigned leaf : {kIntel, kAmd}) {
    constexpr unsigned kMostCaches = 16;
    for (unsigned index = 0; index < kMostCaches; ++index) {
      unsigned a = 0, b = 0, c = 0, d = 0;
      if (!__get_cpuid_count(leaf, index, &a, &b, &c, &d)) break;
      const unsigned type = a & 0x1f;
      constexpr unsigned kNone = 0, kInstructions = 2;
      if (type == kNone) break;
      if (type == kInstructions) continue;
      const std::int64_t ways = (b >> 22) + 1, parts = (b >> 12 & 0x3ff) + 1,
                         line = (b & 0xfff) + 1, sets = std::int64_t{c} + 1;
      largest = std::max(largest, ways * parts * line * sets);
    }
  }
  return largest;
}
#endif

/// What the C library knows of the first core; where it knows nothing, the defaults.
manifest::CacheSizes cache_sizes() {
  manifest::CacheSizes sizes;
  const auto read = [](int name, std::int64_t& size) {
    if (const long known = sysconf(name); known > 0) size = known;
  };
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  read(_SC_LEVEL1_DCACHE_SIZE, sizes.first);
  read(_SC_LEVEL2_CACHE_SIZE, sizes.second);
#endif
#if defined(__x86_64__)
  if (const std::int64_t largest = largest_cache(); largest > 0) sizes.last = largest;
#elif defined(_SC_LEVEL3_CACHE_SIZE)
  read(_SC_LEVEL3_CACHE_SIZE, sizes.last);
#endif
  return sizes;
}

#if defined(__x86_64__)
std::string brand_string() {
  constexpr unsigned kFirst = 0x80000002, kLast = 0x80000004;
  unsigned highest = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0x80000000, &highest, &b, &c, &d) || highest < kLast) return "x86-64";
  std::array<unsigned, 12> words{};
  for (unsigned leaf = kFirst; leaf <= kLast; ++leaf) {
    unsigned* at = &words[(leaf - kFirst) * 4];
    __get_cpuid(leaf, at, at + 1, at + 2, at + 3);
  }
  char text[sizeof words + 1] = {};
  std::memcpy(text, words.data(), sizeof words);
  std::string brand = text;
  brand.erase(brand.find_last_not_of(' ') + 1);
  brand.erase(0, brand.find_first_not_of(' '));
  return brand;
}

/// Tiles that the operating system saves, and what multiplies bf16 in them: CPUID leaf 7, EDX;
/// XCR0.
bool has_amx() {
  constexpr unsigned kSavesState = 1u << 27, kBf16 = 1u << 22, kTile = 1u << 24,
                     kTileState = 3u << 17;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kSavesState) == 0) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
}

/// Linux lets a process use tiles once it asked (Documentation/arch/x86/xstate.rst). It holds for
/// all of its threads.
std::string ask_for_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) return {};
  return std::strerror(errno);
#else
  return "it cannot be asked";
#endif
}

Processor detect() {
  __builtin_cpu_init();
  Processor processor{brand_string(), {}, cache_sizes()};
  const auto note = [&](const char* name, bool present) {
    if (present) processor.features.emplace_back(name);
  };
  const bool tiles = has_amx();
  note("amx-bf16", tiles);
  note("amx-tile", tiles);
  if (tiles) processor.tiles_refused = ask_for_tiles();
  note("avx", __builtin_cpu_supports("avx"));
  note("avx2", __builtin_cpu_supports("avx2"));
  note("avx512bf16", __builtin_cpu_supports("avx512bf16"));
  note("avx512bw", __builtin_cpu_supports("avx512bw"));
  note("avx512cd", __builtin_cpu_supports("avx512cd"));
  note("avx512dq", __builtin_cpu_supports("avx512dq"));
  note("avx512f", __builtin_cpu_supports("avx512f"));
  note("avx512vl", __builtin_cpu_supports("avx512vl"));
  note("bmi", __builtin_cpu_supports("bmi"));
  note("bmi2", __builtin_cpu_supports("bmi2"));
  note("f16c", __builtin_cpu_supports("f16c"));
  note("fma", __builtin_cpu_supports("fma"));
  note("lzcnt", __builtin_cpu_supports("lzcnt"));
  note("movbe", __builtin_cpu_supports("movbe"));
  return processor;
}
#elif defined(__aarch64__)
Processor detect() { return {"aarch64", {}, cache_sizes()}; }
#else
Processor detect() { return {"unknown processor", {}}; }
#endif

std::vector<std::string> missing(const Processor& processor, const Variant& variant) {
  std::vector<std::string> names;
  for (const std::string& need : variant.needs) {
    if (std::ranges::find(processor.features, need) == processor.features.end()) {
      names.push_back(need);
    }
  }
  return names;
}

bool is_refused(const Processor& processor, const Variant& variant) {
  return variant.has_tiles && !processor.tiles_refused.empty();
}

Processor& processor_of_this_process() {
  static Processor processor = detect();
  return processor;
}

}  // namespace

const Processor& this_processor() { return processor_of_this_process(); }

void pretend(Processor processor) { processor_of_this_process() = std::move(processor); }

std::vector<std::string> runnable_variants(const Processor& processor) {
  std::vector<std::string> names;
  for (const Variant& variant : known_variants()) {
    if (missing(processor, variant).empty() && !is_refused(processor, variant)) {
      names.push_back(variant.name);
    }
  }
  return names;
}

void require_variant(const Processor& processor, std::string_view name) {
  const auto& variants = known_variants();
  const auto variant = std::ranges::find(variants, name, &Variant::name);
  if (variant == variants.end()) {
    throw Error({.operation = "device",
                 .object = named("CPU variant", name),
                 .cause = "is unknown",
                 .hint = "this processor runs " + listed(runnable_variants(processor))});
  }
  if (const auto lacks = missing(processor, *variant); !lacks.empty()) {
    throw Error({.operation = "device",
                 .object = named("CPU variant", name),
                 .cause = "needs " + listed(lacks) + ", but this processor (" + processor.brand +
                          ") has " + listed(processor.features),
                 .hint = "it runs " + listed(runnable_variants(processor))});
  }
  if (is_refused(processor, *variant)) {
    throw Error(
        {.operation = "device",
         .object = named("CPU variant", name),
         .cause = "needs AMX's tiles, which the kernel does not let this process use (" +
                  processor.tiles_refused + ")",
         .hint = "update the kernel or choose one of " + listed(runnable_variants(processor))});
  }
}

}  // namespace halftone
