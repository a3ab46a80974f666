// SPDX-License-Identifier: Apache-2.0
// A file as memory, which the system reads a page at a time when it is touched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "file_calls.hpp"

namespace halftone {

class MappedFile {
 public:
  /// Throws Error where it is no regular file or cannot be mapped; `operation` opens it.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(FileCalls& calls,
                                                              const char* operation,
                                                              const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace halftone
