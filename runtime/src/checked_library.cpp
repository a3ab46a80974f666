// SPDX-License-Identifier: Apache-2.0
#include "checked_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "shared_library.hpp"

namespace halftone {
namespace {

constexpr int kMode = RTLD_NOW | RTLD_LOCAL;

struct Library {
  void* handle = nullptr;
  std::string name = {};  ///< that the loader knows it by
  int copy = -1;          ///< stays open, so that the name is nothing else's and debuggers find it
};

using Key = std::pair<std::string, std::string>;  // path, digest

/// What the process has of checked libraries. Never destroyed, since artifacts in static storage
/// may outlive it.
struct Process {
  static Process& instance() {
    static Process& process = *new Process;
    return process;
  }

  std::recursive_mutex mutex;  ///< recursive, since objects may load others while they come and go
  std::map<Key, std::weak_ptr<Library>> known;
  std::vector<std::shared_ptr<Library>> lasting;  ///< what the loader did not unload
};

/// Null where the loader has nothing by that name, and no file that lies there by another.
void* find_loaded(const std::string& name) { return dlopen(name.c_str(), kMode | RTLD_NOLOAD); }

/// The last holder is gone.
void close(Library* library, const Key& key) {
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  dlclose(library->handle);
  if (void* left = find_loaded(library->name)) {
    if (left == library->handle) {
      process.lasting.emplace_back(library);
      process.known[key] = process.lasting.back();
      return;
    }
    dlclose(left);
  }
  if (library->copy >= 0) ::close(library->copy);
  delete library;
  if (const auto found = process.known.find(key);
      found != process.known.end() && found->second.expired()) {
    process.known.erase(found);
  }
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// A file of memory, -1 where there is none.
int copy_of(const CheckedFile& file, const std::string& path, LoadRefusal& refusal) {
  constexpr std::size_t kLongestName = 249;
  const std::string name = path.substr(path.size() - std::min(path.size(), kLongestName));
  const int copy = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (copy >= 0 && write_all(copy, file.bytes)) return copy;
  refusal = {.cause = "another version of it has its name, and no copy can be made in memory: " +
                      std::generic_category().message(errno),
             .hint = "give the file another name, or load it in a new process"};
  if (copy >= 0) ::close(copy);
  return -1;
}

Library open_copy(const CheckedFile& file, const std::string& path, LoadRefusal& refusal) {
  const int copy = copy_of(file, path, refusal);
  if (copy < 0) return {};
  const std::string name = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(copy);
  void* library = open_library(name, kMode, refusal.cause);
  if (library) return {library, name, copy};
  if (refusal.cause.empty()) {
    refusal = {.cause = "another version of it has its name, and '" + name + "' is not there",
               .hint = "mount /proc, or give the file another name"};
  }
  ::close(copy);
  return {};
}

Library open(const CheckedFile& file, const std::string& path, LoadRefusal& refusal) {
  if (void* other = find_loaded(path)) {
    dlclose(other);
    return open_copy(file, path, refusal);
  }
  void* library = open_library(path, kMode, refusal.cause);
  if (FileVersion(path) == file.version) return {library, path};
  if (library) dlclose(library);
  return open_copy(file, path, refusal);
}

}  // namespace

FileVersion::FileVersion(const std::filesystem::path& path) noexcept {
  if (stat(path.c_str(), &of_) != 0) of_ = {};
}

bool operator==(const FileVersion& a, const FileVersion& b) noexcept {
  const auto same = [](const timespec& x, const timespec& y) {
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
  };
  return a.of_.st_dev == b.of_.st_dev && a.of_.st_ino == b.of_.st_ino &&
         a.of_.st_size == b.of_.st_size && same(a.of_.st_mtim, b.of_.st_mtim) &&
         same(a.of_.st_ctim, b.of_.st_ctim);
}

std::shared_ptr<void> open_checked(const CheckedFile& file, LoadRefusal& refusal) {
  // Absolute, since dlopen searches the library path for a name without a slash.
  const std::string path = std::filesystem::absolute(file.path);
  std::error_code ignored;
  const Key key{std::filesystem::weakly_canonical(path, ignored), file.digest};
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  const auto found = process.known.find(key);
  std::shared_ptr<Library> library = found == process.known.end() ? nullptr : found->second.lock();
  if (!library) {
    Library opened = open(file, path, refusal);
    if (!opened.handle) return nullptr;
    library = {new Library(std::move(opened)), [key](Library* last) { close(last, key); }};
    process.known[key] = library;
  }
  return {library, library->handle};
}

}  // namespace halftone
