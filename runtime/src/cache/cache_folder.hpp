// SPDX-License-Identifier: Apache-2.0
// The folder that entries lie in, shared with other processes and trusted with nothing: every name
// is opened below it without following links, and every entry is judged before it is believed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache_entry.hpp"
#include "../files/file_calls.hpp"
#include "halftone/kernel_cache.hpp"

namespace halftone {

/// Remains older than this belong to no living writer.
inline constexpr std::chrono::hours kRemainsAge{1};

struct CacheLookup {
  bool found = false;
  CacheMiss miss = CacheMiss::absent;  ///< where it was not found
  std::string image;
};

/// What lies in a folder, and what was taken out of it.
struct CacheSurvey {
  std::uint64_t entries = 0, bytes = 0;  ///< left in the folder
  std::uint64_t remains = 0;             ///< temporary and lock files left
  std::uint64_t foreign = 0;             ///< names that are not the cache's; never touched
  std::uint64_t evicted = 0, reaped = 0;
  std::uint64_t refused = 0;  ///< that should have gone, and that the system did not remove
  int failure = 0;            ///< the errno of the first of them
  std::string kept;           ///< its name
};

/// May be used from any thread.
class CacheFolder {
 public:
  /// Null with a sentence in `reason` where there is no folder (with `make`: and none could be
  /// made), or where others could write to it. `path` has no slash at its end.
  [[nodiscard]] static std::unique_ptr<CacheFolder> open(FileCalls& calls, const std::string& path,
                                                         bool make, std::string& reason);
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  /// Marks what it finds as used where `touch` is set.
  [[nodiscard]] CacheLookup find(std::string_view identity, bool touch) const;

  /// Writes the entry beside its place and puts it there in one step. 0, or the errno of what
  /// failed; then nothing of it remains.
  [[nodiscard]] int store(std::string_view identity, std::string_view image) const;

  /// Takes away what lies at the entry's place, unless that is a folder. False when it could not.
  bool remove(std::string_view identity) const;

  /// Reaps old remains; when entries take more than `most_bytes`, evicts those that were used
  /// longest ago until an eighth of that is free. Takes away nothing that it did not write.
  CacheSurvey sweep(std::uint64_t most_bytes) const;

  /// Counts, and changes nothing.
  [[nodiscard]] CacheSurvey survey() const;

  /// Takes away every entry and all remains.
  CacheSurvey clear() const;

  /// The names of entries that are not sound, sorted.
  [[nodiscard]] std::vector<std::string> damaged_entries() const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend class CacheLock;
  struct Listed;
  CacheFolder(FileCalls& calls, std::string path, int folder)
      : calls_(calls), path_(std::move(path)), folder_(folder) {}
  /// The bytes of what may be an entry; nothing went wrong where nothing is returned.
  [[nodiscard]] std::optional<CacheMiss> read(const std::string& name, std::string& bytes,
                                              bool touch) const;
  /// 0 or an errno; then a part of the file may be there.
  [[nodiscard]] int write_file(const std::string& name, std::string_view bytes) const;

  /// Longest unused first.
  [[nodiscard]] std::vector<Listed> listed() const;
  /// What is left of `files` when all that is ours and unwanted(file) is gone.
  template <class Unwanted>
  CacheSurvey take_away(const std::vector<Listed>& files, Unwanted unwanted) const;

  FileCalls& calls_;
  std::string path_;
  int folder_;
};

}  // namespace halftone
