// SPDX-License-Identifier: Apache-2.0
// bisect.json read back, and the page that is made of it.
#include "report/bisect_page.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "../../runtime/files/scratch_folder.hpp"
#include "../run_tool.hpp"
#include "report/bisect_file.hpp"

namespace halftone::tests {
namespace {

using Outcome = BisectTrial::Outcome;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

BisectResult made_up() {
  BisectResult result;
  result.verdict = BisectResult::Verdict::blamed;
  result.model = "letters <x>";
  result.rules = {"everywhere : store bf16", "where layer \"fc1\" : store f16 compute f16"};
  result.reference = {"everywhere : compute tf32"};
  result.confidence = 0.95;
  result.reference_loss = 0.5;
  result.least = 0.005;
  result.all_rules = {.seeds = 2, .failed = 1, .mean = 0.25, .low = -kInfinity, .high = kInfinity};
  BlamedRule blamed;
  blamed.number = 2;
  blamed.text = result.rules[1];
  blamed.worse_by = {.seeds = 6, .mean = 0.3, .low = 0.25, .high = 0.35};
  blamed.is_confirmed = true;
  blamed.fields = {"store f16"};
  blamed.layers = {"fc1"};
  result.blamed = {blamed};
  result.remedy = {"everywhere : store bf16"};
  result.remedy_worse_by = {.seeds = 6, .mean = 0.001, .low = -0.01, .high = 0.012};
  BisectTrial reference;
  reference.name = "reference";
  reference.rules = result.reference;
  reference.outcome = Outcome::reference;
  reference.seeds = {1, 2};
  reference.losses = {0.4, 0.6};
  BisectTrial all;
  all.name = "all rules";
  all.rules = result.rules;
  all.outcome = Outcome::worse;
  all.seeds = {1, 2};
  all.losses = {0.65, std::nan("")};
  all.worse_by = result.all_rules;
  BisectTrial refused;
  refused.name = "all but rule 1";
  refused.outcome = Outcome::refused;
  refused.refusal = "no such \"layer\"";
  result.trials = {reference, all, refused};
  result.notes = {"a note"};
  result.curves = {{"reference", {{1, 2.0}, {2, 0.5}}}, {"all rules", {{1, 2.0}, {2, kInfinity}}}};
  ValueStatistics value{.layer = "fc1", .op = "cast", .pass = "forward", .role = "activation"};
  value.elements = 8;
  value.zeros = 2;
  value.infinite = 1;
  value.least = 0.25;
  value.greatest = 2.0;
  value.first_exponent = -2;
  value.exponents = {1, 0, 3, 1};
  value.format = "f16";
  value.rule = result.rules[1];
  value.error = 0.125;
  value.flushed = 2;
  value.overflowed = 1;
  result.values = {value};
  return result;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST_CASE("a search is read back as it was written") {
  const ScratchFolder scratch;
  const BisectResult written = made_up();
  save(written, scratch / "bisect.json");
  CHECK(tools::is_bisect(scratch / "bisect.json"));
  const BisectResult result = tools::read_bisect(scratch / "bisect.json");
  CHECK(result.verdict == written.verdict);
  CHECK(result.model == written.model);
  CHECK(result.rules == written.rules);
  CHECK(result.reference == written.reference);
  CHECK(result.confidence == 0.95);
  CHECK(result.reference_loss == 0.5);
  CHECK(result.least == 0.005);
  CHECK(result.all_rules.failed == 1);
  CHECK(result.all_rules.low == -kInfinity);
  CHECK(result.all_rules.high == kInfinity);
  REQUIRE(result.blamed.size() == 1);
  CHECK(result.blamed[0].number == 2);
  CHECK(result.blamed[0].is_confirmed);
  CHECK(result.blamed[0].fields == written.blamed[0].fields);
  CHECK(result.blamed[0].layers == written.blamed[0].layers);
  CHECK(result.blamed[0].worse_by.low == 0.25);
  CHECK(result.remedy == written.remedy);
  CHECK(result.remedy_worse_by.high == 0.012);
  REQUIRE(result.trials.size() == 3);
  CHECK(result.trials[1].seeds == written.trials[1].seeds);
  CHECK(result.trials[1].losses[0] == 0.65);
  CHECK(std::isnan(result.trials[1].losses[1]));
  CHECK(result.trials[2].outcome == Outcome::refused);
  CHECK(result.trials[2].refusal == written.trials[2].refusal);
  CHECK(result.notes == written.notes);
  REQUIRE(result.curves.size() == 2);
  CHECK(result.curves[0].second[1].loss == 0.5);
  CHECK(result.curves[1].second[1].loss == kInfinity);
  REQUIRE(result.values.size() == 1);
  CHECK(result.values[0].exponents == written.values[0].exponents);
  CHECK(result.values[0].first_exponent == -2);
  CHECK(result.values[0].rule == written.rules[1]);
  CHECK(result.values[0].flushed == 2);
  CHECK(text_of(result) == text_of(written));
}

TEST_CASE("the page tells what is to blame, the variants, the curves and the values") {
  const std::string page = tools::page_of(made_up());
  CHECK(has(page, "<h1>Rules of letters &lt;x&gt;</h1>"));
  CHECK(has(page, "to blame: rule 2: where layer &quot;fc1&quot; : store f16 compute f16"));
  CHECK(has(page, "where: fc1"));
  CHECK(has(page, "<pre>rule everywhere : store bf16\n</pre>"));
  CHECK(has(page, "<figcaption>Loss, first seed</figcaption>"));
  CHECK(has(page, "<title>all rules: worse\neverywhere : store bf16\n"));
  CHECK(has(page, "all but rule 1: refused, no such &quot;layer&quot;"));
  CHECK(has(page, "<td class=\"f16\">f16</td><td class=\"number\">0.125</td>"));
  CHECK(has(page, "<td class=\"number\">25 %</td><td class=\"number\">12.5 %</td>"));
  CHECK(has(page, "from 2^-2 to 2^1"));
  // A dot for every seed: two of all rules, the failed one at the right edge, none of what was
  // refused.
  const std::size_t first = page.find("class=\"mark c5\""),
                    second = page.find("class=\"mark c5\"", first + 1);
  CHECK(first != page.npos);
  CHECK(second != page.npos);
  CHECK(page.find("class=\"mark c5\"", second + 1) == page.npos);
  CHECK(has(page.substr(second, 80), "cx=\"784\""));
}

TEST_CASE("files that are no search are told apart, and damaged ones refused") {
  const ScratchFolder scratch;
  const std::string file = scratch / "bisect.json";
  CHECK_FALSE(tools::is_bisect(file));
  save(made_up(), file);
  const std::string whole = read(file);
  const auto said = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    const tests::Outcome outcome = run_tool("report '" + file + "'");
    CHECK(outcome.status == 2);
    return outcome.errors;
  };
  const std::string damaged = "halftone: '" + file + "' is damaged; write it again\n";
  CHECK(said(whole.substr(0, whole.size() / 2)) == damaged);
  CHECK(said("{\"kind\":\"bisect\",\"schema\":1}") == damaged);
  std::string other = whole;
  other.replace(other.find("\"blamed\","), 9, "\"guilty\",");
  CHECK(said(other) == damaged);
  for (const char* count : {"1e300", "0.5"}) {  // whatever json would cast it to
    other = whole;
    const auto at = other.find("\"seeds\":") + 8;
    REQUIRE(other[at] != '[');
    other.replace(at, other.find_first_of(",}", at) - at, count);
    CHECK(said(other) == damaged);
  }
  CHECK(said("{\"kind\":\"bisect\",\"schema\":1e300}") == damaged);
  CHECK(said("{\"kind\":\"bisect\",\"schema\":2}") ==
        "halftone: '" + file +
            "' was written by a later Halftone; use the halftone of that version\n");
}

}  // namespace
}  // namespace halftone::tests
