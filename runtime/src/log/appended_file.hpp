// SPDX-License-Identifier: Apache-2.0
// A file that pieces are put behind, each whole or, where the disk is full, in part.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../files/open_file.hpp"
#include "halftone/run_sinks.hpp"

namespace halftone {

/// One at a time has it, by a lock that ends with the process.
class AppendedFile {
 public:
  /// Throws Error where it cannot be opened, another has it, or it is there and may not be.
  AppendedFile(FileCalls& calls, std::filesystem::path path, IfExists if_exists);

  /// Throws Error where not all of it could be written.
  void append(std::string_view bytes);

  /// Whether the last byte, unless the file is empty, is another than this one; so after a piece
  /// that was cut off.
  [[nodiscard]] bool ends_otherwise(char byte);

 private:
  [[noreturn]] void fail(const char* cause) const;  ///< by errno

  FileCalls& calls_;
  std::filesystem::path path_;
  OpenFile file_;
};

}  // namespace halftone
