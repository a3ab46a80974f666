// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "../text.hpp"
#include "halftone/error.hpp"
#include "minimize.hpp"
#include "rule_text.hpp"
#include "trials.hpp"

namespace halftone {
namespace {

using Outcome = BisectTrial::Outcome;

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "bisect",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

void require_sound(const RuleList& rules, const BisectOptions& options) {
  if (rules.empty())
    refuse("the model", "has no precision rules",
           "there is nothing to blame, so train it as it is");
  if (options.seeds < 2 || options.most_seeds < options.seeds || options.check_seeds < 2) {
    refuse("the options",
           "have seeds " + std::to_string(options.seeds) + ", most_seeds " +
               std::to_string(options.most_seeds) + " and check_seeds " +
               std::to_string(options.check_seeds),
           "give 2 or more of each, and no fewer most_seeds than seeds");
  }
  if (!(options.confidence > 0.5 && options.confidence < 1))
    refuse("the confidence", "is " + number_text(options.confidence),
           "give one above 0.5 and below 1");
  if (!(options.least >= 0 && std::isfinite(options.least)))
    refuse("the least difference", "is " + number_text(options.least),
           "give a share of the reference's loss, 0 or more");
}

/// "rule 2", "rules 2, 3"
std::string called(const Part& rules) {
  std::string text = rules.size() == 1 ? "rule" : "rules";
  for (const std::size_t& rule : rules)
    text += (&rule == rules.data() ? " " : ", ") + std::to_string(rule + 1);
  return text;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& from, const Part& indices) {
  std::vector<T> some;
  for (const std::size_t i : indices) some.push_back(from[i]);
  return some;
}

Part all_of(std::size_t count) {
  Part all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

class Search {
 public:
  Search(const RuleList& rules, const BisectOptions& options, Variants& variants)
      : rules_(rules), options_(options), variants_(variants), trials_(options, variants) {}

  BisectResult run() {
    train_ends();
    if (all_->outcome == Outcome::worse) {
      blame(minimize(all_of(rules_.size()), [&](const Part& part) {
        return cures("all but " + called(part), without(part));
      }));
    }
    return finished();
  }

 private:
  void train_ends() {
    reference_ = add_end("reference", {});
    all_ = add_end("all rules", rules_);
    reference_->outcome = Outcome::reference;
    // Every seed of the search is judged against it, so it must not fail.
    trials_.judge(*all_, *reference_, 0.0);
    for (const auto& [seed, loss] : reference_->losses) {
      if (!std::isfinite(loss))
        refuse("the reference",
               "does not train: from seed " + std::to_string(seed) + " its loss is not finite",
               "mend what is not the rules' first, such as the learning rate, or name another "
               "reference");
    }
    for (Trial* const trial : {reference_, all_}) {
      said_.insert(trial);
      say(*trial);
    }
    const double loss = trials_.mean_loss(*reference_);
    const double known = std::max(std::abs(loss) / 2, 3 * trials_.deviation(*reference_));
    const Difference& damage = all_->worse_by;
    bound_ = damage.failed > 0 ? known : std::min(damage.mean / 2, known);
  }

  /// Neither may be refused.
  Trial* add_end(const char* name, const RuleList& rules) {
    Trial* const trial = trials_.find_or_add(name, assembled(rules));
    if (trial == nullptr)
      refuse("the options", "have most_variants " + std::to_string(options_.most_variants),
             "give 3 or more");
    if (!trial->refusal.empty())
      refuse("the variant '" + std::string(name) + "'", "is refused: " + trial->refusal,
             "mend the rules");
    return trial;
  }

  [[nodiscard]] RuleList assembled(const RuleList& rules) const {
    RuleList all = options_.reference;
    all.insert(all.end(), rules.begin(), rules.end());
    return all;
  }

  [[nodiscard]] RuleList without(const Part& part) const {
    RuleList rest;
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (std::ranges::find(part, i) == part.end()) rest.push_back(rules_[i]);
    return rest;
  }

  /// Without the blamed rules but one, which is replaced.
  [[nodiscard]] RuleList with(std::size_t rule, const std::string& text) const {
    RuleList rest;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (i == rule) rest.push_back(text);
      if (std::ranges::find(blamed_, i) == blamed_.end()) rest.push_back(rules_[i]);
    }
    return rest;
  }

  Trial* judged(const std::string& name, const RuleList& rules) {
    Trial* const trial = trials_.find_or_add(name, assembled(rules));
    if (trial == nullptr) {
      note("the search ended with " + std::to_string(options_.most_variants) +
           " variants (most_variants); what it names may be more than is to blame");
      return nullptr;
    }
    trials_.judge(*trial, *reference_, bound_);
    if (said_.insert(trial).second) say(*trial);
    return trial;
  }

  bool cures(const std::string& name, const RuleList& rules) {
    const Trial* const trial = judged(name, rules);
    return trial != nullptr && trial->outcome == Outcome::as_good;
  }

  void blame(Part part) {
    blamed_ = std::move(part);
    for (const std::size_t rule : blamed_) {
      BlamedRule& blamed = result_.blamed.emplace_back();
      blamed.number = rule + 1;
      blamed.text = rules_[rule];
      if (options_.narrow) narrow(rule, blamed);
    }
    check();
  }

  void narrow(std::size_t rule, BlamedRule& blamed) {
    const std::string name = called({rule});
    const std::vector<std::string> fields = fields_of_rule(blamed.text);
    if (fields.size() > 1) {
      const Part part = minimize(all_of(fields.size()), [&](const Part& some) {
        return cures(name + " without " + joined(chosen(fields, some), ", "),
                     with(rule, without_fields(blamed.text, some)));
      });
      if (part.size() < fields.size()) blamed.fields = chosen(fields, part);
    }
    std::size_t at = options_.reference.size();
    for (std::size_t i = 0; i < rule; ++i)
      at += std::ranges::find(blamed_, i) == blamed_.end() ? 1 : 0;
    const auto layers = variants_.layers(assembled(with(rule, blamed.text)), at);
    if (layers.size() < 2) return;
    const Part part = minimize(all_of(layers.size()), [&](const Part& some) {
      const std::vector<std::string> names = chosen(layers, some);
      return cures(name + " except " + joined(names, ", "),
                   with(rule, with_exceptions(blamed.text, names)));
    });
    if (part.size() < layers.size()) blamed.layers = chosen(layers, part);
  }

  /// All rules, but for what is to blame.
  [[nodiscard]] RuleList remedy() const {
    RuleList rest;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const auto at = std::ranges::find(blamed_, i);
      if (at == blamed_.end()) {
        rest.push_back(rules_[i]);
        continue;
      }
      const BlamedRule& blamed = result_.blamed[static_cast<std::size_t>(at - blamed_.begin())];
      if (!blamed.layers.empty()) {
        rest.push_back(with_exceptions(blamed.text, blamed.layers));
      } else if (!blamed.fields.empty()) {
        const std::vector<std::string> fields = fields_of_rule(blamed.text);
        Part harmful;
        for (std::size_t f = 0; f < fields.size(); ++f)
          if (std::ranges::find(blamed.fields, fields[f]) != blamed.fields.end())
            harmful.push_back(f);
        rest.push_back(without_fields(blamed.text, harmful));
      }
    }
    return rest;
  }

  /// On seeds that had no part in the search, which would favour what it found.
  void check() {
    Trial* const plain = judged("all but " + called(blamed_), without(blamed_));
    if (plain == nullptr) return;
    const double confidence = 1 - (1 - options_.confidence) / static_cast<double>(blamed_.size());
    for (std::size_t i = 0; i < blamed_.size(); ++i) {
      BlamedRule& blamed = result_.blamed[i];
      Part others = blamed_;
      std::erase(others, blamed_[i]);
      Trial* const with_it = judged(others.empty() ? "all rules" : "all but " + called(others),
                                    with(blamed_[i], blamed.text));
      if (with_it == nullptr) continue;
      blamed.worse_by = checked(*with_it, *plain, confidence);
      blamed.is_confirmed = is_worse(blamed.worse_by);
    }
    remedy_ = judged("remedy", remedy());
    if (remedy_ == nullptr) remedy_ = plain;
    result_.remedy_worse_by = checked(*remedy_, *reference_, options_.confidence);
    if (remedy_ != plain && is_worse(result_.remedy_worse_by)) {
      note("the remedy leaves out " + called(blamed_) +
           " as a whole, since on the check's seeds less does not do");
      remedy_ = plain;
      result_.remedy_worse_by = checked(*plain, *reference_, options_.confidence);
    }
  }

  Difference checked(Trial& trial, Trial& other, double confidence) {
    return trials_.compare(trial, other, options_.first_seed + options_.most_seeds,
                           options_.check_seeds, confidence);
  }

  [[nodiscard]] bool is_worse(const Difference& difference) const {
    return difference.failed > 0 ||
           difference.low > least_difference(options_, trials_.mean_loss(*reference_));
  }

  BisectResult finished() {
    using Verdict = BisectResult::Verdict;
    const bool is_confirmed = std::ranges::any_of(
        result_.blamed, [](const BlamedRule& rule) { return rule.is_confirmed; });
    result_.verdict = all_->outcome == Outcome::as_good ? Verdict::no_rule
                      : is_confirmed                    ? Verdict::blamed
                                                        : Verdict::unclear;
    result_.rules = rules_;
    result_.reference = options_.reference;
    result_.confidence = options_.confidence;
    result_.reference_loss = trials_.mean_loss(*reference_);
    result_.least = least_difference(options_, result_.reference_loss);
    result_.all_rules = all_->worse_by;
    result_.values = all_->values;
    add_curve("reference", reference_);
    add_curve("all rules", all_);
    if (remedy_ != reference_) add_curve("remedy", remedy_);
    if (remedy_ != nullptr) result_.remedy = remedy_->rules;
    for (const auto& trial : trials_.all()) result_.trials.push_back(public_trial(*trial));
    return std::move(result_);
  }

  void add_curve(const char* name, const Trial* trial) {
    if (trial != nullptr && !trial->curve.empty()) result_.curves.emplace_back(name, trial->curve);
  }

  static BisectTrial public_trial(const Trial& trial) {
    BisectTrial shown;
    shown.name = trial.name;
    shown.rules = trial.rules;
    shown.outcome = trial.outcome;
    shown.worse_by = trial.worse_by;
    shown.refusal = trial.refusal;
    for (const auto& [seed, loss] : trial.losses) {
      shown.seeds.push_back(seed);
      shown.losses.push_back(loss);
    }
    return shown;
  }

  void say(const Trial& trial) {
    if (!options_.say) return;
    std::string line = trial.name + ": ";
    if (trial.outcome == Outcome::reference) {
      line += number_text(static_cast<float>(trials_.mean_loss(trial)));
    } else if (trial.outcome == Outcome::refused) {
      line += "refused: " + trial.refusal;
    } else {
      line += text_of(trial.worse_by) + ", " + std::string(word_of(trial.outcome));
    }
    options_.say(line);
  }

  void note(const std::string& text) {
    if (std::ranges::find(result_.notes, text) == result_.notes.end())
      result_.notes.push_back(text);
  }

  const RuleList& rules_;
  const BisectOptions& options_;
  Variants& variants_;
  Trials trials_;
  Trial *reference_ = nullptr, *all_ = nullptr, *remedy_ = nullptr;
  double bound_ = 0.0;
  Part blamed_;
  BisectResult result_;
  std::set<const Trial*> said_;
};

}  // namespace

BisectResult search_rules(const RuleList& rules, const BisectOptions& options, Variants& variants) {
  require_sound(rules, options);
  return Search(rules, options, variants).run();
}

}  // namespace halftone
