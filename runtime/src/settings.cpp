// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "edit_distance.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

constexpr std::string_view kPrefix = "HALFTONE_";
/// Behind the prefix; all that is read.
constexpr std::array<std::string_view, 11> kNames = {
    "CACHE", "CACHE_DIR", "CACHE_MAX", "CHECK_LAUNCHES",  "COMPILE_TIMEOUT", "DEVICE",
    "JIT",   "LOG",       "SIMULATOR", "STEPS_IN_FLIGHT", "THREADS"};

bool is_known(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

/// Names that are far from ours may be anybody's.
void refuse_misspelt(std::string_view name) {
  if (is_known(name)) return;
  for (const std::string_view known : kNames) {
    if (edit_distance(name, known) > std::max<std::size_t>(1, known.size() / 6)) continue;
    throw Error({.operation = "settings",
                 .object = std::string(kPrefix) + std::string(name),
                 .cause = "in the environment is unknown",
                 .hint = "write " + std::string(kPrefix) + std::string(known) + ", or unset it"});
  }
}

std::string read(const char* name) {
  assert(!std::string_view(name).starts_with(kPrefix) ||
         is_known(std::string_view(name).substr(kPrefix.size())));
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// From `least` to `most`; `otherwise` when unset.
int number(const char* name, int least, int most, int otherwise) {
  const std::string text = read(name);
  if (text.empty()) return otherwise;
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc{} && stop == end && value >= least && value <= most) return value;
  throw Error({.operation = "settings",
               .object = name,
               .cause = "is '" + text + "'",
               .hint = "give a number from " + std::to_string(least) + " to " +
                       std::to_string(most) + " or unset it"});
}

}  // namespace

void require_sound_settings() {
  (void)threads_setting();
  (void)check_launches_setting();
  (void)steps_in_flight_setting();
  (void)jit_setting();
  (void)compile_timeout_setting();
  (void)log_setting();
  (void)cache_settings(cache_environment());
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with(kPrefix)) refuse_misspelt(name.substr(kPrefix.size()));
  }
}

std::string device_setting() { return read("HALFTONE_DEVICE"); }

int threads_setting() {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return number("HALFTONE_THREADS", 1, kMostThreads, std::clamp(processors, 1, kMostThreads));
}

int steps_in_flight_setting() { return number("HALFTONE_STEPS_IN_FLIGHT", 1, 64, 4); }
int compile_timeout_setting() { return number("HALFTONE_COMPILE_TIMEOUT", 0, 86400, 300); }

bool check_launches_setting() {
  const std::string text = read("HALFTONE_CHECK_LAUNCHES");
  if (text == "1") return true;
  if (text.empty() || text == "0") return false;
  throw Error({.operation = "settings",
               .object = "HALFTONE_CHECK_LAUNCHES",
               .cause = "is '" + text + "'",
               .hint = "give 1 or 0, or unset it"});
}

Jit jit_setting() {
  const std::string text = read("HALFTONE_JIT");
  if (text.empty()) return Jit::missing;
  if (text == "never") return Jit::never;
  if (text == "first") return Jit::first;
  if (text == "background") return Jit::background;
  throw Error({.operation = "settings",
               .object = "HALFTONE_JIT",
               .cause = "is '" + text + "'",
               .hint = "give 'never', 'first' or 'background', or unset it: then what the artifact "
                       "does not hold is compiled"});
}

std::string log_setting() {
  const std::string text = read("HALFTONE_LOG");
  if (text.empty() || text == "off" || text == "progress" || text == "steps") return text;
  throw Error({.operation = "settings",
               .object = "HALFTONE_LOG",
               .cause = "is '" + text + "'",
               .hint = "give 'off', 'progress' or 'steps', or unset it"});
}

std::string nvrtc_home_setting() { return read("NVRTC_HOME"); }
std::string cuda_home_setting() { return read("CUDA_HOME"); }
std::string simulator_setting() { return read("HALFTONE_SIMULATOR"); }
std::string profiler_setting() { return read("NVTX_INJECTION64_PATH"); }

CacheEnvironment cache_environment() {
  return {.cache = read("HALFTONE_CACHE"),
          .cache_dir = read("HALFTONE_CACHE_DIR"),
          .cache_max = read("HALFTONE_CACHE_MAX"),
          .xdg_cache_home = read("XDG_CACHE_HOME"),
          .home = read("HOME")};
}

char** environment_of_programs() { return environ; }

}  // namespace halftone
