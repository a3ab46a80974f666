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

}  // namespace

std::string device_setting() { return read("HALFTONE_DEVICE"); }

int threads_setting() {
  const std::string text = read("HALFTONE_THREADS");
  if (text.empty()) {
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  }
  int threads = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, threads);
  if (failure != std::errc{} || stop != end || threads < 1 || threads > kMostThreads) {
    throw Error(
        {.operation = "settings",
         .object = "HALFTONE_THREADS",
         .cause = "is '" + text + "'",
         .hint = "give a number from 1 to " + std::to_string(kMostThreads) + " or unset it"});
  }
  return threads;
}

bool check_launches_setting() {
  const std::string text = read("HALFTONE_CHECK_LAUNCHES");
  if (text == "1") return true;
  if (text.empty() || text == "0") return false;
  throw Error({.operation = "settings",
               .object = "HALFTONE_CHECK_LAUNCHES",
               .cause = "is '" + text + "'",
               .hint = "give 1 or 0, or unset it"});
}

std::string nvrtc_home_setting() { return read("NVRTC_HOME"); }
std::string cuda_home_setting() { return read("CUDA_HOME"); }

}  // namespace halftone
