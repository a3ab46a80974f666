// SPDX-License-Identifier: Apache-2.0
// What a search came to, for people.
#include "../text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "search.hpp"

namespace halftone {
namespace {

std::string figure(double value) {
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  std::array<char, 32> text{};
  constexpr int kDigits = 4;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, kDigits);
  return {text.data(), end.ptr};
}

/// "1 rule", "2 rules"
std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent(double share) { return figure(100 * share) + " %"; }

std::string blamed_text(const BlamedRule& blamed) {
  const char* const verdict = blamed.is_confirmed ? "to blame: rule " : "perhaps to blame: rule ";
  std::string text =
      verdict + std::to_string(blamed.number) + ": " + blamed.text +
      "\n  with it, against the rules that are not to blame: " + text_of(blamed.worse_by) +
      (blamed.is_confirmed ? "" : ", which is not beyond what seeds make") + "\n";
  if (!blamed.fields.empty())
    text += "  what of it does the harm: " + joined(blamed.fields, ", ") + "\n";
  if (!blamed.layers.empty()) text += "  where: " + joined(blamed.layers, ", ") + "\n";
  return text;
}

std::string verdict_text(const BisectResult& result) {
  using Verdict = BisectResult::Verdict;
  if (result.verdict == Verdict::no_rule)
    return "no rule is to blame: with all of them the loss is not worse by " +
           figure(result.least) + " or more\n";
  std::string text;
  if (result.verdict == Verdict::unclear && result.blamed.empty())
    text =
        "no rule can be blamed: with all of them the loss is not worse beyond what seeds make; "
        "more seeds would tell smaller differences\n";
  else if (result.verdict == Verdict::unclear)
    text =
        "all rules together are worse, but what the search found was not confirmed on other "
        "seeds; give it more of them\n";
  for (const BlamedRule& blamed : result.blamed) text += blamed_text(blamed);
  if (result.blamed.empty()) return text;
  return text +
         "without what is to blame, against the reference: " + text_of(result.remedy_worse_by) +
         "\n";
}

}  // namespace

const char* word_of(BisectTrial::Outcome outcome) {
  constexpr std::array kWords = {"reference", "as good", "worse", "unclear", "refused"};
  return kWords[static_cast<std::size_t>(outcome)];
}

std::string text_of(const Difference& difference) {
  if (difference.failed > 0) {
    return "not finite from " + std::to_string(difference.failed) + " of " +
           counted(difference.seeds, "seed");
  }
  return (difference.mean < 0 ? "" : "+") + figure(difference.mean) + " (" +
         figure(difference.low) + " to " + figure(difference.high) + ", " +
         counted(difference.seeds, "seed") + ")";
}

std::string text_of(const BisectResult& result) {
  std::string text =
      "model " + result.model + ", " + counted(result.rules.size(), "rule") + " on trial\n";
  text += "reference, " +
          (result.reference.empty() ? std::string("all in f32")
                                    : counted(result.reference.size(), "rule") + " of its own") +
          ": loss " + figure(result.reference_loss) + "\n";
  text += "all rules: " + text_of(result.all_rules) + "\n\n" + verdict_text(result);
  for (const std::string& note : result.notes) text += note + "\n";
  return text + std::to_string(result.trials.size()) +
         " variants were trained; differences are of means, seed by seed, their bounds each at " +
         percent(result.confidence) + " or more\n";
}

}  // namespace halftone
