// SPDX-License-Identifier: Apache-2.0
// What the tool counts when it runs a step on a simulated chip.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "run_tool.hpp"

namespace halftone::tests {
namespace {

const std::string kArtifact = std::string(TOOL_ARTIFACTS) + "/digits_f16.sm_80.o";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

const nlohmann::json& launch_of(const nlohmann::json& simulated, const std::string& kernel) {
  for (const nlohmann::json& launch : simulated["launches"])
    if (launch["kernel"] == kernel) return launch;
  FAIL("no launch of '" << kernel << "'");
  return simulated;
}

struct Kept {
  ino_t file = 0;
  time_t changed = 0;
};

/// The files of a folder by name.
std::map<std::string, Kept> files_of(const std::filesystem::path& folder) {
  std::map<std::string, Kept> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat status{};
    REQUIRE(stat(entry.path().c_str(), &status) == 0);
    files[entry.path().filename()] = {status.st_ino, status.st_mtime};
  }
  return files;
}

}  // namespace

TEST_CASE("explain --simulate counts what a step's launches must do") {
  const auto json = json_of("explain " + kArtifact + " --simulate sm_80 --symbols batch=37");
  const nlohmann::json& simulated = json["simulated"];
  CHECK(simulated["chip"] == "sm_80");
  CHECK(simulated["symbols"] == nlohmann::json{{"batch", 37}});
  REQUIRE(json["chips"].size() == 1);

  // Rows, columns and depth of 37 x 128 x 64, padded to the tile: whole tiles are multiplied.
  const nlohmann::json& fc1 = launch_of(simulated, "fc1");
  CHECK(fc1["phase"] == "forward");
  CHECK(fc1["counted"]["tensor_operations"] == 2 * 64 * 128 * 64);
  CHECK(fc1["counted"]["global_bytes_written"] >= 37 * 128 * 2);
  CHECK(fc1["predicted"]["operations"] > 0);

  // 64 * 128 + 128 * 2 + 128 * 64 + 64 + 64 * 10 + 10 + 128 parameters, padded to multiples of 32:
  // weight, two moments and the working copy in f16.
  const nlohmann::json& update = launch_of(simulated, "update")["counted"];
  const int elements = 8192 + 128 + 128 + 128 + 8192 + 64 + 640 + 32;
  CHECK(update["global_bytes_written"] == elements * (3 * 4 + 2));
  CHECK(update["tensor_operations"] == 0);
  CHECK(update["global_sectors"] >= update["global_sectors_ideal"]);

  const std::string text =
      run_tool("explain " + kArtifact + " --simulate sm_80 --symbols batch=37").output;
  CHECK(text.find("== a step on simulated sm_80 with batch = 37 ==") != std::string::npos);
}

TEST_CASE("explain --simulate keeps the kernels that it compiles, and takes them from there") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tool_simulate_test." + std::to_string(getpid()));
  const std::string before = environment("HALFTONE_CACHE");
  setenv("HALFTONE_CACHE", "rw", 1);
  setenv("HALFTONE_CACHE_DIR", folder.c_str(), 1);
  const std::string simulate = "explain " + kArtifact + " --simulate sm_80 --symbols batch=3";
  const auto first = json_of(simulate);
  const std::string kept = run_tool("cache stats").output;
  const auto hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::last_write_time(entry.path(), hour_ago);
  }
  const auto old = files_of(folder);
  const auto second = json_of(simulate);
  auto used = files_of(folder);
  unsetenv("HALFTONE_CACHE_DIR");
  setenv("HALFTONE_CACHE", before.c_str(), 1);
  std::filesystem::remove_all(folder);
  CAPTURE(kept);
  CHECK(kept.find(" kernels of ") != std::string::npos);
  CHECK(kept.find(": 0 kernels") == std::string::npos);
  CHECK(second == first);
  // A file that was read is touched; one that was stored is another file.
  CHECK(used.size() == old.size());
  for (const auto& [name, was] : old) {
    CAPTURE(name);
    CHECK(used[name].file == was.file);
    CHECK(used[name].changed >= was.changed + 3000);
  }
}

}  // namespace halftone::tests
