// SPDX-License-Identifier: Apache-2.0
// What the tool counts when it runs a step on a simulated chip.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "run_tool.hpp"

namespace halftone::tests {
namespace {

const std::string kArtifact = std::string(TOOL_ARTIFACTS) + "/digits_f16.sm_80.o";

/// With the NVRTC of this build where the caller names none; false where there is none.
bool has_nvrtc() {
  if (!std::getenv("NVRTC_HOME") && std::filesystem::exists(HALFTONE_FETCHED_NVRTC))
    setenv("NVRTC_HOME", HALFTONE_FETCHED_NVRTC, 1);
  const Outcome outcome = run_tool("explain " + kArtifact + " --simulate sm_80 --symbols batch=3");
  const bool missing = outcome.errors.find("NVRTC is not") != std::string::npos;
  if (missing) MESSAGE("not asked: " << outcome.errors);
  return !missing;
}

const nlohmann::json& launch_of(const nlohmann::json& simulated, const std::string& kernel) {
  for (const nlohmann::json& launch : simulated["launches"])
    if (launch["kernel"] == kernel) return launch;
  FAIL("no launch of '" << kernel << "'");
  return simulated;
}

}  // namespace

TEST_CASE("explain --simulate counts what a step's launches must do") {
  if (!has_nvrtc()) return;
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

TEST_CASE("explain --simulate says in one sentence why it cannot") {
  struct Case {
    const char* arguments;
    const char* sentence;
  };
  const Case cases[] = {
      {"--simulate sm_99", "halftone: the artifact was not made for chip 'sm_99'; it has sm_80\n"},
      {"--simulate sm_75", "halftone: the artifact was not made for chip 'sm_75'; it has sm_80\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.arguments));
    const Outcome outcome = run_tool("explain " + kArtifact + " " + c.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output == "");
    CHECK(outcome.errors == c.sentence);
  }
}

TEST_CASE("explain --simulate names the remedy where NVRTC is missing") {
  const std::string before = std::getenv("NVRTC_HOME") ? std::getenv("NVRTC_HOME") : "";
  setenv("NVRTC_HOME", "/nowhere", 1);
  const Outcome outcome = run_tool("explain " + kArtifact + " --simulate sm_80");
  before.empty() ? unsetenv("NVRTC_HOME") : setenv("NVRTC_HOME", before.c_str(), 1);
  CHECK(outcome.status == 2);
  CHECK(outcome.output == "");
  CHECK(outcome.errors.find("NVRTC") != std::string::npos);
  CHECK(outcome.errors.find("; ") != std::string::npos);
  CHECK(outcome.errors.find('\n') == outcome.errors.size() - 1);
}

}  // namespace halftone::tests
