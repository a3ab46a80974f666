// SPDX-License-Identifier: Apache-2.0
// Run logs read back, and what is no run log.
#include "report/run_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "../../runtime/files/scratch_folder.hpp"
#include "run_files.hpp"

namespace halftone::tests {
namespace {

using tools::LoggedRun, tools::read_run;

/// What a file of these bytes is refused with, its name as FILE; or "none".
std::string refusal_of(const std::string& bytes) {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  write_file(file, bytes);
  try {
    (void)read_run(file);
  } catch (const std::runtime_error& error) {
    std::string text = error.what();
    const auto at = text.find(file);
    return at == text.npos ? text : text.replace(at, file.size(), "FILE");
  }
  return "none";
}

std::string whole(const MadeUpRun& run = {}) {
  const ScratchFolder scratch;
  write_run(scratch / "run.jsonl", run);
  return bytes_of_file(scratch / "run.jsonl");
}

LoggedRun read_bytes(const std::string& bytes) {
  const ScratchFolder scratch;
  write_file(scratch / "run.jsonl", bytes);
  return read_run(scratch / "run.jsonl");
}

std::string first_lines(const std::string& text, int lines) {
  std::size_t at = 0;
  for (int i = 0; i < lines; ++i) at = text.find('\n', at) + 1;
  return text.substr(0, at);
}

/// Refused for bytes that are written nowhere else.
constexpr const char* kNoLog = "'FILE' is no run log; name a file that a run log of Halftone wrote";

}  // namespace

TEST_CASE("a log that was written is read") {
  MadeUpRun made{.last = 30};
  made.loss = [](std::int64_t step) { return step == 20 ? NAN : 1.0f / static_cast<float>(step); };
  made.change = [](LogEntry& entry) {
    if (entry.step == 20) entry.skipped = 1;
    if (entry.step >= 20) entry.skipped_steps = 1;
    if (entry.step == 30) entry.metrics = {{"held-out \"accuracy\"", 0.75}};
    if (entry.step == 30) entry.ms_per_step.reset();
  };
  const LoggedRun run = read_bytes(whole(made));
  const RunFacts facts = made_up::facts();
  CHECK(run.facts.name == "first");
  CHECK(run.facts.hardware == facts.hardware);
  CHECK(run.facts.rules == facts.rules);
  CHECK(run.facts.sizes == facts.sizes);
  CHECK(run.facts.seed == 7);
  CHECK(run.facts.started == 1.75e9);
  CHECK(run.facts.memory.size() == 3);
  CHECK(run.facts.memory[1].bytes == 4096);
  CHECK(run.facts.kernels[0].reads == std::vector<std::int32_t>{0, 1});
  CHECK(run.facts.casts[0].rule == facts.rules[0]);
  REQUIRE(run.losses.size() == 1);
  REQUIRE(run.losses[0].points.size() == 3);
  CHECK(run.losses[0].name == "error");
  CHECK(run.losses[0].points[0].step == 10);
  CHECK(run.losses[0].points[0].value == doctest::Approx(0.1));
  CHECK(std::isnan(run.losses[0].points[1].value));
  REQUIRE(run.metrics.size() == 1);
  CHECK(run.metrics[0].name == "held-out \"accuracy\"");
  CHECK(run.metrics[0].points[0].step == 30);
  CHECK(run.ms_per_step.points.size() == 2);
  REQUIRE(run.skipped.points.size() == 1);
  CHECK(run.skipped.points[0].step == 20);
  CHECK(run.skipped_steps == 1);
  CHECK(run.last_step == 30);
  CHECK(run.peak_bytes == 13312);
  CHECK(run.seconds == doctest::Approx(0.3));
  CHECK(run.is_ended);
  CHECK(run.notes.empty());
}

TEST_CASE(
    "samples of values and switches are read, and those behind a resumed part's start left out") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  ValueStatistics value{.layer = "fc", .op = "cast", .pass = "forward", .role = "activation"};
  value.elements = 8;
  value.first_exponent = -2;
  value.exponents = {1, 0, 3};
  value.format = "f16";
  value.rule = "everywhere : store f16";
  value.error = INFINITY;
  value.flushed = 1;
  value.saturated = 2;
  value.first_exponent_before = -30;
  value.exponents_before = {5, 1};
  MadeUpRun part{.last = 30, .ends = false};
  write_run(file, part);
  {
    const auto sink = json_lines(file, IfExists::append);
    for (const std::int64_t step : {10, 30})
      sink->values(
          {.step = step, .stage = "full", .loss_scale = 8, .seconds = 0.5, .values = {value}});
    sink->switched({.step = 20, .from = "a", .to = "b", .why = "since <so>"});
    sink->switched({.step = 30, .from = "b", .to = "c", .why = ""});
  }
  LoggedRun run = read_run(file);
  REQUIRE(run.samples.size() == 2);
  CHECK(run.samples[1].step == 30);
  CHECK(run.samples[0].stage == "full");
  CHECK(run.samples[0].loss_scale == 8.0f);
  CHECK(run.samples[0].seconds == 0.5);
  REQUIRE(run.samples[0].values.size() == 1);
  const ValueStatistics& read = run.samples[0].values[0];
  CHECK(read.layer == "fc");
  CHECK(read.exponents == value.exponents);
  CHECK(read.exponents_before == value.exponents_before);
  CHECK(read.first_exponent_before == -30);
  CHECK(std::isinf(read.error));
  CHECK(read.saturated == 2);
  REQUIRE(run.switches.size() == 2);
  CHECK(run.switches[0].from == "a");
  CHECK(run.switches[0].to == "b");
  CHECK(run.switches[0].why == "since <so>");

  part.facts.first_step = 20;
  part.first = part.last = 30;
  write_run(file, part, IfExists::append);
  run = read_run(file);
  CHECK(run.samples.size() == 1);
  CHECK(run.switches.size() == 1);
  CHECK(refusal_of(whole() + "{\"kind\":\"values\",\"step\":1}\n").find("is damaged") !=
        std::string::npos);
  CHECK(refusal_of(whole() + "{\"kind\":\"switch\",\"step\":1}\n").find("is damaged") !=
        std::string::npos);
}

TEST_CASE("the bytes of pictures are read, and pictures behind a resumed part's start left out") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  // Encoded by Python's base64, in each of the three ways in which a group of bytes ends.
  const std::string png = "\x89PNG\r\n\x1a\n", jpeg = "\xff\xd8\xff";
  write_file(scratch / "0.png", png + "f");
  write_file(scratch / "1.png", png + "fo");
  write_file(scratch / "2.jpg", jpeg + "f");
  MadeUpRun part{.last = 40, .ends = false};
  write_run(file, part);
  {
    const auto sink = json_lines(file, IfExists::append);
    sink->picture({.step = 10, .name = "samples", .file = scratch / "0.png"});
    sink->picture({.step = 20, .name = "others", .file = scratch / "2.jpg"});
    sink->picture({.step = 20, .name = "samples", .file = scratch / "1.png"});
    sink->picture({.step = 30, .name = "samples", .file = scratch / "0.png"});
  }
  LoggedRun run = read_run(file);
  CHECK(run.notes.empty());
  REQUIRE(run.pictures.size() == 2);
  CHECK(run.pictures[0].name == "samples");
  CHECK(run.pictures[0].logged == 3);
  REQUIRE(run.pictures[0].shown.size() == 3);
  CHECK(run.pictures[0].shown[0].step == 10);
  CHECK(run.pictures[0].shown[0].source == "data:image/png;base64,iVBORw0KGgpm");
  CHECK(run.pictures[0].shown[1].source == "data:image/png;base64,iVBORw0KGgpmbw==");
  CHECK(run.pictures[1].name == "others");
  CHECK(run.pictures[1].shown.at(0).source == "data:image/jpeg;base64,/9j/Zg==");

  part.facts.first_step = 20;
  part.first = part.last = 30;
  write_run(file, part, IfExists::append);
  run = read_run(file);
  REQUIRE(run.pictures.size() == 2);
  CHECK(run.pictures[0].shown.size() == 2);
  CHECK(refusal_of(whole() + "{\"kind\":\"picture\",\"step\":1}\n").find("is damaged") !=
        std::string::npos);
}

TEST_CASE("what is no picture is left out with a note, and of many pictures some are shown") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  write_file(scratch / "text.png", "no picture");
  write_file(scratch / "large.png", std::string((16 << 20) + 1, 'x'));
  write_file(scratch / "a.png", "\x89PNG\r\n\x1a\n");
  write_run(file, {.last = 10, .ends = false});
  {
    const auto sink = json_lines(file, IfExists::append);
    for (const char* name : {"text.png", "large.png", "missing.png"})
      sink->picture({.step = 7, .name = "seen", .file = scratch / name});
    for (std::int64_t step = 0; step < 100; ++step)
      sink->picture({.step = step, .name = "many", .file = scratch / "a.png"});
  }
  write_file(
      file, bytes_of_file(file) +
                "{\"kind\":\"picture\",\"step\":7,\"name\":\"seen\",\"file\":\"a.png\\u0000x\"}\n");
  const LoggedRun run = read_run(file);
  const auto left_out = [&](const char* name, const char* why) {
    return "picture 'seen' of step 7 is left out, since '" + (scratch / name) + "' " + why;
  };
  REQUIRE(run.notes.size() == 4);
  CHECK(run.notes[0] == left_out("text.png", "is neither PNG nor JPEG"));
  CHECK(run.notes[1] == left_out("large.png", "is larger than 16.0 MiB"));
  CHECK(run.notes[2] == left_out("missing.png", "is no file"));
  CHECK(run.notes[3].ends_with("' is no file"));
  REQUIRE(run.pictures.size() == 2);
  CHECK(run.pictures[0].shown.empty());
  CHECK(run.pictures[1].logged == 100);
  std::vector<std::int64_t> steps;
  for (const auto& shown : run.pictures[1].shown) steps.push_back(shown.step);
  CHECK(steps == std::vector<std::int64_t>{0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99});
}

TEST_CASE("the gradients of layers are read, where they are known") {
  MadeUpRun made{.last = 20};
  made.facts.gradient_layers = {"z", "a"};
  made.change = [](LogEntry& entry) {
    entry.layer_gradients = {INFINITY, std::nullopt};
    if (entry.step == 10) entry.layer_gradients = {0.5, 0.25};
  };
  const std::string text = whole(made);
  const LoggedRun run = read_bytes(text);
  REQUIRE(run.layer_gradients.size() == 2);
  CHECK(run.layer_gradients[0].name == "z");
  REQUIRE(run.layer_gradients[0].points.size() == 2);
  CHECK(run.layer_gradients[0].points[0].value == 0.5);
  CHECK(std::isinf(run.layer_gradients[0].points[1].value));
  CHECK(run.layer_gradients[1].points.size() == 1);
  std::string longer = text;
  longer.replace(longer.find("[0.5,0.25]"), 10, "[0.5,0.25,1]");
  CHECK(refusal_of(longer) == "'FILE' is damaged: line 2 is none of a run log; remove that line");
}

TEST_CASE("a part that goes on takes the place of the steps behind its first") {
  MadeUpRun before{.last = 100, .ends = false}, after{.first = 70, .last = 90};
  after.facts.first_step = 60;
  after.facts.seed = 8;
  after.loss = [](std::int64_t) { return 2.0f; };
  const LoggedRun run = read_bytes(whole(before) + whole(after));
  const auto& points = run.losses[0].points;
  REQUIRE(points.size() == 9);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].step == static_cast<std::int64_t>(10 * i + 10));
    CHECK(points[i].value == (i < 6 ? 1.0 : 2.0));
  }
  CHECK(run.facts.seed == 8);
  CHECK(run.last_step == 90);
  CHECK(run.seconds == doctest::Approx(1.0 + 0.9));
  CHECK(run.is_ended);
}

TEST_CASE("a run that is cut off anywhere is read up to there") {
  const std::string text = whole({.last = 30});
  const std::size_t facts_end = first_lines(text, 1).size();
  for (std::size_t size = facts_end; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    const LoggedRun run = read_bytes(cut);
    const auto lines = std::ranges::count(cut, '\n');
    const bool is_torn = cut.back() != '\n' && text[size] != '\n';
    CAPTURE(size);
    CHECK(run.notes.size() == (is_torn ? 1 : 0));
    const std::size_t whole_lines = static_cast<std::size_t>(lines) + (text[size] == '\n' ? 1 : 0);
    const std::size_t entries = run.losses.empty() ? 0 : run.losses[0].points.size();
    CHECK(entries == std::min<std::size_t>(whole_lines - 1, 3));
    CHECK(run.is_ended == (whole_lines == 5));
  }
}

TEST_CASE("a line that was cut off before a run went on is left out") {
  const std::string text = whole({.last = 30, .ends = false});
  MadeUpRun after{.first = 30, .last = 40};
  after.facts.first_step = 20;
  const LoggedRun run = read_bytes(text.substr(0, text.size() - 20) + "\n" + whole(after));
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes[0].starts_with("line 4 of '"));
  CHECK(run.notes[0].ends_with("' cannot be read as JSON and is left out"));
  CHECK(run.losses[0].points.size() == 4);
}

TEST_CASE("lines that were cut off in between are left out") {
  const std::string text = whole({.last = 30}), facts = first_lines(text, 1);
  const std::string rest = text.substr(facts.size());
  const LoggedRun one = read_bytes(facts + rest.substr(0, 40) + "\n" + rest);
  CHECK(one.losses[0].points.size() == 3);
  REQUIRE(one.notes.size() == 1);
  CHECK(one.notes[0].starts_with("line 2 of '"));
  const LoggedRun two = read_bytes(facts + "{\n" + rest + "{\"ki");
  REQUIRE(two.notes.size() == 1);
  CHECK(two.notes[0].starts_with("2 lines of '"));
  CHECK(two.notes[0].ends_with(
      "' cannot be read as JSON and are left out; the first of them is line 2"));
  const LoggedRun large = read_bytes(facts + "{\"kind\":\"end\",\"seconds\":1e400}\n" + rest);
  REQUIRE(large.notes.size() == 1);  // a number that no double holds
  CHECK(large.notes[0].ends_with("' cannot be read as JSON and is left out"));
}

TEST_CASE("whole numbers are read up to the ends of what holds them") {
  const std::string text = whole({.last = 30});
  const auto with = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != text.npos);
    return read_bytes(std::string(text).replace(at, from.size(), to));
  };
  CHECK(with("\"seed\":7,", "\"seed\":18446744073709551615,").facts.seed == 18446744073709551615u);
  CHECK(with("\"step\":30,", "\"step\":9223372036854775807,").losses[0].points.back().step ==
        9223372036854775807);
}

TEST_CASE("what is no run log is refused in one sentence") {
  const std::string text = whole({.last = 30}), facts = first_lines(text, 1);
  const auto with = [&](std::string line, const char* from, const char* to) {
    const auto at = line.find(from);
    REQUIRE(at != line.npos);
    return line.replace(at, std::string(from).size(), to);
  };
  CHECK(refusal_of("") == "'FILE' is empty; name a file that a run log of Halftone wrote");
  for (const std::string& foreign :
       {std::string("x"), std::string("{}\n"), std::string("[]\n"), std::string("\n"),
        std::string("{\"kind\":\"step\"}\n"), std::string("{\"kind\":7}\n"), std::string(100, '\0'),
        std::string("\x89PNG\r\n"), text.substr(0, 50)})
    CHECK(refusal_of(foreign) == kNoLog);
  CHECK(refusal_of(facts + "{\"kind\":\"step\"}\n") ==
        "'FILE' is damaged: line 2 is none of a run log; remove that line");
  for (const char* error : {"\"one\"", "true", "null", "[1]"}) {
    CAPTURE(error);
    CHECK(refusal_of(with(text, "\"error\":1", ("\"error\":" + std::string(error)).c_str())) ==
          "'FILE' is damaged: line 2 is none of a run log; remove that line");
  }
  for (const char* reads : {"[0,3]", "[0,-1]", "[0,0.5]", "[0,true]", "[0,4294967296]", "0"}) {
    CAPTURE(reads);
    CHECK(refusal_of(with(facts, "\"reads\":[0,1]", ("\"reads\":" + std::string(reads)).c_str())) ==
          "'FILE' is damaged: line 1 is none of a run log; remove that line");
  }
  CHECK(refusal_of(with(facts, "\"first_step\":0", "\"first_step\":1e300")) ==
        "'FILE' is damaged: line 1 is none of a run log; remove that line");
  for (const char* step : {"1e300", "-1e300", "10.5", "1e1", "9223372036854775808", "true"}) {
    CAPTURE(step);
    CHECK(refusal_of(with(text, "\"step\":10,", ("\"step\":" + std::string(step) + ',').c_str())) ==
          "'FILE' is damaged: line 2 is none of a run log; remove that line");
  }
  CHECK(refusal_of(with(facts, "\"schema\":1", "\"schema\":2")) ==
        "'FILE' was written by a later Halftone, 0.1.0; use the halftone of that version");
  CHECK(refusal_of(text + with(facts, "\"model\":\"made_up\"", "\"model\":\"other\"")) ==
        "'FILE' has a run of model 'other' behind one of model 'made_up'; give each a file of its "
        "own");
  CHECK(refusal_of(facts + "{\"kind\":\"of later versions\"}\n") == "none");
}

TEST_CASE("a file that is not there, and a folder, are refused in one sentence") {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      (void)read_run(path);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(refusal("/nowhere/run.jsonl") ==
        "there is no file '/nowhere/run.jsonl'; name a file that a run log of Halftone wrote");
  CHECK(refusal("/") ==
        "'/' is a folder or a device; name a file that a run log of Halftone wrote");
}

}  // namespace halftone::tests
