// SPDX-License-Identifier: Apache-2.0
// What of Trainer saves and resumes, apart from trainer.cpp: programs that do neither are linked
// without it.
#include <memory>

#include "../files/replace_file.hpp"
#include "../profile_range.hpp"
#include "../trainer_state.hpp"
#include "checkpoint_file.hpp"
#include "file_checksum.hpp"
#include "halftone/trainer.hpp"

namespace halftone {
namespace {

/// The checksum is taken here, too: a thread may do it.
void write(Snapshot& snapshot, const std::filesystem::path& file, int keep) {
  const ProfileRange range("write a checkpoint");
  set_checksum(snapshot);
  replace_file(system_file_calls(), "save", file, snapshot.parts(), keep);
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
  // Absolute: the thread may write after the program went to another folder.
  state->saving.start([snapshot, path = std::filesystem::absolute(file), keep = options.keep] {
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
