// SPDX-License-Identifier: Apache-2.0
// Shared objects whose bytes were checked first: what is loaded is what was checked, whatever
// became of the file since, and whatever else this process has loaded by its name.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace halftone {

/// Which file lies at a path, and which of its versions.
class FileVersion {
 public:
  /// No file's where there is none.
  explicit FileVersion(const std::filesystem::path& path) noexcept;

  friend bool operator==(const FileVersion& a, const FileVersion& b) noexcept;

 private:
  struct stat of_ = {};
};

/// What a file held when it was checked, and its version before it was read.
struct CheckedFile {
  std::filesystem::path path;
  FileVersion version;
  std::span<const std::byte> bytes;
  std::string digest;  ///< of the bytes; no other ones have it
};

/// Why a file was not loaded, and what to do about it; each stays as it was where it is not known.
struct LoadRefusal {
  std::string cause = {}, hint;
};

/// A handle for dlsym(); the object stays as long as one of them. Loaded once for each digest at a
/// path: by the path, which is then its name everywhere, or, where the loader has something else by
/// that name or the file has changed, from a copy in memory, /proc/<pid>/fd/<n>, a link that tells
/// the path. Null when it is not loaded.
[[nodiscard]] std::shared_ptr<void> open_checked(const CheckedFile& file, LoadRefusal& refusal);

}  // namespace halftone
