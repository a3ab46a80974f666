// SPDX-License-Identifier: Apache-2.0
// Which texts a commit compiles for which chips. Those that passed on all their chips are listed
// (known_texts.txt); of them a sample stands for the rest. Any other text is compiled for every
// chip that launches it, so that what changes the texts is tried everywhere.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel_jobs.hpp"

namespace halftone::tests {

/// Of every text and the chips that launch it: a text that another chip gets is not known.
using TextDigests = std::map<const std::string*, std::string>;
[[nodiscard]] TextDigests digests_of(const std::vector<KernelJob>& jobs);

/// Lines of comments, what judged them ("NVRTC 13.0, ..."), and a digest a line. Empty where they
/// were judged by something else, since nothing is known then.
[[nodiscard]] std::set<std::string> parse_known(const std::string& text, const std::string& judge);
/// The comments of `old`, and these.
[[nodiscard]] std::string text_of_known(const std::string& old, const std::string& judge,
                                        const TextDigests& digests);

struct KernelSample {
  std::set<std::string> chips;        ///< that known texts are tried on
  std::size_t unknown = 0;            ///< texts
  bool stands_for_all = false;        ///< unknown texts are too many to try each on all its chips
  std::vector<KernelJob> tried = {};  ///< in their order
  std::size_t left_out = 0;           ///< jobs
};

/// All jobs of unknown texts; of known ones, on `chips`, the largest and the narrowest body of each
/// shape. Of more than `most` unknown texts, as when a header of all kernels changes, those alone
/// that known ones would be tried of.
[[nodiscard]] KernelSample sample_of(const std::vector<KernelJob>& jobs,
                                     const std::set<std::string>& known,
                                     std::set<std::string> chips,
                                     std::size_t most = static_cast<std::size_t>(-1));

}  // namespace halftone::tests
