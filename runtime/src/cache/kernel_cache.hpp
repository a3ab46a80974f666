// SPDX-License-Identifier: Apache-2.0
// Compiled kernels, kept in a folder from run to run. Asked for one, it always answers: what it
// cannot find, read or believe is compiled again. docs/cache.md says what users may rely on.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "../driver_context.hpp"
#include "cache_folder.hpp"
#include "cache_settings.hpp"
#include "halftone/kernel_cache.hpp"

namespace halftone {

/// How long a process waits for another that compiles the same kernel, before it does so itself.
inline constexpr std::chrono::seconds kLockPatience{30};

/// May be used from any thread.
class KernelCache {
 public:
  /// The folder is opened when the first kernel is asked for.
  explicit KernelCache(CacheSettings settings, FileCalls& calls = system_file_calls(),
                       std::chrono::milliseconds patience = kLockPatience);

  /// The image of that identity, or make(), whose exceptions pass through. Of several threads and
  /// processes that ask for the same, one makes it and the others wait.
  [[nodiscard]] std::string image(const KernelIdentity& identity,
                                  const std::function<std::string()>& make);

  [[nodiscard]] KernelCacheStatistics statistics() const;
  [[nodiscard]] const CacheSettings& settings() const noexcept { return settings_; }

 private:
  [[nodiscard]] std::shared_ptr<std::timed_mutex> flight_of(const std::string& identity);
  [[nodiscard]] const CacheFolder* folder();
  [[nodiscard]] bool changes_folder() const noexcept {
    return settings_.mode != CacheMode::read_only;
  }
  [[nodiscard]] std::optional<std::string> find_in_memory(const std::string& identity);
  [[nodiscard]] CacheLookup find(const CacheFolder& folder, const std::string& identity);
  [[nodiscard]] std::string make_alone(const CacheFolder& folder, const std::string& identity,
                                       CacheMiss miss, const std::function<std::string()>& make);
  void remember(const std::string& identity, const std::string& image);
  void store(const CacheFolder& folder, const std::string& identity, const std::string& image);
  void sweep_sometimes(const CacheFolder& folder, std::uint64_t bytes);
  void count(std::uint64_t KernelCacheStatistics::* what);
  void count(CacheMiss miss);

  const CacheSettings settings_;
  FileCalls& calls_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;  ///< of what follows; never held during a call to the system
  std::once_flag opened_;
  std::unique_ptr<const CacheFolder> folder_;
  bool full_ = false;  ///< the folder takes nothing more; it is not asked again
  KernelCacheStatistics statistics_;
  std::map<CacheKey, std::weak_ptr<std::timed_mutex>> flights_;
  std::map<std::string, std::string> memory_;  ///< images by identity, of what is in no folder
  std::uint64_t memory_bytes_ = 0;
  std::set<std::string> refreshed_;
  std::optional<std::uint64_t> since_sweep_;  ///< bytes stored; nothing before the first sweep
};

/// `compile` through a cache. `compiler` says what it is that compiles for an architecture; it is
/// asked each time, so that a compiler is not loaded before it is wanted.
using IdentifyCompiler = std::function<CompilerIdentity(const std::string& architecture)>;
[[nodiscard]] CompileKernel cached(CompileKernel compile, std::shared_ptr<KernelCache> cache,
                                   IdentifyCompiler compiler);

/// The one of this process, as the environment wants it. Throws Error on values that are none.
[[nodiscard]] std::shared_ptr<KernelCache> process_kernel_cache();

}  // namespace halftone
