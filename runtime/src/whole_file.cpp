// SPDX-License-Identifier: Apache-2.0
#include "whole_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace halftone {

std::vector<std::byte> read_whole(const std::filesystem::path& path, std::string& why) {
  why.clear();
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  const int failure = errno;
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (size < 0 || is_folder) {
    why = is_folder ? "it is a folder"
          : failure ? std::generic_category().message(failure)
                    : "it has no size";
    return {};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!file) why = "it ends before its size";
  return bytes;
}

}  // namespace halftone
