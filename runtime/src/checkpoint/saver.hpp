// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints, at once or on a thread of its own, one at a time.
#pragma once

#include <exception>
#include <filesystem>
#include <thread>

#include "checkpoint_file.hpp"

namespace halftone {

class Saver {
 public:
  Saver() = default;
  /// Waits for what is being written.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// Waits for the save before, and throws what went wrong with it: then nothing was saved.
  void save(Snapshot snapshot, const std::filesystem::path& file, const SaveOptions& options);

  /// Waits until nothing is being written; throws what went wrong, once.
  void finish();

 private:
  std::thread thread_;
  std::exception_ptr failure_;
};

}  // namespace halftone
