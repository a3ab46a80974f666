// SPDX-License-Identifier: Apache-2.0
#include "appended_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

constexpr int kOpen = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
constexpr mode_t kMode = 0666;  // less the umask

[[noreturn]] void refuse(const std::filesystem::path& path, std::string cause, std::string hint) {
  throw Error({.operation = "log",
               .object = named("file", path.string()),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

}  // namespace

AppendedFile::AppendedFile(FileCalls& calls, std::filesystem::path path, IfExists if_exists)
    : calls_(calls),
      path_(std::move(path)),
      file_(calls, AT_FDCWD, path_.string(), if_exists == IfExists::refuse ? kOpen | O_EXCL : kOpen,
            kMode) {
  if (!file_) {
    if (errno == EEXIST)
      refuse(path_, "is there already",
             "name another one, or say IfExists::append or IfExists::replace");
    fail("cannot be opened");
  }
  struct stat status{};
  if (calls_.status(file_.get(), status) == -1) fail("cannot be opened");
  if (!S_ISREG(status.st_mode)) refuse(path_, "is no regular file", "name a file");
  if (calls_.try_lock(file_.get()) == -1) {
    if (errno != EWOULDBLOCK) fail("cannot be locked");
    refuse(path_, "is being written by another log", "give each a file of its own");
  }
  if (if_exists == IfExists::replace && calls_.truncate(file_.get()) == -1)
    fail("cannot be replaced");
}

void AppendedFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return calls_.write(file_.get(), bytes.data(), bytes.size()); });
    if (count == 0) errno = EIO;
    if (count <= 0) fail("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool AppendedFile::ends_otherwise(char byte) {
  struct stat status{};
  if (calls_.status(file_.get(), status) == -1) fail("cannot be read");
  if (status.st_size == 0) return false;
  char last = 0;
  const ssize_t count =
      uninterrupted([&] { return ::pread(file_.get(), &last, 1, status.st_size - 1); });
  if (count != 1) fail("cannot be read");
  return last != byte;
}

void AppendedFile::fail(const char* cause) const {
  const int failure = errno;
  refuse(path_, std::string(cause) + ": " + std::generic_category().message(failure),
         failure == ENOSPC || failure == EDQUOT ? "make room for it"
         : failure == ENOENT                    ? "make its folder first"
                                                : "check the path and its permissions");
}

}  // namespace halftone
