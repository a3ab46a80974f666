// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "../settings.hpp"
#include "../stopping.hpp"
#include "cache_lock.hpp"
#include "halftone/manifest/version.hpp"

namespace halftone {
namespace {

/// For somebody who compiles the same; then it is asked whether the answer is still wanted.
constexpr std::chrono::milliseconds kLongestWait{32};

/// Of the limit: so much may be stored before the folder is looked through again.
constexpr std::uint64_t kSweepPart = 16;

/// Whether the next kernel would fare no better.
bool lasts(int failure) {
  return failure == ENOSPC || failure == EDQUOT || failure == EROFS || failure == EACCES ||
         failure == EPERM;
}

std::string why_not_stored(const std::string& folder, int failure) {
  return "the folder '" + folder + "' took no kernel (" + std::generic_category().message(failure) +
         "); make room or mend it, or name another folder in HALFTONE_CACHE_DIR";
}

/// Whether an entry stands where it was looked for, and is none of ours.
bool is_unbelievable(CacheMiss miss) {
  switch (miss) {
    case CacheMiss::not_ours:
    case CacheMiss::damaged:
    case CacheMiss::other_format:
    case CacheMiss::other_kernel:
      return true;
    default:
      return false;
  }
}

}  // namespace

KernelCache::KernelCache(CacheSettings settings, FileCalls& calls,
                         std::chrono::milliseconds patience)
    : settings_(std::move(settings)), calls_(calls), patience_(patience) {
  if (settings_.mode == CacheMode::off) {
    statistics_.reason = "HALFTONE_CACHE is off; unset it to keep kernels";
  } else {
    statistics_.folder = settings_.folder;
  }
}

std::string KernelCache::image(const KernelIdentity& identity,
                               const std::function<std::string()>& make) {
  if (settings_.mode == CacheMode::off) {
    count(CacheMiss::off);
    return make();
  }
  const std::string bytes = encode_identity(identity);
  const auto flight = flight_of(bytes);
  std::unique_lock alone(*flight, std::defer_lock);
  while (!alone.try_lock_for(kLongestWait)) {
    if (MayStop::of_thread().stop_requested()) return make();  // which gives up
  }
  if (auto image = find_in_memory(bytes)) return *std::move(image);
  const CacheFolder* folder = this->folder();
  if (!folder) {
    count(CacheMiss::no_folder);
    std::string image = make();
    remember(bytes, image);
    return image;
  }
  CacheLookup lookup = find(*folder, bytes);
  if (lookup.found) return std::move(lookup.image);
  if (changes_folder()) return make_alone(*folder, bytes, lookup.miss, make);
  count(lookup.miss);
  std::string image = make();
  remember(bytes, image);
  return image;
}

/// The mutex of one identity; it lives while somebody holds it.
std::shared_ptr<std::timed_mutex> KernelCache::flight_of(const std::string& identity) {
  const CacheKey key = key_of(identity);
  const std::lock_guard lock(mutex_);
  std::weak_ptr<std::timed_mutex>& known = flights_[key];
  auto flight = known.lock();
  if (!flight) known = flight = std::make_shared<std::timed_mutex>();
  return flight;
}

/// Null where there is none.
const CacheFolder* KernelCache::folder() {
  std::call_once(opened_, [&] {
    std::string reason = settings_.without_folder;
    std::unique_ptr<const CacheFolder> opened;
    if (!settings_.folder.empty()) {
      opened = CacheFolder::open(calls_, settings_.folder, changes_folder(), reason);
    }
    const std::lock_guard lock(mutex_);
    folder_ = std::move(opened);
    if (folder_) return;
    statistics_.folder.clear();
    statistics_.reason = "kernels are kept in memory alone, since " + reason;
  });
  return folder_.get();
}

std::optional<std::string> KernelCache::find_in_memory(const std::string& identity) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(identity);
  if (found == memory_.end()) return std::nullopt;
  ++statistics_.memory_hits;
  return found->second;
}

void KernelCache::remember(const std::string& identity, const std::string& image) {
  const std::lock_guard lock(mutex_);
  if (memory_bytes_ + image.size() > settings_.most_bytes) {  // as a folder would be limited
    memory_.clear();
    memory_bytes_ = 0;
  }
  if (memory_.emplace(identity, image).second) memory_bytes_ += image.size();
}

/// A hit is counted, a miss is not. What cannot be believed is taken away.
CacheLookup KernelCache::find(const CacheFolder& folder, const std::string& identity) {
  if (settings_.mode == CacheMode::refresh) {
    const std::lock_guard lock(mutex_);
    if (refreshed_.insert(identity).second) return {false, CacheMiss::refreshed, {}};
  }
  CacheLookup lookup = folder.find(identity, changes_folder());
  if (lookup.found) {
    count(&KernelCacheStatistics::hits);
  } else if (changes_folder() && is_unbelievable(lookup.miss) && folder.remove(identity)) {
    count(&KernelCacheStatistics::removed);
  }
  return lookup;
}

std::string KernelCache::make_alone(const CacheFolder& folder, const std::string& identity,
                                    CacheMiss miss, const std::function<std::string()>& make) {
  const CacheLock lock(folder, identity, patience_);
  if (lock.state() == CacheLock::State::timed_out) count(&KernelCacheStatistics::lock_timeouts);
  if (miss != CacheMiss::refreshed) {  // another process may have stored it meanwhile
    CacheLookup lookup = find(folder, identity);
    if (lookup.found) return std::move(lookup.image);
  }
  count(miss);
  std::string image = make();
  store(folder, identity, image);
  return image;
}

void KernelCache::store(const CacheFolder& folder, const std::string& identity,
                        const std::string& image) {
  const std::uint64_t bytes = identity.size() + image.size();
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    full = full_;
  }
  // What is larger than the limit would be evicted at once.
  const int failure = full                           ? ENOSPC
                      : bytes > settings_.most_bytes ? EFBIG
                                                     : folder.store(identity, image);
  if (failure == 0) {
    count(&KernelCacheStatistics::stored);
    sweep_sometimes(folder, bytes);
    return;
  }
  remember(identity, image);
  const std::lock_guard lock(mutex_);
  ++statistics_.not_stored;
  full_ = full_ || lasts(failure);
  if (!statistics_.reason.empty()) return;
  statistics_.reason = failure == EFBIG && bytes > settings_.most_bytes
                           ? "HALFTONE_CACHE_MAX is less than the " + std::to_string(bytes) +
                                 " bytes of a kernel; give more"
                           : why_not_stored(folder.path(), failure);
}

void KernelCache::sweep_sometimes(const CacheFolder& folder, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (since_sweep_) {
      *since_sweep_ += bytes;
      if (*since_sweep_ < settings_.most_bytes / kSweepPart) return;
    }
    since_sweep_ = 0;
  }
  const CacheSurvey survey = folder.sweep(settings_.most_bytes);
  const std::lock_guard lock(mutex_);
  statistics_.evicted += survey.evicted;
  statistics_.reaped += survey.reaped;
}

void KernelCache::count(std::uint64_t KernelCacheStatistics::* what) {
  const std::lock_guard lock(mutex_);
  ++(statistics_.*what);
}

void KernelCache::count(CacheMiss miss) {
  const std::lock_guard lock(mutex_);
  ++statistics_.misses[static_cast<std::size_t>(miss)];
}

KernelCacheStatistics KernelCache::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

CompileKernel cached(CompileKernel compile, std::shared_ptr<KernelCache> cache,
                     IdentifyCompiler compiler) {
  return [compile = std::move(compile), cache = std::move(cache), compiler = std::move(compiler)](
             const std::string& text, const std::string& name, const std::string& architecture) {
    const KernelIdentity identity{kVersionOfHalftone, text, name, architecture,
                                  compiler(architecture)};
    return cache->image(identity, [&] { return compile(text, name, architecture); });
  };
}

std::shared_ptr<KernelCache> process_kernel_cache() {
  static std::mutex mutex;
  static std::shared_ptr<KernelCache> cache;
  CacheSettings settings = cache_settings(cache_environment());
  const std::lock_guard lock(mutex);
  if (!cache || cache->settings() != settings) {
    cache = std::make_shared<KernelCache>(std::move(settings));
  }
  return cache;
}

}  // namespace halftone
