// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, and its files as bytes.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace halftone::tests {

/// Memory where there is such a file system: thousands of small files wait for no disk.
inline std::filesystem::path place_for_scratch() {
  const char* memory = "/dev/shm";
  return access(memory, W_OK | X_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

/// A new empty folder with mode 0700, gone with all that is in it when this goes.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (place_for_scratch() / "halftone_cache.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchFolder() {
    if (owner_ != getpid()) return;  // a copy in a child
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
  pid_t owner_ = getpid();
};

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::filesystem::permissions(path, std::filesystem::perms(0600));
}

}  // namespace halftone::tests
