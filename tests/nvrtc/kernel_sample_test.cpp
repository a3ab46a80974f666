// SPDX-License-Identifier: Apache-2.0
#include "kernel_sample.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>

#include "anonymous_text.hpp"
#include "sampled_chips.hpp"

using namespace halftone::tests;

namespace {

constexpr const char* kJudge = "NVRTC 13.0 with these rules";

/// A text of a shape whose Body has so many lines.
std::string text_of(const std::string& shape, int lines) {
  std::string text = "struct Body {\n";
  for (int i = 0; i < lines; ++i) text += "  float x" + std::to_string(i) + ";\n";
  return text + "};\n  halftone::kernels::" + shape + "::run<Body, 128>(body);\n";
}

struct Jobs {
  std::list<std::string> texts;
  std::vector<KernelJob> all;

  void add(const std::string& name, const std::string& text,
           const std::vector<const char*>& chips) {
    texts.push_back(text);
    for (const char* chip : chips)
      all.push_back({.kernel = name, .chip = chip, .text = &texts.back()});
  }
};

/// Three texts of one shape on four chips, and one of another on one of them.
Jobs some_jobs() {
  Jobs jobs;
  const std::vector<const char*> chips = {"sm_75", "sm_80", "sm_90a", "sm_100a"};
  jobs.add("middle", text_of("row", 5), chips);
  jobs.add("largest", text_of("row", 9), chips);
  jobs.add("narrowest", text_of("row", 1), chips);
  jobs.add("alone", text_of("flat", 4), {"sm_90a"});
  return jobs;
}

std::set<std::string> known_of(const Jobs& jobs) {
  return parse_known(text_of_known("# a comment\n", kJudge, digests_of(jobs.all)), kJudge);
}

std::set<std::string> tried(const KernelSample& sample) {
  std::set<std::string> names;
  for (const KernelJob& job : sample.tried) names.insert(job.kernel + " " + job.chip);
  return names;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("of known texts the largest and the narrowest body of each shape are tried") {
  const Jobs jobs = some_jobs();
  const KernelSample sample = sample_of(jobs.all, known_of(jobs), {"sm_75", "sm_90a"});
  CHECK(sample.unknown == 0);
  CHECK(tried(sample) == Names{"largest sm_75", "largest sm_90a", "narrowest sm_75",
                               "narrowest sm_90a", "alone sm_90a"});
  CHECK(sample.left_out == jobs.all.size() - 5);
}

TEST_CASE("a text that is not known is tried on each of its chips") {
  const Names sampled = {"largest sm_75", "narrowest sm_75"};
  Jobs jobs = some_jobs();
  const std::set<std::string> known = known_of(jobs);
  SUBCASE("since it changed") {
    jobs.texts.front() += "// another\n";
    const KernelSample sample = sample_of(jobs.all, known, {"sm_75"});
    CHECK(sample.unknown == 1);
    Names wanted = sampled;
    for (const char* chip : {"sm_75", "sm_80", "sm_90a", "sm_100a"})
      wanted.insert(std::string("middle ") + chip);
    CHECK(tried(sample) == wanted);
  }
  SUBCASE("since another chip launches it") {
    jobs.all.push_back({.kernel = "alone", .chip = "sm_80", .text = jobs.all.back().text});
    const KernelSample sample = sample_of(jobs.all, known, {"sm_75"});
    CHECK(sample.unknown == 1);
    Names wanted = sampled;
    wanted.insert({"alone sm_80", "alone sm_90a"});
    CHECK(tried(sample) == wanted);
  }
  SUBCASE("nor is any when another compiler or other rules judged them") {
    const std::string list = text_of_known("", kJudge, digests_of(jobs.all));
    const KernelSample sample =
        sample_of(jobs.all, parse_known(list, "NVRTC 13.1 with these rules"), {"sm_75"});
    CHECK(sample.tried.size() == jobs.all.size());
    CHECK(sample.left_out == 0);
  }
}

TEST_CASE("a sample stands for more unknown texts than a commit can try") {
  const Jobs jobs = some_jobs();
  const KernelSample sample = sample_of(jobs.all, {}, {"sm_75"}, 3);
  CHECK(sample.unknown == 4);
  CHECK(sample.stands_for_all);
  CHECK(tried(sample) == Names{"largest sm_75", "narrowest sm_75"});
  CHECK(!sample_of(jobs.all, {}, {"sm_75"}, 4).stands_for_all);
  CHECK(sample_of(jobs.all, {}, {"sm_75"}, 4).tried.size() == jobs.all.size());
}

TEST_CASE("recorded texts are known, and the comments before them stay") {
  const Jobs jobs = some_jobs();
  const std::string list =
      text_of_known("# why\n# what\nanother judge\n0123\n", kJudge, digests_of(jobs.all));
  CHECK(list.starts_with("# why\n# what\n" + std::string(kJudge) + "\n"));
  CHECK(parse_known(list, kJudge).size() == 4);
  CHECK(parse_known("", kJudge).empty());
}

TEST_CASE("neighbouring commits try every chip, sm_75 and sm_90a always") {
  const std::vector<std::string> chips = {"sm_75",   "sm_80",   "sm_86",   "sm_87",
                                          "sm_89",   "sm_90a",  "sm_100a", "sm_103a",
                                          "sm_110a", "sm_120a", "sm_121a"};
  for (const std::size_t others : {1, 2}) {
    for (const unsigned long first : {0ul, 57ul, 1000ul}) {
      std::set<std::string> seen;
      const std::size_t commits = (chips.size() - 2 + others - 1) / others;
      for (unsigned long commit = first; commit < first + commits; ++commit) {
        const auto sampled = sampled_chips(chips, commit, others);
        CHECK(sampled.size() == 2 + others);
        CHECK(sampled.contains("sm_75"));
        CHECK(sampled.contains("sm_90a"));
        seen.insert(sampled.begin(), sampled.end());
      }
      CHECK(seen.size() == chips.size());
    }
  }
}

TEST_CASE("texts that differ in names alone are one") {
  const auto text = [](const std::string& model, const std::string& kernel,
                       const std::string& body) {
    return "// " + model + ": " + kernel + ", row kernel\nstruct Body {" + body +
           "};\nextern \"C\" __global__ void __launch_bounds__(128)\n    halftone_" + kernel +
           "(float* x) {}\n";
  };
  CHECK(anonymous(text("a", "fc1", "")) == anonymous(text("b", "head_gradient", "")));
  CHECK(anonymous(text("a", "fc1", "")) != anonymous(text("a", "fc1", "int i;")));
  const std::string one = text("a", "fc1", "");
  CHECK(std::ranges::count(anonymous(one), '\n') == std::ranges::count(one, '\n'));
}

TEST_CASE("texts that differ in sizes alone are alike, where the same of 8 and chunks hold them") {
  const auto text = [](const std::string& body, const std::string& plan) {
    return "// m: k, row kernel\nstruct Body {\n" + body +
           "};\nextern \"C\" __global__ void\n    " + "halftone_k(float* x) {\n  row::run<Body, " +
           plan + ">(body);\n}\n";
  };
  const auto is_alike = [&](const std::string& a, const std::string& b) {
    return without_sizes(text(a, "128")) == without_sizes(text(b, "128"));
  };
  CHECK(is_alike("return 64;", "return 1024;"));
  CHECK(is_alike("return 7LL;", "return 1009LL;"));
  CHECK(is_alike("return 12;", "return 20;"));
  CHECK(is_alike("return 2048;", "return 4096;"));
  CHECK_FALSE(is_alike("return 1024;", "return 2048;"));
  CHECK_FALSE(is_alike("return 1048576;", "return 2097152;"));
  CHECK_FALSE(is_alike("return 64;", "return 20;"));
  CHECK_FALSE(is_alike("return 64LL;", "return 64;"));
  CHECK_FALSE(is_alike("return 10;", "return 7;"));
  CHECK_FALSE(is_alike("x = input0[0];", "x = input8[0];"));
  CHECK_FALSE(is_alike("x = 1e-05f;", "x = 1e-06f;"));
  CHECK_FALSE(is_alike("x = 0x1p-3f;", "x = 0x1p-4f;"));
  CHECK_FALSE(is_alike("x = 8.0f;", "x = 16.0f;"));
  CHECK(without_sizes(text("", "128")) != without_sizes(text("", "64")));
  CHECK(without_sizes("no Body 64") == anonymous("no Body 64"));
}
