// SPDX-License-Identifier: Apache-2.0
// Checkpoints: all that the steps to come depend on, in one safetensors file. A parameter is a
// tensor of its own name; whatever else a trainer holds begins with "halftone/".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halftone {

/// What a program keeps in a checkpoint beside the trainer's own: {"epoch", "3"}. Both are UTF-8;
/// names begin with no "halftone.".
using Notes = std::vector<std::pair<std::string, std::string>>;

struct SaveOptions {
  /// Earlier files of that name which stay: FILE.1 is the one before, up to FILE.`keep`.
  int keep = 0;
  /// Return once a copy is made; a thread writes it. What goes wrong then, the next save(),
  /// resume() or finish_saving() throws.
  bool background = false;
  Notes notes = {};
};

struct ResumeOptions {
  /// Take a checkpoint of the same model under other precision rules, and under another name where
  /// it is renamed(). What the trainer's rules need and the file lacks, as a loss scale, keeps its
  /// present value; what they do not need is left out. Bits of the steps that follow are those of
  /// the new rules.
  bool other_rules = false;
};

struct Resumed {
  std::int64_t steps = 0;  ///< as Statistics::steps
  std::string stage = {};  ///< that the trainer was in when it saved, and is in again
  Notes notes = {};
  /// With other_rules: the tensors of the trainer that the file lacks, and those of the file that
  /// the trainer does not have. Without them, too, `kept` names a weight decay or momentum of the
  /// trainer that a file lacks which was saved when these could not be set.
  std::vector<std::string> kept = {}, left_out = {};
  /// With other_rules: the tensors that the file holds in another format than the trainer, which
  /// were converted, narrower ones to the nearest (P68).
  std::vector<std::string> converted = {};
};

}  // namespace halftone
