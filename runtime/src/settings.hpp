// SPDX-License-Identifier: Apache-2.0
// What the environment says; nothing else in Halftone reads environment variables.
#pragma once

#include <string>

#include "cache/cache_settings.hpp"
#include "dispatch.hpp"

namespace halftone {

/// The largest pool.
inline constexpr int kMostThreads = 1024;

/// Throws Error where a variable below has a value that is none, HALFTONE_DEVICE aside, or where
/// the environment has a name that is nearly one of theirs: HALFTONE_THREAD.
void require_sound_settings();

/// HALFTONE_DEVICE as it stands, empty when unset.
[[nodiscard]] std::string device_setting();

/// HALFTONE_THREADS, or the number of processors that this process may use. Throws Error on what is
/// no number from 1 to 1024.
[[nodiscard]] int threads_setting();

/// HALFTONE_CHECK_LAUNCHES: true for "1", false for "0" and unset. Throws Error on anything else.
[[nodiscard]] bool check_launches_setting();

/// HALFTONE_STEPS_IN_FLIGHT, or 4. Throws Error on what is no number from 1 to 64.
[[nodiscard]] int steps_in_flight_setting();

/// HALFTONE_JIT: "never", "first", "background", or unset. Throws Error on anything else.
[[nodiscard]] Jit jit_setting();

/// HALFTONE_COMPILE_TIMEOUT in seconds, or 300; 0: none. Throws Error on what is no number from 0
/// to 86400.
[[nodiscard]] int compile_timeout_setting();

/// HALFTONE_LOG: "off", "progress", "steps", or empty when unset. Throws Error on anything else.
[[nodiscard]] std::string log_setting();

/// NVRTC_HOME and CUDA_HOME as they stand, empty when unset.
[[nodiscard]] std::string nvrtc_home_setting();
[[nodiscard]] std::string cuda_home_setting();

/// HALFTONE_SIMULATOR as it stands, empty when unset.
[[nodiscard]] std::string simulator_setting();

/// NVTX_INJECTION64_PATH as it stands, empty when unset: the library of a profiler.
[[nodiscard]] std::string profiler_setting();

/// HALFTONE_CACHE, HALFTONE_CACHE_DIR, HALFTONE_CACHE_MAX, XDG_CACHE_HOME and HOME as they stand.
[[nodiscard]] CacheEnvironment cache_environment();

/// As it stands, for programs that are started: posix_spawn's last argument.
[[nodiscard]] char** environment_of_programs();

}  // namespace halftone
