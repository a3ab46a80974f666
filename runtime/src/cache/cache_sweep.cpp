// SPDX-License-Identifier: Apache-2.0
// What concerns all of a folder: its limit, what dead processes left, what a user asks of the tool.
#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "cache_folder.hpp"
#include "cache_names.hpp"

namespace halftone {
namespace {

using Time = std::chrono::system_clock::time_point;

Time changed_at(const struct stat& status) {
  const auto since = std::chrono::seconds(status.st_mtim.tv_sec) +
                     std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return Time(std::chrono::duration_cast<Time::duration>(since));
}

/// Of the future too, as where a clock was set back: no writer takes that long.
bool abandoned(Time changed, Time now) {
  return changed < now - kRemainsAge || changed > now + kRemainsAge;
}

}  // namespace

struct CacheFolder::Listed {
  std::string name;
  CacheName kind;
  Time changed;
  std::uint64_t bytes;
};

std::vector<CacheFolder::Listed> CacheFolder::listed() const {
  std::vector<std::string> names;
  std::vector<Listed> files;
  if (calls_.list(folder_, names) == -1) return files;
  for (std::string& name : names) {
    const CacheName kind = kind_of(name);
    struct stat status{};
    if (calls_.status_at(folder_, name.c_str(), status) == -1) continue;  // gone meanwhile
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    files.push_back({std::move(name), kind, changed_at(status), bytes});
  }
  std::ranges::sort(files, {},
                    [](const Listed& file) { return std::tie(file.changed, file.name); });
  return files;
}

template <class Unwanted>
CacheSurvey CacheFolder::take_away(const std::vector<Listed>& files, Unwanted unwanted) const {
  CacheSurvey survey;
  for (const Listed& file : files) {
    const bool entry = file.kind == CacheName::entry;
    const bool ours = file.kind != CacheName::foreign;
    const bool wanted = !ours || !unwanted(file);
    const bool gone =
        !wanted && (calls_.unlink_at(folder_, file.name.c_str()) == 0 || errno == ENOENT);
    if (!wanted && !gone && survey.refused++ == 0) {
      survey.failure = errno;
      survey.kept = file.name;
    }
    if (gone) {
      ++(entry ? survey.evicted : survey.reaped);
    } else if (entry) {
      ++survey.entries;
      survey.bytes += file.bytes;
    } else {
      ++(ours ? survey.remains : survey.foreign);
    }
  }
  return survey;
}

CacheSurvey CacheFolder::sweep(std::uint64_t most_bytes) const {
  const std::vector<Listed> files = listed();
  std::uint64_t left = 0;
  for (const Listed& file : files) left += file.kind == CacheName::entry ? file.bytes : 0;
  const std::uint64_t aim = left > most_bytes ? most_bytes - most_bytes / 8 : left;
  return take_away(files, [&, now = calls_.now()](const Listed& file) {
    if (file.kind == CacheName::remains) return abandoned(file.changed, now);
    if (left <= aim) return false;
    left -= file.bytes;
    return true;
  });
}

CacheSurvey CacheFolder::survey() const {
  return take_away(listed(), [](const Listed&) { return false; });
}

CacheSurvey CacheFolder::clear() const {
  return take_away(listed(), [](const Listed&) { return true; });
}

std::vector<std::string> CacheFolder::damaged_entries() const {
  std::vector<std::string> damaged;
  for (const Listed& file : listed()) {
    if (file.kind != CacheName::entry) continue;
    std::string bytes;
    const auto miss = read(file.name, bytes, false);
    const DecodedEntry entry = decode_entry(miss ? std::string_view() : bytes);
    const bool newer = entry.state == EntryState::other_format;
    const bool sound = entry.state == EntryState::sound && entry_name(entry.key) == file.name;
    if (!newer && !sound && miss != CacheMiss::absent) damaged.push_back(file.name);
  }
  std::ranges::sort(damaged);
  return damaged;
}

}  // namespace halftone
