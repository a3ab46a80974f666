// SPDX-License-Identifier: Apache-2.0
#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "../text.hpp"
#include "halftone/error.hpp"
#include "open_file.hpp"

namespace halftone {

std::shared_ptr<const MappedFile> MappedFile::open(FileCalls& calls, const char* operation,
                                                   const std::filesystem::path& file) {
  const auto refuse = [&](std::string cause, std::string hint) {
    throw Error({.operation = operation,
                 .object = named("file", file.string()),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  };
  const auto fail = [&](const char* what) {
    refuse(std::string(what) + ": " + std::generic_category().message(errno),
           "check the path and its permissions");
  };
  constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const OpenFile opened(calls, AT_FDCWD, file.string(), kRead);
  if (!opened) fail("cannot be opened");
  struct stat status{};
  if (calls.status(opened.get(), status) == -1) fail("cannot be read");
  if (!S_ISREG(status.st_mode)) refuse("is no regular file", "name a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = nullptr;
  if (size > 0) {
    at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.get(), 0);
    if (at == MAP_FAILED) fail("cannot be mapped into memory");
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const std::byte*>(at), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace halftone
