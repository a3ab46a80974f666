// SPDX-License-Identifier: Apache-2.0
// What of Trainer saves and resumes, apart from trainer.cpp: programs that do neither are linked
// without it.
#include <memory>
#include <string>
#include <system_error>

#include "../files/replace_file.hpp"
#include "../profile_range.hpp"
#include "../text.hpp"
#include "../trainer_state.hpp"
#include "checkpoint_file.hpp"
#include "file_checksum.hpp"
#include "halftone/error.hpp"
#include "halftone/trainer.hpp"

namespace halftone {
namespace {

/// The checksum is taken here, too: a thread may do it.
void write(Snapshot& snapshot, const std::filesystem::path& file, int keep) {
  const ProfileRange range("write a checkpoint");
  set_checksum(snapshot);
  replace_file(system_file_calls(), "save", file, snapshot.parts(), keep);
}

/// A thread may write after the program went to another folder.
std::filesystem::path absolute_path(const std::filesystem::path& file) {
  std::error_code failure;
  std::filesystem::path path = std::filesystem::absolute(file, failure);
  if (!failure) return path;
  throw Error({.operation = "save",
               .object = named("file", file.string()),
               .cause = "has a name relative to the program's folder, which cannot be found: " +
                        failure.message(),
               .hint = "give a name that begins with '/'"});
}

}  // namespace

void Trainer::save(const std::filesystem::path& file, const SaveOptions& options) {
  const auto state = use("save");
  if (options.keep < 0) {
    throw Error({.operation = "save",
                 .object = "the number of files to keep",
                 .cause = "is " + std::to_string(options.keep),
                 .hint = "give 0 or more"});
  }
  state->saving.finish();
  auto snapshot =
      std::make_shared<Snapshot>(snapshot_of(state->program, state->step, options.notes));
  if (!options.background) return write(*snapshot, file, options.keep);
  state->saving.start("save", [snapshot, path = absolute_path(file), keep = options.keep] {
    write(*snapshot, path, keep);
  });
}

void Trainer::finish_saving() { use("finish_saving")->saving.finish(); }

Resumed Trainer::resume(const std::filesystem::path& file, const ResumeOptions& options) {
  const auto state = use("resume");
  state->saving.finish();
  const std::vector<std::byte> bytes = read_file(system_file_calls(), "resume", file);
  return restore(state->program, state->step, bytes, file.string(), options);
}

}  // namespace halftone
