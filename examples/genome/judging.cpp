// SPDX-License-Identifier: Apache-2.0
#include "judging.hpp"

#include <cstdio>
#include <halftone/loader.hpp>
#include <string>

#include "markov.hpp"
#include "scores.hpp"
#include "training.hpp"

namespace {

halftone::Predictor trained(const Task& of, const RuleSet& rules, const halftone::Device& device,
                            const std::filesystem::path& weights) {
  halftone::Predictor predictor = predictor_of(rules.artifact, device, of.length, of.batch);
  predictor.load_weights(weights);
  return predictor;
}

halftone::Loader held_out(const Task& of, const std::filesystem::path& folder) {
  return {rows_of(of, folder, of.judged), {.batch = of.batch, .shuffle = false}};
}

void print_classes(const Task& of, const Confusion& told) {
  std::printf("accuracy %.3f, F1 %.3f; the most frequent class %.3f\n", told.accuracy(),
              told.mean_f1(), told.majority());
  for (std::size_t i = 0; i < of.classes.size(); ++i)
    std::printf("  %-38s F1 %.3f of %lld\n", of.classes[i].c_str(), told.f1(i),
                static_cast<long long>(told.labels_of(i)));
}

/// Of the bases that the windows of `held_out` ask for.
double bits_of_markov(const Task& of, const Markov& chain, const std::filesystem::path& folder) {
  const std::string text = read_text(folder / (of.judged + ".tok"));
  const auto asked = static_cast<std::size_t>(rows_of(of, folder, of.judged).rows() * of.length);
  return chain.bits_per_base(std::string_view(text).substr(0, asked + 1),
                             static_cast<std::size_t>(chain.order() + 1));
}

}  // namespace

void judge(const Task& of, const halftone::Device& device, const std::filesystem::path& folder) {
  const auto line = [&](const char* what, const RuleSet& rules) {
    std::printf("%-12s %-8s %-5s ", of.name.c_str(), what, rules.name.c_str());
  };
  const auto bits = [&](const char* what, const RuleSet& rules,
                        const std::filesystem::path& weights) {
    halftone::Predictor predictor = trained(of, rules, device, weights);
    halftone::Loader rows = held_out(of, folder);
    line(what, rules);
    std::printf("%.4f bits a base\n", bits_per_base(predictor, rows));
  };
  const RuleSet* rules = trained_rules(folder, of, false);
  if (rules == nullptr) {
    std::printf("%-12s is not trained\n", of.name.c_str());
    return;
  }
  const auto weights = file_of(folder, of, false, *rules, ".safetensors");
  if (!of.classes.empty()) {
    halftone::Predictor predictor = trained(of, *rules, device, weights);
    halftone::Loader rows = held_out(of, folder);
    line("", *rules);
    return print_classes(of, confusion(predictor, rows, of.classes.size()));
  }
  if (!of.begins_with.empty()) {
    const Task& before = task(of.begins_with);
    if (const RuleSet* had = trained_rules(folder, before, false))
      bits("before", *rules, file_of(folder, before, false, *had, ".safetensors"));
    if (const RuleSet* fresh = trained_rules(folder, of, true))
      bits("fresh", *fresh, file_of(folder, of, true, *fresh, ".safetensors"));
  }
  bits(of.begins_with.empty() ? "" : "after", *rules, weights);
  const Markov chain = best_markov(read_text(folder / (of.counted + ".tok")));
  std::printf("%-12s Markov chain of order %d: %.4f bits a base\n", of.name.c_str(), chain.order(),
              bits_of_markov(of, chain, folder));
}
