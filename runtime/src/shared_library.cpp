// SPDX-License-Identifier: Apache-2.0
#include "shared_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace halftone {
namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

}  // namespace

void* open_library(const std::string& name, int mode, std::string& refusal) {
  refusal.clear();
  void* library = dlopen(name.c_str(), mode);
  if (library) return library;
  const char* words = dlerror();
  refusal = words ? words : name + ": refused without a word";
  // A library that it needs and that is missing stands in front of the words in its place.
  if (refusal.starts_with(name + ": ") && refusal.ends_with(words_of(ENOENT))) refusal.clear();
  return nullptr;
}

std::string words_of_full_table() {
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int error = errno;
  if (file >= 0) close(file);
  return file < 0 && (error == EMFILE || error == ENFILE) ? words_of(error) : "";
}

std::string remedy_for(std::string_view words, std::string otherwise) {
  for (const int limit : {EMFILE, ENFILE}) {
    if (words.find(words_of(limit)) == words.npos) continue;
    return "close files, or allow more open ones (ulimit -n)";
  }
  return otherwise;
}

}  // namespace halftone
