// SPDX-License-Identifier: Apache-2.0
// Words that the tool does not take, and names that would break its lines.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "file_of_bytes.hpp"
#include "halftone/manifest/version.hpp"
#include "line_artifact.hpp"
#include "nearest.hpp"
#include "run_tool.hpp"

namespace halftone::tests {

TEST_CASE("the nearest word takes the fewest changes, and none is near where it takes too many") {
  const std::vector<std::string> words = {"explain", "diff", "cache", "devices", "--symbols"};
  const struct {
    const char *word, *meant;
  } cases[] = {{"explian", "explain"},
               {"explan", "explain"},
               {"dif", "diff"},
               {"device", "devices"},
               {"cahce", "cache"},
               {"--symbol", "--symbols"},
               {"explain", "explain"},
               {"foo", ""},
               {"", ""},
               {"d", ""},
               {"xplan", "explain"},
               {"xpln", ""}};
  for (const auto& c : cases) {
    CAPTURE(c.word);
    CHECK(nearest(c.word, words) == c.meant);
  }
}

TEST_CASE("wrong words are refused in one line that names a remedy, and the nearest right word") {
  const std::string empty = ": it is empty; give a name, or leave it out\n";
  const struct {
    const char* arguments;
    std::string sentence;
  } cases[] = {
      {"", "A subcommand is required; 'halftone --help' says what it takes\n"},
      {"explain", "ARTIFACT is required; 'halftone explain --help' says what it takes\n"},
      {"diff a", "B is required; 'halftone diff --help' says what it takes\n"},
      {"cache", "A subcommand is required; 'halftone cache --help' says what it takes\n"},
      {"foo", "'foo' is no command; 'halftone --help' lists them\n"},
      {"explian x",
       "'explian' is no command; did you mean 'explain'? 'halftone --help' lists "
       "them\n"},
      {"compile-text", "'compile-text' is no command; 'halftone --help' lists them\n"},
      {"cache stat",
       "'stat' is no command; did you mean 'stats'? 'halftone cache --help' lists "
       "them\n"},
      {"--json", "'--json' is no option of 'halftone'; 'halftone --help' lists them\n"},
      {"explain x --jsn",
       "'--jsn' is no option of 'halftone explain'; did you mean '--json'? "
       "'halftone explain --help' lists them\n"},
      {"explain x --sumary=1",
       "'--sumary' is no option of 'halftone explain'; did you mean "
       "'--summary'? 'halftone explain --help' lists them\n"},
      {"devices --jason",
       "'--jason' is no option of 'halftone devices'; did you mean '--json'? "
       "'halftone devices --help' lists them\n"},
      {"explain x -q",
       "'-q' is no option of 'halftone explain'; 'halftone explain --help' lists "
       "them\n"},
      {"explain x y", "'y' is one word too many; 'halftone explain --help' says what it takes\n"},
      {"explain x --chip",
       "--chip needs a word behind it; 'halftone explain --help' says what it "
       "takes\n"},
      {"explain x --chip a --chip b", "--chip is given twice; give it once\n"},
      {"explain ''", "ARTIFACT" + empty},
      {"diff '' x", "A" + empty},
      {"diff x ''", "B" + empty},
      {"devices ''", "ARTIFACT" + empty},
      {"cache stats ''", "DIR" + empty},
      {"explain x --chip ''", "--chip" + empty},
      {"explain x --chip=", "--chip" + empty},
      {"explain x --chip= --json", "--chip" + empty},
      {"explain --chip= x", "--chip" + empty},
      {"explain x --simulate=", "--simulate" + empty},
      {"explain x --symbols ''", "--symbols" + empty},
      {"explain x --model ''", "--model" + empty},
      {"diff x y --model ''", "--model" + empty},
      {"diff x y --symbols=", "--symbols" + empty},
      {"devices x --model=", "--model" + empty},
      {"tokens", "A subcommand is required; 'halftone tokens --help' says what it takes\n"},
      {"tokens trian",
       "'trian' is no command; did you mean 'train'? 'halftone tokens --help' lists them\n"},
      {"tokens train x", "--out is required; 'halftone tokens train --help' says what it takes\n"},
      {"tokens train x --out=", "--out" + empty},
      {"tokens encode ''", "TOKENIZER" + empty},
      {"tokens decode a b c",
       "'c' is one word too many; 'halftone tokens decode --help' says what it takes\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.arguments));
    const Outcome outcome = run_tool(c.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.errors == "halftone: " + c.sentence);
  }
  for (const char* flag : {"--json=false", "--summary=0", "--all=no"}) {
    CAPTURE(flag);
    const Outcome outcome = run_tool(std::string("explain x ") + flag);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find("says what it takes\n") != std::string::npos);
  }
}

TEST_CASE("help of every command fits on a screen") {
  for (const char* command : {"", "explain", "diff", "cache", "cache stats", "cache verify",
                              "cache prune", "cache clear", "devices"}) {
    CAPTURE(std::string(command));
    const Outcome outcome = run_tool(std::string(command) + " --help");
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    std::istringstream lines(outcome.output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 100);
    CHECK(count <= 24);
  }
  CHECK(run_tool("--version").output == std::string("halftone ") + kVersionOfHalftone + "\n");
}

TEST_CASE("symbols that are half said are refused") {
  const File file(manifest::encode(hand_made::manifest()));
  for (const char* symbols : {",", "batch=2,", "batch=2,,", ",batch=2"}) {
    CAPTURE(symbols);
    const Outcome outcome = run_tool("explain " + file.path() + " --symbols " + symbols);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors ==
          "halftone: --symbols: '' binds no symbol of model 'line'; write "
          "NAME=NUMBER with a symbol of batch\n");
  }
}

TEST_CASE("names with control characters break no line and reach no terminal") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest.model = "line\x1b[2J\nhalftone: all is well";
  manifest.programs[0].values[0].name = "fc\n  forged  f32";
  manifest.rules[0] = "where\tlayer\x7f";
  const File file(manifest::encode(manifest));
  const std::string commands[] = {"explain --all " + file.path(), "devices " + file.path(),
                                  "diff " + file.path() + " " + file.path() + " --symbols x=1"};
  for (const std::string& command : commands) {
    CAPTURE(command);
    const Outcome outcome = run_tool(command);
    const std::string text = outcome.output + outcome.errors;
    CHECK(text.find("line\\x1b[2J") != std::string::npos);
    for (const char letter : text) {
      const auto code = static_cast<unsigned char>(letter);
      CHECK((code == '\n' || (code >= 0x20 && code != 0x7f)));
    }
  }
  const std::string explained = run_tool("explain --all " + file.path()).output;
  CHECK(explained.find("fc\\x0a  forged  f32") != std::string::npos);
  CHECK(explained.find("where\\x09layer\\x7f") != std::string::npos);
}

TEST_CASE("a reader that goes away ends the tool as it ends others") {
  // More than a pipe holds: the tool is still writing when the reader has gone.
  manifest::Manifest manifest = hand_made::manifest();
  manifest.programs[0].values.resize(3000, manifest.programs[0].values[0]);
  const File file(manifest::encode(manifest));
  const Outcome outcome =
      run_tool("--help >/dev/null; bash -c \"'" HALFTONE_TOOL "' explain --all " + file.path() +
               " | head -n 1; exit \\${PIPESTATUS[0]}\"");
  CHECK(outcome.status == 128 + 13);  // SIGPIPE
  CHECK(outcome.errors.empty());
  CHECK(outcome.output == "model line, made by halftone 0.1.0 for cpu\n");
}

}  // namespace halftone::tests
