// SPDX-License-Identifier: Apache-2.0
#include "saver.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "../files/replace_file.hpp"

namespace halftone {
namespace {

void write(const Snapshot& snapshot, const std::filesystem::path& file, int keep) {
  const std::array<std::string_view, 2> parts = {
      snapshot.header,
      {reinterpret_cast<const char*>(snapshot.tensors.data()), snapshot.tensors.size()}};
  replace_file(system_file_calls(), "save", file, parts, keep);
}

}  // namespace

Saver::~Saver() {
  if (thread_.joinable()) thread_.join();
}

void Saver::save(Snapshot snapshot, const std::filesystem::path& file, const SaveOptions& options) {
  finish();
  if (!options.background) return write(snapshot, file, options.keep);
  // Absolute: the thread may write after the program went to another folder.
  thread_ = std::thread([this, snapshot = std::move(snapshot),
                         path = std::filesystem::absolute(file), keep = options.keep] {
    try {
      write(snapshot, path, keep);
    } catch (...) {
      failure_ = std::current_exception();
    }
  });
}

void Saver::finish() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace halftone
