// SPDX-License-Identifier: Apache-2.0
// P66: the stages of a run, and the rules that speak of them.
#include "halftone/description/stages.hpp"

#include <algorithm>

#include "faults.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

bool is_among(const std::vector<std::string>& stages, const std::string& name) {
  return std::find(stages.begin(), stages.end(), name) != stages.end();
}

/// "predict" and "correct"
std::string listed(const std::vector<std::string>& stages) {
  std::string text;
  for (const std::string& stage : stages) text += (text.empty() ? "" : ", ") + quoted(stage);
  return text;
}

Sentence declaration_fault(const std::vector<std::string>& stages) {
  if (stages.size() > static_cast<std::size_t>(kMostStages)) {
    return "the model has " + std::to_string(stages.size()) + " stages; leave it " +
           std::to_string(kMostStages) + " or fewer (P66)";
  }
  std::vector<std::string> before;
  for (const std::string& stage : stages) {
    const bool is_whole = stage.find('\0') == stage.npos;
    if (!is_whole || !is_stage_name(stage.c_str())) {
      return "the stage " + quoted(stage) +
             " has no usable name; write letters, digits, '_' and '-' (P66)";
    }
    if (is_among(before, stage)) {
      return "the stage " + quoted(stage) + " is declared twice; remove one (P66)";
    }
    before.push_back(stage);
  }
  return std::nullopt;
}

/// A stage that the rule speaks of and that is not declared.
const std::string* undeclared(const Rule& rule, const std::vector<std::string>& stages) {
  for (const std::vector<Clause>* clauses : {&rule.clauses, &rule.exceptions}) {
    for (const Clause& clause : *clauses) {
      for (const std::string& stage : clause.stages) {
        if (!is_among(stages, stage)) return &stage;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Fault> stages_fault(const Description& description) {
  const std::vector<std::string>& stages = description.stages;
  if (Sentence fault = declaration_fault(stages)) return Fault{Section::stages, 0, -1, *fault};
  for (std::size_t i = 0; i < description.rules.size(); ++i) {
    const std::string* stage = undeclared(description.rules[i], stages);
    if (!stage) continue;
    const std::string remedy = stages.empty() ? "declare it: stages " + quoted(*stage)
                                              : "its stages are " + listed(stages);
    return Fault{Section::rule, i, -1,
                 "the rule " + quoted(spelled(description.rules[i])) + " speaks of the stage " +
                     quoted(*stage) + ", which the model does not have; " + remedy + " (P66)"};
  }
  return std::nullopt;
}

}  // namespace halftone::description::detail
