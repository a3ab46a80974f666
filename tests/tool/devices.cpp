// SPDX-License-Identifier: Apache-2.0
// `halftone devices --json`, read by another parser than the one that wrote it.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <utility>

#include "file_of_bytes.hpp"
#include "line_artifact.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

/// What python3 makes of the object that `devices` prints: the value of `expression` of `d`.
std::string by_python(const std::string& arguments, const std::string& expression) {
  const Outcome outcome = run_tool(
      "--help >/dev/null; '" HALFTONE_TOOL "' devices --json " + arguments +
      " | python3 -c \"import json, sys; d = json.load(sys.stdin); sys.stdout.write(str((" +
      expression + ")))\"");
  INFO(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  return outcome.output;
}

}  // namespace

TEST_CASE("devices --json is JSON with the facts of the text") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest.variants = {"none such"};
  const File file(manifest::encode(manifest));
  const std::string text = run_tool("devices " + file.path()).output;
  CHECK(text.find("cpu       " +
                  by_python("",
                            "d['cpu']['name'] + ', code for ' + ', '.join("
                            "d['cpu']['variants'])") +
                  "\n") == 0);
  CHECK(by_python("", "d['schema'], d['artifact']") == "(1, None)");
  CHECK(by_python("", "d['cache']['mode'], d['cache']['why_none']") ==
        "('off', 'HALFTONE_CACHE says off')");
  CHECK(by_python(file.path(),
                  "d['artifact']['devices'][0]['runs'], "
                  "d['artifact']['devices'][0]['why_not']") ==
        "(None, 'it has code for none such')");
  CHECK(text.find("\ncpu       no: it has code for none such\n") != std::string::npos);
  CHECK(by_python(file.path(), "len(d['artifact']['chips'])") == "0");
  CHECK(text.ends_with("\nchosen    cpu, since " +
                       by_python(file.path(), "d['artifact']['chosen']['why']") + "\n"));
}

TEST_CASE("devices --json of an artifact with a hostile name is JSON, and says that name") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest.model = "a\"b\\c/\n\t\x01\x7f</script>\xc3\xa9\xff";
  const File file(manifest::encode(manifest));
  CHECK(by_python(file.path(), "ascii(d['artifact']['model'])") ==
        "'a\"b\\\\c/\\n\\t\\x01\\x7f</script>\\xe9\\ufffd'");
}

TEST_CASE("devices lists what there is where HALFTONE_DEVICE names what there is not") {
  const File file(manifest::encode(hand_made::manifest()));
  for (const auto& [word, why_not] : {
           std::pair("cuda:4096", "device 'cuda:4096' "),
           std::pair("cuda:name=no such GPU", "a GPU with 'no such GPU' in its name is not there"),
           std::pair("simulated:sm_1", "device 'simulated:sm_1' is of no chip that can be"),
           std::pair("cpu:m68k", "CPU variant 'm68k' is unknown"),
       }) {
    CAPTURE(word);
    const std::string run = "--help >/dev/null; HALFTONE_DEVICE='" + std::string(word) +
                            "' '" HALFTONE_TOOL "' devices ";
    const Outcome outcome = run_tool(run);
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    CHECK(outcome.output.starts_with("cpu       "));
    const std::string said = "\nHALFTONE_DEVICE=" + std::string(word) + " names no device here: ";
    CHECK(outcome.output.find(said + why_not) != std::string::npos);
    const Outcome judged = run_tool(run + file.path());
    CHECK(judged.status == 0);
    CHECK(judged.output.find("\nchosen    " + std::string(word) +
                             ", as HALFTONE_DEVICE says: no: " + why_not) != std::string::npos);
  }
  CHECK(by_python("", "d['wish']") == "None");
}

TEST_CASE("devices judges the words of the environment, whether it needs them or not") {
  for (const char* word : {"HALFTONE_DEVICE=gpu", "HALFTONE_JIT=newer", "HALFTONE_THREADS=many",
                           "HALFTONE_STEPS_IN_FLIGHT=0", "HALFTONE_CHECK_LAUNCHES=yes",
                           "HALFTONE_COMPILE_TIMEOUT=soon", "HALFTONE_CACHE=on"}) {
    CAPTURE(word);
    const std::string setting = word;
    const Outcome outcome =
        run_tool("--help >/dev/null; " + setting + " '" HALFTONE_TOOL "' devices");
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.errors.starts_with("halftone: settings: " + setting.substr(0, setting.find('=')) +
                                     " is '" + setting.substr(setting.find('=') + 1) + "'; "));
  }
  const Outcome misspelt =
      run_tool("--help >/dev/null; HALFTONE_THREAD=2 '" HALFTONE_TOOL "' devices");
  CHECK(misspelt.status == 2);
  CHECK(misspelt.errors ==
        "halftone: settings: HALFTONE_THREAD in the environment is unknown; write "
        "HALFTONE_THREADS, or unset it\n");
}

}  // namespace halftone::tests
