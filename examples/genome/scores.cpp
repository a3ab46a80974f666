// SPDX-License-Identifier: Apache-2.0
#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <variant>

#include "sizes.hpp"

std::int64_t Confusion::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::int64_t Confusion::labels_of(std::size_t of) const {
  std::int64_t sum = 0;
  for (std::size_t guess = 0; guess < classes_; ++guess) sum += at(of, guess);
  return sum;
}

double Confusion::accuracy() const {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < classes_; ++i) right += at(i, i);
  return static_cast<double>(right) / static_cast<double>(total());
}

double Confusion::majority() const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < classes_; ++i) most = std::max(most, labels_of(i));
  return static_cast<double>(most) / static_cast<double>(total());
}

double Confusion::f1(std::size_t of) const {
  std::int64_t guesses = 0;
  for (std::size_t label = 0; label < classes_; ++label) guesses += at(label, of);
  const std::int64_t both = labels_of(of) + guesses;
  return both == 0 ? 0.0 : 2 * static_cast<double>(at(of, of)) / static_cast<double>(both);
}

double Confusion::mean_f1() const {
  double sum = 0;
  int occurring = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    if (labels_of(i) == 0) continue;
    sum += f1(i);
    ++occurring;
  }
  return sum / occurring;
}

namespace {

std::span<const std::int32_t> labels_of(const halftone::Batch& batch) {
  const auto input = std::ranges::find(batch.inputs, "label", &halftone::NamedValues::name);
  return std::get<std::span<const std::int32_t>>(input->values);
}

}  // namespace

Confusion confusion(halftone::Predictor& predictor, halftone::Loader& rows, std::size_t classes) {
  Confusion told(classes);
  while (const auto batch = rows.next()) {
    predictor.evaluate(batch->inputs);
    const std::span<const float> logits = predictor.output("logits");
    const auto labels = labels_of(*batch);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto label = static_cast<std::size_t>(labels[i]);
      const auto own = logits.subspan(i * classes, classes);
      if (label < classes)
        told.add(label, static_cast<std::size_t>(std::ranges::max_element(own) - own.begin()));
    }
  }
  return told;
}

double bits_per_base(halftone::Predictor& predictor, halftone::Loader& rows) {
  double bits = 0;
  std::int64_t bases = 0;
  while (const auto batch = rows.next()) {
    predictor.evaluate(batch->inputs);
    const std::span<const float> logits = predictor.output("logits");
    const auto labels = labels_of(*batch);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto logit = [&](char base) {
        return static_cast<double>(logits[i * kBytes + static_cast<std::size_t>(base)]);
      };
      double sum = 0;
      for (const char base : {'A', 'C', 'G', 'T'})
        sum += std::exp(logit(base) - logit(static_cast<char>(labels[i])));
      bits += std::log2(sum);
      ++bases;
    }
  }
  return bits / static_cast<double>(bases);
}
