// SPDX-License-Identifier: Apache-2.0
// What the tool refuses of sound files and damaged kernel texts: one sentence each, with a remedy.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "artifact_file.hpp"
#include "file_of_bytes.hpp"
#include "halftone/manifest/texts.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

const std::string kArtifact = std::string(TOOL_ARTIFACTS) + "/digits_f16.sm_80.o";

/// What it says on standard error, where it says nothing else.
std::string refusal_of(const std::string& arguments) {
  const Outcome outcome = run_tool(arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.output == "");
  CHECK(outcome.errors.find('\n') == outcome.errors.size() - 1);
  return outcome.errors;
}

}  // namespace

TEST_CASE("explain --simulate says in one sentence why it cannot") {
  struct Case {
    const char* arguments;
    const char* sentence;
  };
  const Case cases[] = {
      {"--simulate sm_99",
       "halftone: the artifact of model 'digits_f16' was not made for chip 'sm_99'; it has "
       "sm_80\n"},
      {"--simulate sm_75",
       "halftone: the artifact of model 'digits_f16' was not made for chip 'sm_75'; it has "
       "sm_80\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.arguments));
    CHECK(refusal_of("explain " + kArtifact + " " + c.arguments) == c.sentence);
  }
}

TEST_CASE("explain --simulate names the remedy where NVRTC is missing") {
  const std::string before = std::getenv("NVRTC_HOME") ? std::getenv("NVRTC_HOME") : "";
  setenv("NVRTC_HOME", "/nowhere", 1);
  const std::string said = refusal_of("explain " + kArtifact + " --simulate sm_80");
  before.empty() ? unsetenv("NVRTC_HOME") : setenv("NVRTC_HOME", before.c_str(), 1);
  CHECK(said.find("NVRTC") != std::string::npos);
  CHECK(said.find("; ") != std::string::npos);
}

TEST_CASE("compile-texts refuses what halftonec did not write") {
  CHECK(refusal_of("compile-texts . o") == "halftone: '.' is a folder or a device; name a file\n");
  CHECK(refusal_of("compile-texts '" HALFTONE_TOOL "' o") ==
        "halftone: '" HALFTONE_TOOL "' holds no jobs; name what halftonec --aot wrote\n");
}

TEST_CASE("compile-texts keeps the file that it cannot replace") {
  const Bytes former(100, std::byte{7});
  const File jobs(manifest::pack_texts({})), images(former);
  const std::string command = "'" HALFTONE_TOOL "' compile-texts " + jobs.path() + " ";
  const Outcome outcome = run_tool("--help >/dev/null; { ulimit -f 0; " + command + images.path() +
                                   " 2>&1; echo $?; } | cat");
  CHECK(outcome.output.ends_with("\n2\n"));  // without NVRTC for that reason
  CHECK(tools::read_file(images.path()) == former);
  CHECK_FALSE(std::filesystem::exists(images.path() + ".part"));
}

TEST_CASE("output that is lost is an error") {
  const Outcome outcome = run_tool("--help >/dev/null; { '" HALFTONE_TOOL "' explain --all " +
                                   kArtifact + " >/dev/full; }");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors ==
        "halftone: standard output cannot be written; free its disk, or redirect it elsewhere\n");
  const Outcome limited =
      run_tool("--help >/dev/null; ulimit -f 1; '" HALFTONE_TOOL "' explain --all " + kArtifact);
  CHECK(limited.status == 2);
  CHECK(limited.errors == outcome.errors);
}

TEST_CASE("damaged kernel texts are called damaged, not missing") {
  const std::string_view magic = "\x28\xb5\x2f\xfd";  // RFC 8878, 3.1.1
  const Bytes whole = tools::read_file(kArtifact);
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const std::size_t frame = text.find(magic);
  REQUIRE(frame != text.npos);
  for (const std::size_t at : {frame, frame + 2000}) {
    CAPTURE(at - frame);
    Bytes bytes = whole;
    bytes[at] ^= std::byte{1};
    const File file(bytes);
    for (const std::string command : {"explain --simulate sm_80 ", "devices "}) {
      CAPTURE(command);
      const std::string said = refusal_of(command + file.path());
      CHECK(said.starts_with("halftone: '" + file.path() +
                             "': the kernel texts of model 'digits_f16' are damaged: "));
      CHECK(said.ends_with("; make the artifact again with halftonec\n"));
    }
  }
}

}  // namespace halftone::tests
