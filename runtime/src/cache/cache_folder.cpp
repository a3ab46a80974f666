// SPDX-License-Identifier: Apache-2.0
#include "cache_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "../files/open_file.hpp"
#include "cache_names.hpp"

namespace halftone {
namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kOpenEntry = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kOpenTemporary = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr const char* kElsewhere = "name another folder in HALFTONE_CACHE_DIR";

std::string sentence(const std::string& path, const std::string& cause, const std::string& hint) {
  return "the folder '" + path + "' " + cause + "; " + hint;
}

std::string text_of(int failure) { return std::generic_category().message(failure); }

/// Of this process, never used twice: others have other numbers, and a number that is given again
/// meets another time.
std::string temporary_name(const std::string& name) {
  static std::atomic<std::uint64_t> count = 0;
  const auto time = std::chrono::system_clock::now().time_since_epoch().count();
  return name + "." + std::to_string(::getpid()) + "." + std::to_string(time) + "." +
         std::to_string(count++) + std::string(kTemporarySuffix);
}

CacheMiss miss_of(EntryState state) {
  if (state == EntryState::other_format) return CacheMiss::other_format;
  return state == EntryState::other_identity ? CacheMiss::other_kernel : CacheMiss::damaged;
}

/// The folder and all that it lies in. False with errno where one cannot be made.
bool make_folders(FileCalls& calls, const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1)) {
    const std::string parent = path.substr(0, end);
    // Most exist. Where one cannot be made, the last call fails too, and says why.
    (void)calls.make_folder(parent.c_str(), 0700);
  }
  return calls.make_folder(path.c_str(), 0700) == 0 || errno == EEXIST;
}

/// A sentence, or empty for a folder that this user alone may write to.
std::string fault_of(FileCalls& calls, const std::string& path, int folder) {
  struct stat status {};
  if (calls.status(folder, status) == -1) {
    return sentence(path, "cannot be examined (" + text_of(errno) + ")", kElsewhere);
  }
  if (status.st_uid != calls.user()) {
    return sentence(path, "belongs to another user", kElsewhere);
  }
  if (status.st_mode & kOthersWrite) {
    return sentence(path, "may be written to by others",
                    std::string("run chmod go-w on it, or ") + kElsewhere);
  }
  return {};
}

}  // namespace

std::unique_ptr<CacheFolder> CacheFolder::open(FileCalls& calls, const std::string& path, bool make,
                                               std::string& reason) {
  const auto attempt = [&] {
    return uninterrupted([&] { return calls.open(path.c_str(), kOpenFolder); });
  };
  int folder = attempt();
  if (folder == -1 && errno == ENOENT && make) {
    if (!make_folders(calls, path)) {
      reason = sentence(path, "cannot be made (" + text_of(errno) + ")", kElsewhere);
      return nullptr;
    }
    folder = attempt();
  }
  if (folder == -1) {
    const bool no_folder = errno == ENOTDIR || errno == ELOOP;
    reason = no_folder ? sentence(path, "is a symbolic link or no folder", kElsewhere)
                       : sentence(path, "cannot be opened (" + text_of(errno) + ")", kElsewhere);
    return nullptr;
  }
  std::unique_ptr<CacheFolder> opened;
  try {
    opened.reset(new CacheFolder(calls, path, folder));
  } catch (...) {
    calls.close(folder);
    throw;
  }
  reason = fault_of(calls, path, folder);
  if (!reason.empty()) opened.reset();
  return opened;
}

CacheFolder::~CacheFolder() { calls_.close(folder_); }

CacheLookup CacheFolder::find(std::string_view identity, bool touch) const {
  CacheLookup lookup;
  std::string bytes;
  if (const auto miss = read(entry_name(key_of(identity)), bytes, touch)) {
    lookup.miss = *miss;
    return lookup;
  }
  const DecodedEntry entry = decode_entry(bytes, identity);
  lookup.found = entry.state == EntryState::sound;
  lookup.miss = miss_of(entry.state);
  lookup.image = entry.image;
  return lookup;
}

std::optional<CacheMiss> CacheFolder::read(const std::string& name, std::string& bytes,
                                           bool touch) const {
  const OpenFile file(calls_, folder_, name, kOpenEntry);
  if (!file) {
    if (errno == ENOENT) return CacheMiss::absent;
    return errno == ELOOP || errno == ENXIO ? CacheMiss::not_ours : CacheMiss::unreadable;
  }
  struct stat status {};
  if (calls_.status(file.get(), status) == -1) return CacheMiss::unreadable;
  if (!S_ISREG(status.st_mode) || status.st_uid != calls_.user() ||
      (status.st_mode & kOthersWrite)) {
    return CacheMiss::not_ours;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostEntryBytes) return CacheMiss::damaged;
  bytes.resize(size);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = uninterrupted(
        [&] { return calls_.read(file.get(), bytes.data() + done, bytes.size() - done); });
    if (count == -1) return CacheMiss::unreadable;
    if (count == 0) return CacheMiss::damaged;  // cut short since its size was asked for
    done += static_cast<std::size_t>(count);
  }
  if (touch) calls_.touch(file.get());  // at worst it is evicted too soon
  return std::nullopt;
}

int CacheFolder::store(std::string_view identity, std::string_view image) const {
  const std::string name = entry_name(key_of(identity));
  const std::string bytes = encode_entry(identity, image);
  if (bytes.size() > kMostEntryBytes) return EFBIG;
  const std::string temporary = temporary_name(name);
  int failure = write_file(temporary, bytes);
  if (failure == EEXIST) return failure;  // somebody else's
  if (failure == 0 && calls_.rename_at(folder_, temporary.c_str(), name.c_str()) == -1) {
    failure = errno;
  }
  if (failure != 0) calls_.unlink_at(folder_, temporary.c_str());
  return failure;
}

int CacheFolder::write_file(const std::string& name, std::string_view bytes) const {
  OpenFile file(calls_, folder_, name, kOpenTemporary, 0600);
  if (!file) return errno;
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return calls_.write(file.get(), bytes.data(), bytes.size()); });
    if (count == -1) return errno;
    if (count == 0) return EIO;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (uninterrupted([&] { return calls_.synchronize(file.get()); }) == -1) return errno;
  return file.close() == -1 ? errno : 0;
}

bool CacheFolder::remove(std::string_view identity) const {
  const std::string name = entry_name(key_of(identity));
  return calls_.unlink_at(folder_, name.c_str()) == 0;
}

}  // namespace halftone
