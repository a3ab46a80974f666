// SPDX-License-Identifier: Apache-2.0
// halftone cache, as its user runs it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>

#include "../../tool/run_tool.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"
#include "variable.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

Outcome cache(const std::string& arguments) { return run_tool("cache " + arguments); }

/// Three kernels, the first used longest ago, what a dead process left, and somebody's notes.
void fill(const ScratchFolder& scratch) {
  const auto now = fs::file_time_type::clock::now();
  for (int k = 1; k <= 3; ++k) {
    write_file(scratch / name_of(k), entry_of(k));
    fs::last_write_time(scratch / name_of(k), now - std::chrono::minutes(10 - k));
  }
  write_file(scratch / lock_name_of(1), "");
  fs::last_write_time(scratch / lock_name_of(1), now - std::chrono::hours(2));
  write_file(scratch / "notes.txt", "mine");
}

}  // namespace

TEST_CASE("stats says what a folder holds and changes nothing") {
  const ScratchFolder scratch;
  fill(scratch);
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = cache("stats '" + scratch.path() + "'");
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    CHECK(outcome.output ==
          scratch.path() + ": 3 kernels of " + std::to_string(3 * entry_of(1).size()) +
              " bytes, limit 1073741824 bytes\n"
              "1 file of processes that write or died while they did; prune takes old ones away\n"
              "1 name is not the cache's, and left alone\n");
  }
}

TEST_CASE("an empty folder name is refused, whatever is asked") {
  const ScratchFolder scratch;
  fill(scratch);
  const Variable folder("HALFTONE_CACHE_DIR", scratch.path());
  for (const char* task : {"stats", "verify", "prune", "clear"}) {
    const Outcome outcome = cache(std::string(task) + " ''");
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find("it is empty; give a name, or leave it out") != std::string::npos);
  }
  CHECK(fs::exists(scratch / name_of(1)));
}

TEST_CASE("where the environment says that the cache is read only, nothing is taken away") {
  const ScratchFolder scratch;
  fill(scratch);
  const Variable mode("HALFTONE_CACHE", "ro"), limit("HALFTONE_CACHE_MAX", "1");
  const auto names = [&] {
    return std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator());
  };
  const auto before = names();
  for (const std::string task : {"prune", "clear"}) {
    CAPTURE(task);
    const Outcome named = cache(task + " '" + scratch.path() + "'");
    const Variable folder("HALFTONE_CACHE_DIR", scratch.path());
    const Outcome own = cache(task);
    for (const Outcome& outcome : {named, own}) {
      CHECK(outcome.status == 2);
      CHECK(outcome.output.empty());
      CHECK(outcome.errors == "halftone: " + scratch.path() +
                                  ": nothing was taken away, since HALFTONE_CACHE is ro; unset it "
                                  "to " +
                                  task + "\n");
    }
  }
  for (const std::string task : {"stats", "verify"}) {
    CHECK(cache(task + " '" + scratch.path() + "'").status == 0);
  }
  CHECK(names() == before);
  CHECK(fs::last_write_time(scratch / name_of(1)) <
        fs::file_time_type::clock::now() - std::chrono::minutes(5));
}

TEST_CASE("what could not be taken away is an error") {
  const ScratchFolder scratch;
  fill(scratch);
  fs::remove(scratch / name_of(2));
  fs::create_directory(scratch / name_of(2));  // a folder under an entry's name is not unlinked
  const Outcome outcome = cache("clear '" + scratch.path() + "'");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors == "halftone: " + scratch.path() + ": 1 file could not be taken away ('" +
                              name_of(2) +
                              "': Is a directory), 3 were; remove it by hand, or mend the folder's "
                              "permissions\n");
  fs::create_directory(scratch / name_of(3));
  for (const int k : {2, 3})
    fs::last_write_time(scratch / name_of(k),
                        fs::file_time_type::clock::now() - std::chrono::hours(k));
  CHECK(cache("clear '" + scratch.path() + "'").errors ==
        "halftone: " + scratch.path() + ": 2 files could not be taken away (the first, '" +
            name_of(3) +
            "': Is a directory), 0 were; remove them by hand, or mend the folder's permissions\n");
}

TEST_CASE("devices says where kernels are kept, or why they are not, as a program would find it") {
  const ScratchFolder scratch;
  const Variable mode("HALFTONE_CACHE", "rw");
  for (const char* name : {"sound", "open"}) fs::create_directory(scratch / name);
  REQUIRE(chmod((scratch / "sound").c_str(), 0700) == 0);
  REQUIRE(chmod((scratch / "open").c_str(), 0777) == 0);
  fs::create_symlink(scratch / "sound", scratch / "link");
  const std::string limit = ", limit 1073741824 bytes\n", none = "none: the folder '";
  const struct {
    std::string name, begin, end;
  } cases[] = {
      {"sound", "", limit},
      {"absent", "", limit},
      {"open", none,
       "' may be written to by others; run chmod go-w on it, or name another folder in "
       "HALFTONE_CACHE_DIR\n"},
      {"link", none,
       "' is a symbolic link or no folder; name another folder in HALFTONE_CACHE_DIR\n"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.name);
    const Variable folder("HALFTONE_CACHE_DIR", scratch / each.name);
    const Outcome outcome = run_tool("devices");
    CHECK(outcome.status == 0);
    CHECK(outcome.output.ends_with("\ncache     " + each.begin + (scratch / each.name) + each.end));
  }
  CHECK_FALSE(fs::exists(scratch / "absent"));
}

TEST_CASE("devices shows no folder that a program could not make, or not use as it is told to") {
  const ScratchFolder scratch;
  write_file(scratch / "file", "x");
  fs::create_directory(scratch / "sealed");
  fs::create_directory(scratch / "sealed/kept");
  REQUIRE(chmod((scratch / "sealed/kept").c_str(), 0500) == 0);
  REQUIRE(chmod((scratch / "sealed").c_str(), 0500) == 0);
  fs::create_symlink(scratch / "file", scratch / "link_to_file");
  const std::string elsewhere = "; name another folder in HALFTONE_CACHE_DIR\n";
  const auto none = [&](const std::string& name, const std::string& why) {
    return "none: the folder '" + (scratch / name) + "' " + why + elsewhere;
  };
  const std::string limit = ", limit 1073741824 bytes\n";
  const bool is_root = geteuid() == 0;  // whom modes do not stop
  const struct {
    const char* mode;
    std::string name, says;
  } cases[] = {
      {"rw", "a/b/c", (scratch / "a/b/c") + limit},
      {"ro", "a/b/c", none("a/b/c", "cannot be opened (No such file or directory)")},
      {"rw", "link_to_file", none("link_to_file", "is a symbolic link or no folder")},
      {"rw", "file/below", none("file/below", "is a symbolic link or no folder")},
      {"rw", "sealed/new/folder",
       is_root ? (scratch / "sealed/new/folder") + limit
               : none("sealed/new/folder", "cannot be made (Permission denied)")},
      {"rw", "sealed/kept",
       (scratch / "sealed/kept") + (is_root ? "" : ", takes no kernel: Permission denied") + limit},
      {"ro", "sealed/kept", (scratch / "sealed/kept") + ", read only" + limit},
  };
  for (const auto& each : cases) {
    CAPTURE(each.name);
    const Variable mode("HALFTONE_CACHE", each.mode);
    const Variable folder("HALFTONE_CACHE_DIR", scratch / each.name);
    CHECK(run_tool("devices").output.ends_with("\ncache     " + each.says));
    const nlohmann::json json = json_of("devices")["cache"];
    CHECK(json["mode"] == each.mode);
    CHECK(json["folder"] == scratch / each.name);
    CHECK(json["why_none"].is_null() == !each.says.starts_with("none: "));
  }
  fs::permissions(scratch / "sealed", fs::perms(0700));
  CHECK_FALSE(fs::exists(scratch / "a"));
}

TEST_CASE("verify names what is damaged, and ends with 1") {
  const ScratchFolder scratch;
  fill(scratch);
  const std::string total = std::to_string(3 * entry_of(1).size());
  Outcome outcome = cache("verify '" + scratch.path() + "/'");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == scratch.path() + ": 3 kernels of " + total + " bytes, 0 damaged\n");
  std::string bytes = entry_of(2);
  bytes[100] ^= 4;
  write_file(scratch / name_of(2), bytes);
  outcome = cache("verify '" + scratch.path() + "'");
  CHECK(outcome.status == 1);
  CHECK(outcome.errors.empty());
  CHECK(outcome.output == "damaged: " + name_of(2) + "\n" + scratch.path() + ": 3 kernels of " +
                              total +
                              " bytes, 1 damaged; they are never used, and replaced when asked "
                              "for\n");
}

TEST_CASE("prune keeps to the limit, and takes what was used longest ago") {
  const ScratchFolder scratch;
  fill(scratch);
  const Variable limit("HALFTONE_CACHE_MAX", "800");
  const Outcome outcome = cache("prune '" + scratch.path() + "'");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == scratch.path() +
                              ": took away 1 kernel and 1 file of dead processes; left are 2 "
                              "kernels of " +
                              std::to_string(2 * entry_of(1).size()) + " bytes\n");
  CHECK_FALSE(fs::exists(scratch / name_of(1)));
  CHECK(fs::exists(scratch / name_of(3)));
  CHECK(fs::exists(scratch / "notes.txt"));
}

TEST_CASE("clear takes away what is the cache's, and no more") {
  const ScratchFolder scratch;
  fill(scratch);
  const Variable folder("HALFTONE_CACHE_DIR", scratch.path());
  const Outcome outcome = cache("clear");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == scratch.path() + ": took away 3 kernels and 1 other file\n");
  CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1);
  CHECK(bytes_of_file(scratch / "notes.txt") == "mine");
}

TEST_CASE("the folder that programs use need not exist yet") {
  const ScratchFolder scratch;
  const Variable folder("HALFTONE_CACHE_DIR", scratch / "none");
  for (const char* word : {"stats", "verify", "prune", "clear"}) {
    CAPTURE(word);
    const Outcome outcome = cache(word);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == (scratch / "none: no kernels, since there is no folder yet\n"));
    CHECK_FALSE(fs::exists(scratch / "none"));
  }
}

TEST_CASE("what cannot be done is one sentence and ends with 2") {
  const ScratchFolder scratch;
  write_file(scratch / "file", "x");
  fs::create_directory(scratch / "open");
  REQUIRE(chmod((scratch / "open").c_str(), 0777) == 0);
  struct Case {
    std::string arguments, sentence;
  };
  const Case cases[] = {
      {"stats '" + (scratch / "none'"), "halftone: there is no folder '" + (scratch / "none") +
                                            "'; name another, or none for the one that programs "
                                            "use\n"},
      {"clear '" + (scratch / "file'"),
       "halftone: the folder '" + (scratch / "file") +
           "' is a symbolic link or no folder; name another folder in HALFTONE_CACHE_DIR\n"},
      {"verify '" + (scratch / "open'"),
       "halftone: the folder '" + (scratch / "open") +
           "' may be written to by others; run chmod go-w on it, or name another folder in "
           "HALFTONE_CACHE_DIR\n"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.arguments);
    const Outcome outcome = cache(each.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.errors == each.sentence);
  }
  for (const char* bad : {"", "wash", "stats a b", "stats --json", "Stats"}) {
    CAPTURE(bad);
    const Outcome outcome = cache(bad);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK_FALSE(outcome.errors.empty());
  }
  const Variable limit("HALFTONE_CACHE_MAX", "plenty");
  const Outcome outcome = cache("prune '" + scratch.path() + "'");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors ==
        "halftone: settings: HALFTONE_CACHE_MAX is 'plenty'; give a size above 0 such as 512MiB "
        "(KiB, MiB, GiB, or bytes), or unset it\n");
}

TEST_CASE("without any folder in the environment the tool says so") {
  const Outcome outcome = run_tool("--help >/dev/null; env -i '" HALFTONE_TOOL "' cache stats");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors ==
        "halftone: neither HALFTONE_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set one "
        "of them\n");
}

}  // namespace halftone::tests
