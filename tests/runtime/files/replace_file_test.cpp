// SPDX-License-Identifier: Apache-2.0
// A file that is replaced is at every moment the old one or the new one: processes are killed
// before each call that changes something and in the middle of each write, and every call fails in
// turn.
#include "files/replace_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <array>
#include <set>

#include "faulty_calls.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

namespace halftone::tests {
namespace {

const std::string kOldest(300, 'c'), kOlder(200, 'b'), kOld(100, 'a'), kNew(400, 'n');

/// `count` files of before: F, F.1, F.2.
void prepare(const ScratchFolder& scratch, int count) {
  const std::string* contents[] = {&kOld, &kOlder, &kOldest};
  for (int i = 0; i < count; ++i)
    write_file(scratch / (i == 0 ? "F" : "F." + std::to_string(i)), *contents[i]);
}

void replace(FileCalls& calls, const ScratchFolder& scratch, int keep) {
  const std::string_view all = kNew;
  const std::array parts = {all.substr(0, 150), all.substr(150)};
  replace_file(calls, "save", scratch / "F", parts, keep);
}

std::set<std::string> names(const ScratchFolder& scratch) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    found.insert(entry.path().filename().string());
  return found;
}

std::set<std::string> expected_names(int count) {
  std::set<std::string> names = {"F"};
  for (int i = 1; i < count; ++i) names.insert("F." + std::to_string(i));
  return names;
}

/// After whatever happened a sound process replaces the file, and nothing else is left.
void check_that_next_succeeds(const ScratchFolder& scratch, int keep) {
  FaultyCalls sound;
  replace(sound, scratch, keep);
  CHECK(bytes_of_file(scratch / "F") == kNew);
  std::set<std::string> left = names(scratch);
  for (const std::string& name : expected_names(4)) left.erase(name);
  CHECK(left.empty());
}

/// No earlier content is lost: each of the `count` is there in its own place or the next one.
void check_that_all_are_there(const ScratchFolder& scratch, int count) {
  std::multiset<std::string> contents;
  for (const std::string& name : names(scratch)) contents.insert(bytes_of_file(scratch / name));
  const std::string* old[] = {&kOld, &kOlder, &kOldest};
  for (int i = 0; i < count; ++i) CHECK(contents.contains(*old[i]));
}

bool is_old_or_new(const ScratchFolder& scratch, int count) {
  const std::string bytes = bytes_of_file(scratch / "F");
  return bytes == kNew || (count > 0 ? bytes == kOld : bytes.empty());
}

struct Case {
  int before, keep;
};
constexpr Case kCases[] = {{0, 0}, {1, 0}, {1, 1}, {2, 1}, {3, 3}};

}  // namespace

TEST_CASE("a file is replaced, and as many as wanted of those before are kept") {
  for (const Case& c : kCases) {
    CAPTURE(c.before);
    CAPTURE(c.keep);
    const ScratchFolder scratch;
    prepare(scratch, c.before);
    FaultyCalls calls;
    calls.longest_write = 70;
    replace(calls, scratch, c.keep);
    CHECK(bytes_of_file(scratch / "F") == kNew);
    if (c.keep >= 1 && c.before >= 1) CHECK(bytes_of_file(scratch / "F.1") == kOld);
    if (c.keep >= 2 && c.before >= 2) CHECK(bytes_of_file(scratch / "F.2") == kOlder);
    if (c.keep >= 3 && c.before >= 3) CHECK(bytes_of_file(scratch / "F.3") == kOldest);
    // Written and synchronized before it gets its name, its folder afterwards.
    const std::string& log = calls.log();
    CHECK(log.find('s') < log.rfind('r'));
    CHECK(log.back() == 's');
  }
}

TEST_CASE("a process may be killed at every call, and the file is the old one or the new one") {
  int tried = 0;
  for (const Case& c : kCases) {
    CAPTURE(c.before);
    CAPTURE(c.keep);
    for (const bool late : {false, true}) {
      for (int at = 0; at < 100; ++at) {
        CAPTURE(at);
        const ScratchFolder scratch;
        prepare(scratch, c.before);
        const pid_t child = fork();
        if (child == 0) {
          FaultyCalls calls;
          calls.kills_at = at;
          calls.kills_late = late;
          calls.longest_write = 90;
          replace(calls, scratch, c.keep);
          _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
          CHECK(at > 8);
          break;
        }
        ++tried;
        CHECK(is_old_or_new(scratch, c.before));
        if (c.keep >= c.before) check_that_all_are_there(scratch, c.before);
        check_that_next_succeeds(scratch, c.keep);
      }
    }
  }
  MESSAGE("kill points tried " << tried);
  CHECK(tried > 100);
}

TEST_CASE("every call fails with every error, and the file is the old one or the new one") {
  int tried = 0;
  for (const Case& c : kCases)
    for (const int failure :
         {ENOSPC, EIO, EROFS, EACCES, EDQUOT, EINTR, ENOENT, EMFILE, EWOULDBLOCK})
      for (const bool keeps_failing : {false, true})
        for (int at = 0; at < 100; ++at) {
          CAPTURE(c.before);
          CAPTURE(c.keep);
          CAPTURE(failure);
          CAPTURE(keeps_failing);
          CAPTURE(at);
          const ScratchFolder scratch;
          prepare(scratch, c.before);
          FaultyCalls calls;
          calls.fails_at = at;
          calls.failure = failure;
          calls.keeps_failing = keeps_failing;
          const std::string message = message_of([&] { replace(calls, scratch, c.keep); });
          if (calls.calls() <= at) break;
          ++tried;
          CHECK(is_old_or_new(scratch, c.before));
          if (message == "no error")
            CHECK(bytes_of_file(scratch / "F") == kNew);
          else
            CHECK(message.starts_with("save: file '"));
          if (c.keep >= c.before) check_that_all_are_there(scratch, c.before);
          check_that_next_succeeds(scratch, c.keep);
        }
  MESSAGE("faults tried " << tried);
  CHECK(tried > 500);
}

TEST_CASE("two that save to one file do not meet") {
  const ScratchFolder scratch;
  prepare(scratch, 1);
  const int other = open((scratch / "F.saving").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(flock(other, LOCK_EX | LOCK_NB) == 0);
  FaultyCalls calls;
  CHECK(message_of([&] { replace(calls, scratch, 0); }) ==
        "save: file '" + scratch.path() +
            "/F' is being saved to by another trainer or process; "
            "wait for it, or give each a file of its own");
  CHECK(bytes_of_file(scratch / "F") == kOld);
  close(other);
  check_that_next_succeeds(scratch, 0);
}

TEST_CASE("what is no regular file is neither replaced nor read") {
  const ScratchFolder scratch;
  FaultyCalls calls;
  std::filesystem::create_directory(scratch / "F");
  CHECK(message_of([&] { replace(calls, scratch, 0); }) ==
        "save: file '" + scratch.path() +
            "/F' is there already and is no regular file; name "
            "another one");
  CHECK(message_of([&] { (void)read_file(calls, "resume", scratch / "F"); }) ==
        "resume: file '" + scratch.path() + "/F' is no regular file; name a file");
  CHECK(message_of([&] { (void)read_file(calls, "resume", scratch / "G"); }) ==
        "resume: file '" + scratch.path() +
            "/G' cannot be opened: No such file or directory; "
            "check the path, and make its folder first");
  CHECK(message_of([&] {
          replace_file(calls, "save", scratch / "no/F", {}, 0);
        }).find("its folder cannot be opened: No such file or directory") != std::string::npos);
}

TEST_CASE("the file that a link leads to is replaced, not the link") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "far");
  write_file(scratch / "far/G", kOld);
  std::filesystem::create_symlink("far/G", scratch / "F");
  FaultyCalls calls;
  replace(calls, scratch, 1);
  CHECK(std::filesystem::is_symlink(scratch / "F"));
  CHECK(bytes_of_file(scratch / "far/G") == kNew);
  CHECK(bytes_of_file(scratch / "far/G.1") == kOld);
}

TEST_CASE("a file is read in pieces, over interruptions, and what fails has its sentence") {
  const ScratchFolder scratch;
  prepare(scratch, 1);
  for (int at = 0; at < 20; ++at) {
    CAPTURE(at);
    FaultyCalls calls;
    calls.longest_read = 30;
    calls.fails_at = at;
    calls.failure = at % 2 == 0 ? EINTR : EIO;
    std::vector<std::byte> bytes;
    const std::string message =
        message_of([&] { bytes = read_file(calls, "resume", scratch / "F"); });
    if (message != "no error") {
      CHECK(message.starts_with("resume: file '"));
      continue;
    }
    CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == kOld);
  }
}

}  // namespace halftone::tests
