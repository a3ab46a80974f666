// SPDX-License-Identifier: Apache-2.0
// Folders and entries that an enemy or an accident left. The user gets the right kernel each time;
// nothing outside is touched; nothing hangs.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <functional>
#include <vector>

#include "../files/faulty_calls.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

/// Says that this process is somebody else: what it finds belongs to another user.
class Stranger final : public FileCalls {
  uid_t user() override { return FileCalls::user() + 1; }
};

/// Says that entries belong to another user, as only root could make them.
class StrangeEntries final : public FileCalls {
  int status(int file, struct stat& status) override {
    const int result = FileCalls::status(file, status);
    if (S_ISREG(status.st_mode)) ++status.st_uid;
    return result;
  }
};

KernelCacheStatistics ask_in(const CacheSettings& settings,
                             FileCalls& calls = system_file_calls()) {
  KernelCache cache(settings, calls);
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 1);
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 1);  // stored, or kept in memory
  return cache.statistics();
}

void make_socket(const std::string& path) {
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  CHECK(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  close(file);
}

void make_huge(const std::string& path) {
  write_file(path, entry_of(1));
  fs::resize_file(path, std::uintmax_t{1} << 40);
}

std::string entry_of_later_format() {
  std::string bytes = entry_of(1);
  bytes[8] = 2;
  return bytes;
}

}  // namespace

TEST_CASE("a folder that others could write to is refused with its reason") {
  struct Case {
    const char* what;
    std::function<void(const std::string& folder)> prepare;
    const char* reason;
  };
  const auto folder_with = [](mode_t mode) {
    return [mode](const std::string& folder) {
      fs::create_directory(folder);
      REQUIRE(chmod(folder.c_str(), mode) == 0);
    };
  };
  const Case cases[] = {
      {"writable by all", folder_with(0777), "may be written to by others; run chmod go-w on it"},
      {"writable by all, sticky", folder_with(01777), "may be written to by others"},
      {"writable by its group", folder_with(0770), "may be written to by others"},
      {"symbolic link",
       [](const std::string& folder) {
         fs::create_directory(folder + ".target");
         fs::permissions(folder + ".target", fs::perms(0700));
         fs::create_directory_symlink(folder + ".target", folder);
       },
       "is a symbolic link or no folder"},
      {"link to nothing",
       [](const std::string& folder) { fs::create_symlink(folder + ".target", folder); },
       "is a symbolic link or no folder"},
      {"file", [](const std::string& folder) { write_file(folder, "file"); },
       "is a symbolic link or no folder"},
      {"fifo", [](const std::string& folder) { CHECK(mkfifo(folder.c_str(), 0600) == 0); },
       "is a symbolic link or no folder"},
  };
  int tried = 0, survived = 0;
  for (const Case& each : cases) {
    CAPTURE(each.what);
    ++tried;
    const ScratchFolder scratch;
    each.prepare(scratch / "cache");
    const KernelCacheStatistics statistics = ask_in(settings_for(scratch / "cache"));
    CAPTURE(statistics.reason);
    CHECK(statistics.reason.starts_with("kernels are kept in memory alone, since the folder '" +
                                        (scratch / "cache") + "' " + each.reason));
    CHECK(statistics.folder.empty());
    CHECK(statistics.missed(CacheMiss::no_folder) == 1);
    CHECK(statistics.memory_hits == 1);
    const bool untouched =
        !fs::exists(scratch / "cache.target") || fs::is_empty(scratch / "cache.target");
    CHECK(untouched);
    survived += untouched && statistics.memory_hits == 1;
  }
  CHECK(survived == tried);
  MESSAGE("folders open to others tried " << tried << ", survived " << survived);
}

TEST_CASE("where there is no folder of this user's own, memory serves") {
  const ScratchFolder scratch;
  Stranger stranger;
  struct Case {
    CacheSettings settings;
    FileCalls& calls;
    std::string reason;
  };
  std::vector<Case> cases = {
      {settings_for(scratch.path()), stranger,
       "the folder '" + scratch.path() +
           "' belongs to another user; name another folder in HALFTONE_CACHE_DIR"},
      {settings_for("/proc/halftone/cache"), system_file_calls(),
       "the folder '/proc/halftone/cache' cannot be made (No such file or directory); name another "
       "folder in HALFTONE_CACHE_DIR"},
      {settings_for("/dev/null/cache"), system_file_calls(),
       "the folder '/dev/null/cache' is a symbolic link or no folder; name another folder in "
       "HALFTONE_CACHE_DIR"},
      {cache_settings({}), system_file_calls(),
       "neither HALFTONE_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set one of them"},
  };
  const std::string given = scratch / "given";
  if (geteuid() == 0) {  // who else could give folders away
    fs::create_directory(given);
    REQUIRE(chown(given.c_str(), 12345, 12345) == 0);
    cases.push_back({settings_for(given), system_file_calls(),
                     "the folder '" + given +
                         "' belongs to another user; name another folder in HALFTONE_CACHE_DIR"});
  }
  std::size_t survived = 0;
  for (const Case& each : cases) {
    CAPTURE(each.settings.folder);
    const KernelCacheStatistics statistics = ask_in(each.settings, each.calls);
    CHECK(statistics.reason == "kernels are kept in memory alone, since " + each.reason);
    survived += statistics.missed(CacheMiss::no_folder) == 1 && statistics.memory_hits == 1;
  }
  CHECK(survived == cases.size());
  if (fs::exists(given)) CHECK(fs::is_empty(given));
  MESSAGE("folders of others or of nobody tried " << cases.size() << ", survived " << survived);
}

TEST_CASE("no permission, or a file system that is read-only, is a reason and no error") {
  struct Case {
    int failure;
    const char* text;
  };
  for (const Case& each :
       {Case{EACCES, "(Permission denied)"}, Case{EROFS, "(Read-only file system)"}}) {
    CAPTURE(each.text);
    const ScratchFolder scratch;
    FaultyCalls calls;
    calls.fails_at = 1;  // the first is open, which finds nothing; then the folder is made
    calls.failure = each.failure;
    calls.keeps_failing = true;
    const KernelCacheStatistics statistics = ask_in(settings_for(scratch / "cache"), calls);
    CHECK(statistics.reason.find(each.text) != std::string::npos);
    CHECK(statistics.reason.find("cannot be made") != std::string::npos);
  }
}

TEST_CASE("what lies in an entry's place is not believed, followed or waited for") {
  struct Case {
    const char* what;
    std::function<void(const ScratchFolder&, const std::string& entry)> prepare;
    CacheMiss miss;
    bool replaced = true;
  };
  const auto file_with = [](std::string bytes) {
    return [bytes](const ScratchFolder&, const std::string& entry) { write_file(entry, bytes); };
  };
  const Case cases[] = {
      {"link to a sound entry",
       [](const ScratchFolder& scratch, const std::string& entry) {
         write_file(scratch / "victim", entry_of(1));
         fs::create_symlink(scratch / "victim", entry);
       },
       CacheMiss::not_ours},
      {"link to nothing",
       [](const ScratchFolder& scratch, const std::string& entry) {
         fs::create_symlink(scratch / "nothing", entry);
       },
       CacheMiss::not_ours},
      {"link to itself",
       [](const ScratchFolder&, const std::string& entry) { fs::create_symlink(entry, entry); },
       CacheMiss::not_ours},
      {"folder",
       [](const ScratchFolder&, const std::string& entry) {
         fs::create_directories(entry + "/inside");
       },
       CacheMiss::not_ours, false},
      {"fifo",
       [](const ScratchFolder&, const std::string& entry) {
         CHECK(mkfifo(entry.c_str(), 0600) == 0);
       },
       CacheMiss::not_ours},
      {"socket",
       [](const ScratchFolder&, const std::string& entry) {
         const fs::path here = fs::current_path();
         fs::current_path(fs::path(entry).parent_path());  // names of sockets are short
         make_socket(fs::path(entry).filename());
         fs::current_path(here);
       },
       CacheMiss::not_ours},
      {"writable by others",
       [](const ScratchFolder&, const std::string& entry) {
         write_file(entry, entry_of(1));
         CHECK(chmod(entry.c_str(), 0666) == 0);
       },
       CacheMiss::not_ours},
      {"a terabyte", [](const ScratchFolder&, const std::string& entry) { make_huge(entry); },
       CacheMiss::damaged},
      {"no byte", file_with(""), CacheMiss::damaged},
      {"text",
       file_with("not an entry at all, but long enough to be looked at as if it were "
                 "one, since it has more than eighty bytes"),
       CacheMiss::damaged},
      {"zeros", file_with(std::string(4096, '\0')), CacheMiss::damaged},
      {"another kernel's", file_with(entry_of(2)), CacheMiss::other_kernel},
      {"of a later format", file_with(entry_of_later_format()), CacheMiss::other_format},
      {"twice", file_with(entry_of(1) + entry_of(1)), CacheMiss::damaged},
  };
  int tried = 0, survived = 0;
  for (const Case& each : cases) {
    CAPTURE(each.what);
    ++tried;
    const ScratchFolder scratch;
    const std::string entry = scratch / name_of(1);
    each.prepare(scratch, entry);
    const KernelCacheStatistics statistics = ask_in(settings_for(scratch.path()));
    CHECK(statistics.missed(each.miss) == 1);
    CHECK(statistics.missed() == 1);
    CHECK(statistics.removed == (each.replaced ? 1 : 0));
    CHECK(statistics.reason.empty() == each.replaced);
    if (each.replaced) CHECK(bytes_of_file(entry) == entry_of(1));
    if (fs::exists(scratch / "victim")) CHECK(bytes_of_file(scratch / "victim") == entry_of(1));
    CHECK_FALSE(fs::exists(scratch / "nothing"));
    if (!each.replaced) CHECK(fs::exists(entry + "/inside"));
    survived += statistics.missed(each.miss) == 1 && statistics.missed() == 1;
  }
  CHECK(survived == tried);
  MESSAGE("hostile entries tried " << tried << ", survived " << survived);
}

TEST_CASE("an entry of another user is not believed") {
  const ScratchFolder scratch;
  write_file(scratch / name_of(1), entry_of(1));
  StrangeEntries calls;
  KernelCache cache(settings_for(scratch.path()), calls);
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 1);
  CHECK(cache.statistics().missed(CacheMiss::not_ours) == 1);
  if (geteuid() == 0) {
    write_file(scratch / name_of(2), entry_of(2));
    REQUIRE(chown((scratch / name_of(2)).c_str(), 12345, 12345) == 0);
    KernelCache real(settings_for(scratch.path()));
    CHECK(ask(real, 2, made) == image_of(2));
    CHECK(real.statistics().missed(CacheMiss::not_ours) == 1);
  }
}

TEST_CASE("a lock that is no file keeps nobody from compiling") {
  const std::function<void(const ScratchFolder&, const std::string&)> prepares[] = {
      [](const ScratchFolder& scratch, const std::string& lock) {
        fs::create_symlink(scratch / "nothing", lock);
      },
      [](const ScratchFolder&, const std::string& lock) { fs::create_directory(lock); },
      [](const ScratchFolder&, const std::string& lock) { CHECK(mkfifo(lock.c_str(), 0600) == 0); },
  };
  for (const auto& prepare : prepares) {
    const ScratchFolder scratch;
    prepare(scratch, scratch / lock_name_of(1));
    const KernelCacheStatistics statistics = ask_in(settings_for(scratch.path()));
    CHECK(statistics.stored == 1);
    CHECK(statistics.reason.empty());
    CHECK_FALSE(fs::exists(scratch / "nothing"));
  }
}

TEST_CASE("a folder that goes away while it is in use is a reason and no error") {
  const ScratchFolder scratch;
  KernelCache cache(settings_for(scratch / "cache"));
  int made = 0;
  CHECK(ask(cache, 1, made) == image_of(1));
  fs::remove_all(scratch / "cache");
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(ask(cache, 1, made) == image_of(1));
  CHECK(made == 2);
  CHECK(cache.statistics().reason.find("took no kernel") != std::string::npos);
}

}  // namespace halftone::tests
