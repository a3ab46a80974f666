// SPDX-License-Identifier: Apache-2.0
// `halftone report`: the page's text, and the command. What a browser draws of it: browse_page.
#include "report/page.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "../../runtime/files/scratch_folder.hpp"
#include "../run_tool.hpp"
#include "run_files.hpp"

namespace halftone::tests {
namespace {

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (auto at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

bool has(const std::string& text, const std::string& piece) { return count_of(text, piece) > 0; }

std::string page_of_runs(const std::vector<MadeUpRun>& runs,
                         const tools::PageOptions& options = {}) {
  const ScratchFolder scratch;
  std::vector<tools::LoggedRun> logged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string file = scratch / (std::to_string(i) + ".jsonl");
    write_run(file, runs[i]);
    logged.push_back(tools::read_run(file));
  }
  return tools::page_of(logged, options);
}

std::string page_of_file(const std::string& file) {
  const std::vector<tools::LoggedRun> runs = {tools::read_run(file)};
  return tools::page_of(runs, {});
}

MadeUpRun run_named(const std::string& name) {
  MadeUpRun run;
  run.facts.name = name;
  return run;
}

Outcome report(const std::string& arguments) { return run_tool("report " + arguments); }

/// The page, once it holds that.
std::string wait_for(const std::string& page, const std::string& piece) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = bytes_of_file(page);
    if (has(text, piece)) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

}  // namespace

TEST_CASE("a page shows figures, charts, memory, kernels and casts of a run") {
  MadeUpRun run;
  run.change = [](LogEntry& entry) {
    if (entry.step == 500) entry.metrics = {{"held-out/accuracy", 0.75}};
    if (entry.step == 700) entry.skipped = 1;
    if (entry.step >= 700) entry.skipped_steps = 1;
  };
  const std::string page = page_of_runs({run});
  CHECK(has(page, "<h1>Run first</h1>"));
  CHECK(has(page, "<tr><th>steps</th><td>1,000</td></tr>"));
  CHECK(has(page, "<tr><th>last error</th><td>1</td></tr>"));
  CHECK(has(page, "<tr><th>last held-out/accuracy</th><td>0.75</td></tr>"));
  CHECK(has(page, "<tr><th>time per step, median</th><td>10 ms</td></tr>"));
  CHECK(has(page, "<tr><th>skipped steps</th><td>1</td></tr>"));
  CHECK(has(page, "<tr><th>memory</th><td>13.0 KiB</td></tr>"));
  CHECK(has(page, "<td>cpu: a &quot;made-up&quot; &lt;processor&gt; &amp; 2 threads</td>"));
  for (const char* title : {"error", "held-out/accuracy", "Loss scale; triangles: skipped steps",
                            "Gradient norm, before clipping", "Learning rate",
                            "Time per step, all between steps included"})
    CHECK(count_of(page, std::string("<figcaption>") + title + "</figcaption>") == 1);
  CHECK(has(page, "<title>first, step 700: 1 skipped</title>"));
  CHECK(has(page, "8.00 KiB"));
  CHECK(has(page, "<svg class=\"graph\""));
  CHECK(has(page, "<title>parameters: f32, read</title>"));
  CHECK(has(page, "<title>fc: f16, written</title>"));
  CHECK(has(page, "<li><code>where class loss : compute f32</code></li>"));
  CHECK(has(page, "<td>fc_forward</td><td>no</td>"));
}

TEST_CASE("a page shows the gradient of every layer, by its logarithm") {
  MadeUpRun run;
  CHECK_FALSE(has(page_of_runs({run}), "Gradients by layer"));
  run.facts.gradient_layers = {"faint", "strong", "<dead>"};
  run.change = [](LogEntry& entry) {
    entry.layer_gradients = {1e-6, 1.0, 0.0};
    if (entry.step == 500) entry.layer_gradients = {std::nullopt, INFINITY, std::nullopt};
  };
  const std::string page = page_of_runs({run});
  CHECK(count_of(page, "<h2>Gradients by layer</h2>") == 1);
  CHECK(has(page, "From 1e-06, faint, to 1, strong, by the logarithm; red: not finite."));
  CHECK(has(page, "<title>faint: 1e-06 to 1e-06, median 1e-06</title>"));
  CHECK(has(page, "<title>&lt;dead&gt;: 0 to 0, median 0</title>"));
  // Steps 10 to 1000 in 200 columns of 4 behind 200: 500 is in column 98, and 510 in 101.
  CHECK(count_of(page, "<path class=\"spoiled\" d=\"M592 12h12v11h-12z\"/>") == 1);
  CHECK(has(page, "d=\"M200 0h800v11h-800z\" fill-opacity=\"0.111\"/>"));
  CHECK(has(page, "d=\"M200 12h392v11h-392zM604 12h396v11h-396z\" fill-opacity=\"1\"/>"));
  CHECK(has(page, "d=\"M200 24h800v11h-800z\" fill-opacity=\"0.03\"/>"));
}

TEST_CASE("a page shows what roundings lose, step by step, and why a stage was entered") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  write_run(file, {.last = 100, .ends = false});
  CHECK_FALSE(has(page_of_file(file), "What roundings do"));
  ValueStatistics value{.layer = "fc<1>", .op = "cast", .pass = "forward", .role = "activation"};
  value.elements = 8;
  value.zeros = 3;
  value.flushed = 1;
  value.format = "f16";
  value.error = 0.125;
  value.first_exponent_before = -26;  // two below f16's least subnormal number, 2^-24
  value.exponents_before = {4, 0, 2, 0, 0, 1};
  ValueStatistics other = value;
  other.layer = "sound";
  other.flushed = 0;
  other.exponents_before = {};
  other.first_exponent = 0;
  other.exponents = {8};
  {
    const auto sink = json_lines(file, IfExists::append);
    sink->values({.step = 10, .values = {value, other}});
    value.flushed = 3;
    sink->values({.step = 100, .seconds = 0.25, .values = {value, other}});
    sink->switched({.step = 50, .from = "f8", .to = "bf16", .why = "<too much>"});
  }
  const std::string page = page_of_file(file);
  CHECK(count_of(page, "<h2>What roundings do</h2>") == 1);
  CHECK(has(page, "<li>after step 50 from f8 to bf16: &lt;too much&gt;</li>"));
  // Of 8 - (3 - 1) and 8 - (3 - 3) that were not 0; what loses nothing has no row.
  CHECK(
      has(page, "From 0.167, faint, to 0.375, strong, by the logarithm; a share of its elements."));
  CHECK(has(page,
            "<title>fc&lt;1&gt; activation, forward, f16: 0.167 to 0.375, median 0.375</title>"));
  CHECK_FALSE(has(page, "<title>sound"));
  CHECK(has(page, "<p>Nothing in any sample.</p>"));  // of what overflowed
  CHECK(has(page, "<h4>Step 100</h4>"));
  CHECK(has(page, "<td class=\"number\">37.5 %</td>"));
  CHECK(has(page, "from 2^-26 to 2^0; red"));
  // 2^-26 is out of f16's range, 2^-24 the least it has.
  CHECK(count_of(page, "<path class=\"spoiled\" d=\"M0 0h4v14h-4z\"/>") == 1);
  CHECK(count_of(page, "<path class=\"norm\" d=\"M10 7h4v7h-4z\"/>") == 1);
  CHECK(has(page, "2 samples, which took 0.25 seconds."));
}

TEST_CASE("a page needs nothing beside it") {
  const std::string page = page_of_runs({run_named("a"), run_named("b")});
  for (const char* piece : {"src=", "href=", "url(", "@import", "http", "fetch("})
    CHECK_FALSE(has(page, piece));
}

TEST_CASE("pictures are in the page, each with its step") {
  const ScratchFolder scratch;
  write_file(scratch / "a.png", "\x89PNG\r\n\x1a\n");
  const std::string file = scratch / "run.jsonl";
  write_run(file, {.last = 10, .ends = false});
  CHECK_FALSE(has(page_of_file(file), "<h2>Pictures</h2>"));
  for (const std::int64_t step : {5, 10})
    json_lines(file, IfExists::append)
        ->picture({.step = step, .name = "a <b>", .file = scratch / "a.png"});
  std::string page = page_of_file(file);
  CHECK(has(page, "<h2>Pictures</h2>"));
  CHECK(has(page,
            "<figure class=\"picture\"><figcaption>a &lt;b&gt;, step 5</figcaption><img alt=\"a "
            "&lt;b&gt;, step 5\" src=\"data:image/png;base64,iVBORw0KGgo=\"></figure>"));
  CHECK(count_of(page, "src=") == 2);
  CHECK_FALSE(has(page, " pictures, the first and the last"));
  for (std::int64_t step = 11; step < 41; ++step)
    json_lines(file, IfExists::append)
        ->picture({.step = step, .name = "a <b>", .file = scratch / "a.png"});
  page = page_of_file(file);
  CHECK(count_of(page, "src=\"data:image/png;base64,") == 12);
  CHECK(has(page, "<p>12 of 32 pictures, the first and the last among them.</p>"));
}

TEST_CASE("several runs share charts, and names that are equal are told apart") {
  const std::string page = page_of_runs({run_named("a"), run_named("b"), run_named("a")});
  CHECK(has(page, "<h1>3 runs: a (0.jsonl), b, a (2.jsonl)</h1>"));
  CHECK(count_of(page, "<figcaption>error</figcaption>") == 1);
  CHECK(count_of(page, "<details") == 3);
  CHECK(has(page, "<td colspan=\"3\">made_up</td>"));
}

TEST_CASE("runs without a loss scale are not in its chart") {
  const auto curves_of_scale = [](const std::vector<MadeUpRun>& runs) -> std::string {
    const std::string page = page_of_runs(runs);
    const auto at = page.find("Loss scale; ");
    if (at == page.npos) return "no chart";
    const auto begin = page.find("\"curves\":", at);
    return page.substr(begin, page.find('}', begin) - begin);
  };
  MadeUpRun with{.last = 10}, without{.last = 10};
  without.facts.loss_scale = "none";
  CHECK(curves_of_scale({without, with}) == "\"curves\":[[],[[10,65536]]]");
  CHECK(curves_of_scale({without}) == "no chart");
}

TEST_CASE("charts have the steps of all runs") {
  MadeUpRun shorter{.first = 200, .last = 500}, one;
  one.change = [](LogEntry& entry) {
    if (entry.step == 700) entry.metrics = {{"accuracy", 0.5}};
  };
  const std::string page = page_of_runs({shorter, one});
  CHECK(count_of(page, "{\"first\":10,\"last\":1000,") == 6);
  CHECK(has(page, "class=\"line c1 dot\""));
}

TEST_CASE("names cannot become markup") {
  MadeUpRun run = run_named("<script>alert(1)</script>");
  run.facts.buffers[0].name = run.facts.kernels[0].name = run.facts.kernels[0].fused =
      run.facts.rules[0] = run.facts.variant = run.facts.memory[0].role =
          run.facts.memory[0].format = run.facts.buffers[0].format = run.facts.casts[0].to =
              "\"><script>alert(2)</script>";
  run.change = [](LogEntry& entry) {
    entry.losses = {{"</title><script>alert(3)</script>", 1.0f}};
    entry.metrics = {{"<script>alert(4)</script>", 1.0}};
  };
  CHECK_FALSE(has(page_of_runs({run}), "<script>alert"));
}

TEST_CASE("runs without steps, of one step and with nothing finite have a page") {
  MadeUpRun none{.last = 0}, one{.last = 10}, spoiled;
  spoiled.loss = [](std::int64_t) { return std::numeric_limits<float>::quiet_NaN(); };
  none.facts.kernels.clear();
  none.facts.memory.clear();
  none.facts.casts.clear();
  CHECK(has(page_of_runs({none}), "No step is logged yet."));
  CHECK(has(page_of_runs({one}), "<figcaption>error</figcaption>"));
  CHECK(has(page_of_runs({spoiled}), "<th>last error</th><td>NaN</td>"));
  CHECK(has(page_of_runs({none, one, spoiled}), "3 runs"));
}

TEST_CASE("a long run makes no long page") {
  MadeUpRun run{.last = 1'000'000};
  run.loss = [](std::int64_t step) { return 1.0f + static_cast<float>(step % 97) / 97; };
  CHECK(page_of_runs({run}).size() < 400'000);
}

TEST_CASE("the command writes a page beside the run, or where it is told to") {
  const ScratchFolder scratch;
  write_run(scratch / "run.jsonl", {});
  const Outcome outcome = report("'" + scratch / "run.jsonl" + "'");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == scratch.path() + "/run.html\n");
  CHECK(outcome.errors == "");
  CHECK(has(bytes_of_file(scratch / "run.html"), "<body data-reload=\"0\">"));
  CHECK(report(scratch / "run.jsonl" + " " + scratch / "run.jsonl" + " --output " +
               scratch / "other.html")
            .status == 0);
  CHECK(has(bytes_of_file(scratch / "other.html"), "<h1>2 runs: "));
}

TEST_CASE("the command says what it left out, and refuses in one sentence") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  write_run(file, {.ends = false});
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  const Outcome torn = report(file);
  CHECK(torn.status == 0);
  CHECK(torn.errors ==
        "halftone: line 101 of '" + file + "' cannot be read as JSON and is left out\n");
  write_file(scratch / "foreign.jsonl", "x\n");
  struct Case {
    std::string arguments, sentence;
  };
  for (const Case& c :
       {Case{scratch / "foreign.jsonl", "'" + scratch.path() +
                                            "/foreign.jsonl' is no run log; name a file that a run "
                                            "log of Halftone wrote"},
        Case{file + " --output " + file,
             "the page '" + file +
                 "' would take the place of a run; name another file with "
                 "--output"},
        Case{
            file + " --output " + scratch / "no/page.html",
            "report: file '" + scratch.path() +
                "/no/page.html' cannot be written, since its folder cannot be opened: No such file "
                "or directory; check the path, and make its folder first"}}) {
    CAPTURE(c.arguments);
    const Outcome outcome = report(c.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output == "");
    CHECK(outcome.errors == "halftone: " + c.sentence + "\n");
  }
  CHECK(report("").status == 2);
  CHECK(report(file + " --seconds 3").status == 2);
  CHECK(bytes_of_file(file).starts_with("{\"kind\":\"run\""));
}

TEST_CASE("a page that follows a run is written again until the run has ended") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl", page = scratch / "run.html";
  write_run(file, {.last = 100, .ends = false});
  std::thread follower([&] {
    const Outcome outcome = report(file + " --follow --seconds 1");
    CHECK(outcome.status == 0);
    CHECK(outcome.output == page + ", which follows the runs\n" + page + "\n");
  });
  const std::string first = wait_for(page, "<th>steps</th><td>100</td>");
  CHECK(has(first, "<body data-reload=\"1\">"));
  {
    MadeUpRun rest{.first = 110, .last = 200};
    rest.facts.first_step = 100;
    write_run(file, rest, IfExists::append);
  }
  follower.join();
  const std::string last = bytes_of_file(page);
  CHECK(has(last, "<th>steps</th><td>200</td>"));
  CHECK(has(last, "<body data-reload=\"0\">"));
}

}  // namespace halftone::tests
