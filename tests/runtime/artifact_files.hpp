// SPDX-License-Identifier: Apache-2.0
// Sealed shared objects in a folder that goes with the test.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/seal.hpp"
#include "message_of.hpp"

namespace artifact_files {

namespace fs = std::filesystem;

using Bytes = std::vector<char>;

inline Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const fs::path& path, const Bytes& bytes) {
  fs::remove(path);  // a new inode, since an old one may be mapped
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("halftone_artifact_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// A sealed copy of a shared object, in place of what has the name.
  [[nodiscard]] fs::path sealed(const char* object, const char* name) const {
    fs::remove(path_ / name);
    fs::copy_file(object, path_ / name);
    std::string error;
    REQUIRE_MESSAGE(halftone::manifest::seal_file((path_ / name).string(), error), error);
    return path_ / name;
  }

  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline std::string load_error(const fs::path& path) {
  return message_of([&] { (void)halftone::Artifact::load(path); });
}

inline std::string file_sentence(const fs::path& path, const std::string& rest) {
  return "artifact: file '" + path.string() + "' " + rest;
}

}  // namespace artifact_files
