// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "halftone/error.hpp"

namespace halftone {
namespace {

std::string read(const char* name) {
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

std::string nvrtc_home_setting() { return read("NVRTC_HOME"); }
std::string cuda_home_setting() { return read("CUDA_HOME"); }

CacheEnvironment cache_environment() {
  return {.cache = read("HALFTONE_CACHE"),
          .cache_dir = read("HALFTONE_CACHE_DIR"),
          .cache_max = read("HALFTONE_CACHE_MAX"),
          .xdg_cache_home = read("XDG_CACHE_HOME"),
          .home = read("HOME")};
}

}  // namespace halftone
