// SPDX-License-Identifier: Apache-2.0
// Which chips a commit's tests try: sm_75, which alone has neither cp.async nor bf16, and sm_90a
// always; of the others some by the commit's number, so that neighbouring commits try all of them.
// The long list (tests/run --exhaustive) tries all.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace halftone::tests {

/// HALFTONE_COMMIT where it is set, to try what another commit tries; else how many commits lead to
/// that of `folder`; 0 where git knows none.
inline unsigned long commit_number(const std::string& folder) {
  if (const char* given = std::getenv("HALFTONE_COMMIT")) return std::strtoul(given, nullptr, 10);
  const std::string command = "git -C '" + folder + "' rev-list --count HEAD 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> git(popen(command.c_str(), "r"), &pclose);
  unsigned long number = 0;
  return git && std::fscanf(git.get(), "%lu", &number) == 1 ? number : 0;
}

/// sm_75, sm_90a and so many of the `others` of `chips` ("sm_80", ...), which take turns.
inline std::set<std::string> sampled_chips(const std::vector<std::string>& chips,
                                           unsigned long commit, std::size_t others) {
  std::set<std::string> sampled;
  std::vector<std::string> rest;
  for (const std::string& chip : chips) {
    if (chip == "sm_75" || chip == "sm_90a")
      sampled.insert(chip);
    else
      rest.push_back(chip);
  }
  for (std::size_t i = 0; i < others && i < rest.size(); ++i)
    sampled.insert(rest[(commit * others + i) % rest.size()]);
  return sampled;
}

}  // namespace halftone::tests
