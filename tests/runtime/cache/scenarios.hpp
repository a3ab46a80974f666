// SPDX-License-Identifier: Apache-2.0
// What caches do, each in a folder of its own: the tests of faults go through every call of each.
#pragma once

#include <array>

#include "../files/faulty_calls.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"

namespace halftone::tests {

struct Scenario {
  const char* name;
  const char* folder;  ///< below the scratch folder
  CacheMode mode = CacheMode::read_write;
  void (*prepare)(const std::string& folder) = [](const std::string&) {};
  std::uint64_t most_bytes = 1 << 30;
  std::uint64_t damaged = 0;  ///< entries that `prepare` damages

  [[nodiscard]] CacheSettings settings(const ScratchFolder& scratch) const {
    CacheSettings settings = settings_for(scratch / folder, mode);
    settings.most_bytes = most_bytes;
    return settings;
  }
};

/// Every scenario asks for these.
inline constexpr std::array kAsked = {1, 2, 1};

inline void fill(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0700));
  for (const int k : {1, 7, 8}) write_file(folder + "/" + name_of(k), entry_of(k));
}

inline const Scenario kScenarios[] = {
    {"a folder is made", "a/b"},
    {"others are there", "a", CacheMode::read_write, fill},
    {"an entry is damaged", "a", CacheMode::read_write,
     [](const std::string& folder) {
       fill(folder);
       write_file(folder + "/" + name_of(1), entry_of(1).substr(1));
     },
     1 << 30, 1},
    {"an entry is another kernel's", "a", CacheMode::read_write,
     [](const std::string& folder) {
       fill(folder);
       write_file(folder + "/" + name_of(2), entry_of(7));
     }},
    {"entries are evicted", "a", CacheMode::read_write, fill, 900},
    {"remains are reaped", "a", CacheMode::read_write,
     [](const std::string& folder) {
       fill(folder);
       for (const auto& name : {name_of(1) + ".9.9.9.tmp", lock_name_of(7)}) {
         write_file(folder + "/" + name, "half");
         std::filesystem::last_write_time(
             folder + "/" + name,
             std::filesystem::file_time_type::clock::now() - std::chrono::hours(3));
       }
     }},
    {"all is refreshed", "a", CacheMode::refresh, fill},
    {"nothing is changed", "a", CacheMode::read_only, fill},
};

}  // namespace halftone::tests
