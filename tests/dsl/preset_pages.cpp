// SPDX-License-Identifier: Apache-2.0
// Each page of docs/presets/ quotes its source's lists and settings, and states exactly the rules
// of its presets.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "autocast_lists.hpp"
#include "every_kind.hpp"
#include "halftone/description/kind_form.hpp"
#include "models.hpp"
#include "preset_settings.hpp"

namespace {

using namespace halftone::dsl;
using every_kind::every;
using preset_settings::Row;
using preset_settings::Rows;

std::string page(const std::string& name) {
  return halftone::tests::read_text(std::string(HALFTONE_PRESET_PAGES) + "/" + name + ".md");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The rules that a page has in its blocks of code.
std::set<std::string> rules_on(const std::string& name) {
  std::set<std::string> rules;
  bool is_code = false;
  for (const std::string& line : lines_of(page(name))) {
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code && (line.starts_with("everywhere") || line.starts_with("where ")))
      rules.insert(line);
  }
  return rules;
}

constexpr auto phases = stages("warmup", "full", "predict", "correct");

TEST_CASE("pages of lists quote every word of them") {
  const auto quotes = [](const std::string& name,
                         const std::vector<const autocast_lists::Words*>& lists) {
    const std::string text = page(name);
    for (const auto* list : lists) {
      for (const std::string& word : *list) {
        CAPTURE(word);
        CHECK(text.find("`" + word + "`") != text.npos);
      }
    }
  };
  using namespace autocast_lists;
  quotes("torch_autocast", {&torch_cuda.lower, &torch_cuda.full, &torch_cuda.others});
  quotes("torch_autocast_cpu", {&torch_cpu.lower, &torch_cpu.full, &torch_cpu.others});
  quotes("apex", {&apex.lower, &apex.full, &apex.others});
  quotes("tensorflow", {&autocast_lists::tensorflow.allow, &autocast_lists::tensorflow.infer,
                        &autocast_lists::tensorflow.deny, &autocast_lists::tensorflow.clear});
}

TEST_CASE("pages of settings quote each with its value") {
  const auto quotes = [](const std::string& name, const Rows& rows) {
    CAPTURE(name);
    const std::vector<std::string> lines = lines_of(page(name));
    for (const Row& row : rows) {
      CAPTURE(row.back());
      CHECK(std::ranges::any_of(lines, [&](const std::string& line) {
        return std::ranges::all_of(row,
                                   [&](const auto& word) { return line.find(word) != line.npos; });
      }));
    }
  };
  quotes("apex", preset_settings::apex);
  quotes("keras", preset_settings::keras);
  quotes("micikevicius", preset_settings::micikevicius);
  quotes("fp8_delayed", preset_settings::delayed_scaling);
  quotes("fp8_current", preset_settings::current_scaling);
  quotes("fp8_block", preset_settings::block_scaling);
  quotes("mxfp8", preset_settings::mxfp8);
  quotes("nvfp4", preset_settings::nvfp4);
  quotes("deepseek_v3", preset_settings::deepseek_v3);
  quotes("fp8_rowwise", preset_settings::torchao_rowwise);
  quotes("genomic_model", preset_settings::genomic_model);
  quotes("video_diffusion", preset_settings::video_diffusion);
  quotes("forecaster", preset_settings::forecaster);
  quotes("phase_trainer", preset_settings::phase_trainer);
  quotes("graph_framework", preset_settings::graph_framework);
  quotes("allow_deny", preset_settings::allow_deny);
}

TEST_CASE("each page has the rules of its presets, all of them and no others") {
  std::map<std::string, std::set<std::string>> stated;
  const auto states = [&](const std::string& name, const auto& preset, const auto&... settings) {
    for (const std::string& line :
         specs::lines(describe(every, preset, adamw(), settings...), "rule "))
      stated[name].insert(line.substr(5));
  };
  states("torch_autocast", presets::torch_autocast(bf16));
  states("torch_autocast_cpu", presets::torch_autocast_cpu(bf16));
  states("apex", presets::apex_o0());
  states("apex", presets::apex_o1());
  states("apex", presets::apex_o2());
  states("apex", presets::apex_o3());
  states("keras", presets::keras_mixed_float16());
  states("keras", presets::keras_mixed_bfloat16());
  states("keras", presets::keras_float32());
  states("micikevicius", presets::micikevicius());
  states("fp8_current", presets::fp8_current());
  states("fp8_current", presets::fp8_current(op("linear"), f32));
  states("fp8_delayed", presets::fp8_delayed());
  states("fp8_delayed", presets::fp8_delayed(delayed(), op("linear"), f32));
  states("fp8_rowwise", presets::fp8_rowwise());
  states("fp8_rowwise", presets::fp8_rowwise(op("linear"), f32));
  states("fp8_block", presets::fp8_block());
  states("fp8_block", presets::fp8_block(op("linear"), f32));
  states("mxfp8", presets::mxfp8());
  states("deepseek_v3", presets::deepseek_v3());
  states("deepseek_v3", presets::deepseek_v3(op("linear"), f32));
  states("nvfp4", presets::nvfp4());
  states("nvfp4", presets::nvfp4(op("linear"), {.disable_rht = true}));
  states("nvfp4", presets::nvfp4(op("linear"), {.disable_stochastic_rounding = true}));
  states("nvfp4", presets::nvfp4(op("linear"), f8e8m0));
  states("genomic_model", presets::by_chip());
  states("genomic_model", presets::genomic_annotation());
  states("genomic_model", presets::genomic_variant_effect());
  states("genomic_model", presets::genomic_protein_function());
  states("genomic_model", presets::genomic_generation());
  states("genomic_model", presets::genomic_domain_adaptation());
  states("video_diffusion", presets::video_diffusion(bf16));
  states("forecaster", presets::forecaster());
  states("phase_trainer", presets::phases_conservative());
  states("phase_trainer", presets::phases_default(), phases);
  states("phase_trainer", presets::phases_aggressive(), phases);
  states("phase_trainer", presets::phases_custom(bf16, f16, f32, bf16), phases);
  states("graph_framework", presets::graph_framework(bf16));
  states("allow_deny", presets::allow_deny(bf16));
  for (const auto& file : std::filesystem::directory_iterator(HALFTONE_PRESET_PAGES)) {
    const std::string name = file.path().stem();
    if (name == "tensorflow") continue;  // painted
    CAPTURE(name);
    CHECK(!stated[name].empty());
    const std::set<std::string> found = rules_on(name);
    for (const std::string& line : stated[name]) {
      CAPTURE(line);
      CHECK(found.contains(line));
    }
    for (const std::string& line : found) {
      CAPTURE(line);
      CHECK(stated[name].contains(line));
    }
  }
}

using KindsOfLists = std::map<std::string, std::set<std::string>>;

/// Which list each kind of layer and loss is on, by its word.
template <class ListOf>
KindsOfLists kinds_of(const ListOf& list_of) {
  KindsOfLists kinds;
  for (int i = 0; i < halftone::description::kKinds; ++i) {
    const auto kind = static_cast<halftone::description::Kind>(i);
    if (!halftone::description::is_computed(kind)) continue;
    const std::string word = halftone::description::form_of(kind).word;
    kinds[list_of(word)].insert(word);
  }
  return kinds;
}

/// Of the page's lines "| LIST | KIND, KIND |" those of these lists.
KindsOfLists kinds_on(const std::string& name, const KindsOfLists& lists) {
  KindsOfLists found;
  for (const std::string& line : lines_of(page(name))) {
    const std::size_t second = line.find(" | ");
    if (!line.starts_with("| ") || second == line.npos || !line.ends_with(" |")) continue;
    const std::string list = line.substr(2, second - 2);
    if (!lists.contains(list)) continue;
    std::istringstream words(line.substr(second + 3, line.size() - second - 5));
    for (std::string word; std::getline(words >> std::ws, word, ',');) found[list].insert(word);
  }
  return found;
}

TEST_CASE("tensorflow's page lists the kinds that are painted so") {
  constexpr auto rules = presets::tensorflow(f16);
  const auto& lists = rules.rules[0].lists;
  const KindsOfLists expected = kinds_of([&](const std::string& word) {
    const auto set = op(word.c_str()).clauses[0].ops;
    const auto on = [&](const auto& list) { return (list & set).any(); };
    return on(lists.allow)   ? "allow"
           : on(lists.infer) ? "infer"
           : on(lists.deny)  ? "deny"
           : on(lists.clear) ? "clear"
                             : "none";
  });
  CHECK(kinds_on("tensorflow", expected) == expected);
}

TEST_CASE("allow_deny's page lists the kinds that compute in each format by its rules") {
  const auto preset = presets::allow_deny(bf16);
  const auto& rules = preset.rules;
  const auto names = [](const Rule& rule, const std::string& word) {
    const auto kind = op(word.c_str()).clauses[0].ops;
    const auto& selector = rule.selector;
    return std::any_of(selector.clauses, selector.clauses + selector.size, [&](const auto& clause) {
      return (halftone::description::rules::ops_of_classes(clause.classes) & kind).any();
    });
  };
  const KindsOfLists expected = kinds_of([&](const std::string& word) {
    return names(rules[2], word) ? "deny" : names(rules[1], word) ? "allow" : "none";
  });
  CHECK(kinds_on("allow_deny", expected) == expected);
}

}  // namespace
