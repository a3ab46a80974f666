// SPDX-License-Identifier: Apache-2.0
#include "checked_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "shared_library.hpp"

namespace halftone {
namespace {

constexpr int kMode = RTLD_NOW | RTLD_LOCAL;

struct Library {
  Library() = default;
  ~Library() {
    if (handle) dlclose(handle);
    if (copy >= 0) ::close(copy);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* handle = nullptr;
  std::string name = {};  ///< that the loader knows it by
  int copy = -1;          ///< stays open, so that the name is nothing else's and debuggers find it
};
using OwnedLibrary = std::unique_ptr<Library>;  // null: refused

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

/// The last holder is gone. What the loader keeps is known further on; without memory for that, the
/// next one that wants it gets a copy.
void close(OwnedLibrary library, const Key& key) noexcept {
  Process& process = Process::instance();
  const std::lock_guard lock(process.mutex);
  dlclose(library->handle);
  void* left = find_loaded(library->name);
  if (left && left == library->handle) {
    try {
      process.lasting.reserve(process.lasting.size() + 1);
      process.lasting.emplace_back(std::move(library));
      process.known[key] = process.lasting.back();
    } catch (const std::bad_alloc&) {
    }
    return;
  }
  if (left) dlclose(left);
  library->handle = nullptr;
  library.reset();
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

OwnedLibrary open_copy(const CheckedFile& file, const std::string& path, LoadRefusal& refusal) {
  auto library = std::make_unique<Library>();
  library->copy = copy_of(file, path, refusal);
  if (library->copy < 0) return nullptr;
  library->name = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(library->copy);
  library->handle = open_library(library->name, kMode, refusal.cause);
  if (library->handle) return library;
  if (refusal.cause.empty()) {
    refusal = {
        .cause = "another version of it has its name, and '" + library->name + "' is not there",
        .hint = "mount /proc, or give the file another name"};
  }
  return nullptr;
}

OwnedLibrary open(const CheckedFile& file, const std::string& path, LoadRefusal& refusal) {
  if (void* other = find_loaded(path)) {
    dlclose(other);
    return open_copy(file, path, refusal);
  }
  auto library = std::make_unique<Library>();
  library->name = path;
  library->handle = open_library(path, kMode, refusal.cause);
  if (FileVersion(path) == file.version) return library->handle ? std::move(library) : nullptr;
  library.reset();
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
    OwnedLibrary opened = open(file, path, refusal);
    if (!opened) return nullptr;
    std::weak_ptr<Library>& known = process.known[key];
    // A copy that is not const, so that it can be moved without another one.
    auto close_last = [key = Key(key)](Library* last) { close(OwnedLibrary(last), key); };
    library = {opened.release(), std::move(close_last)};
    known = library;
  }
  return {library, library->handle};
}

}  // namespace halftone
