// SPDX-License-Identifier: Apache-2.0
// cross_entropy: D29 and D48, weighted D71 and D72.
#pragma once

#include <limits>
#include <optional>

#include "../mean.hpp"

namespace halftone::reference {

// m, s and the exponentials of D29 for one row.
template <class Scalar>
struct SoftmaxRow {
  Values<Scalar> exponentials;
  Scalar maximum, sum;

  explicit SoftmaxRow(View<Scalar> x) : maximum(row_maximum(x)) {
    for (const Scalar value : x) exponentials.push_back(exp(value - maximum));
    sum = reference::sum(View<Scalar>(exponentials));
  }
};

// The settings that may change the formula.
struct CrossEntropySettings {
  std::optional<double> smoothing, z, cap;

  explicit CrossEntropySettings(const Settings& stated)
      : smoothing(number(stated, "label_smoothing")),
        z(number(stated, "z_loss")),
        cap(number(stated, "soft_cap")) {}

 private:
  static std::optional<double> number(const Settings& stated, const char* name) {
    const auto found = stated.numbers.find(name);
    return found == stated.numbers.end() ? std::nullopt : std::optional(found->second);
  }
};

struct CrossEntropy : LayerKind {
  static constexpr std::string_view word = "cross_entropy";
  static constexpr std::array classes{description::LayerClass::softmax,
                                      description::LayerClass::loss};
  static constexpr std::array internals{std::string_view("probabilities")};

  // D29
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const CrossEntropySettings settings(layer.settings);
    const Values<Scalar> logits = capped(settings, layer["logits"]);
    const Integers& labels = layer.operand("label").integers;
    const std::int64_t n = columns(layer.operand("logits").extents);
    Values<Scalar> terms;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const View<Scalar> x = View<Scalar>(logits).subspan(i * n, n);
      terms.push_back(labels[i] >= 0 && labels[i] < n
                          ? term(settings, x, x[labels[i]])
                          : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN()));
    }
    return mean(layer, terms);
  }

  // D48; a row whose label is outside [0, n) has NaN gradients.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const CrossEntropySettings settings(layer.settings);
    const Values<Scalar> logits = capped(settings, layer["logits"]);
    const Integers& labels = layer.operand("label").integers;
    const std::int64_t n = columns(layer.operand("logits").extents);
    const Arriving<Scalar> s(layer, labels.size(), g[0]);
    Values<Scalar> of_logits(logits.size(), Scalar(0));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (s.passes_over(i)) continue;
      const SoftmaxRow<Scalar> row(View<Scalar>(logits).subspan(i * n, n));
      const Scalar reciprocal = 1 / row.sum;
      for (std::int64_t j = 0; j < n; ++j) {
        const Scalar p = layer.internal("probabilities", row.exponentials[j] * reciprocal);
        const Scalar difference =
            drawn(settings, p, row) - target<Scalar>(settings, j == labels[i], n);
        const Scalar of_capped =
            labels[i] >= 0 && labels[i] < n
                ? s.at(i) * difference
                : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN());
        of_logits[i * n + j] = uncapped(settings, layer["logits"][i * n + j], of_capped);
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("logits")] = std::move(of_logits);
    return gradients;
  }

 private:
  using Stated = CrossEntropySettings;

  // t of D29
  template <class Scalar>
  static Scalar saturated(const Stated& settings, Scalar x) {
    return tanh(x * static_cast<Scalar>(1 / *settings.cap));
  }

  // What stands for x.
  template <class Scalar>
  static Values<Scalar> capped(const Stated& settings, View<Scalar> x) {
    Values<Scalar> logits(x.begin(), x.end());
    if (!settings.cap) return logits;
    for (Scalar& value : logits) {
      value = static_cast<Scalar>(*settings.cap) * saturated(settings, value);
    }
    return logits;
  }

  // l of one row.
  template <class Scalar>
  static Scalar term(const Stated& settings, View<Scalar> x, Scalar picked) {
    const SoftmaxRow<Scalar> row(x);
    const Scalar total = row.maximum + log(row.sum);
    Scalar loss = total - picked;
    if (settings.smoothing) {
      Values<Scalar> below;
      for (const Scalar value : x) below.push_back(value - row.maximum);
      const Scalar others = log(row.sum) - sum(View<Scalar>(below)) / static_cast<Scalar>(x.size());
      const Scalar of_label = static_cast<Scalar>(1 - *settings.smoothing) * loss;
      const Scalar of_all = static_cast<Scalar>(*settings.smoothing) * others;
      loss = of_label + of_all;
    }
    if (settings.z) {
      const Scalar square = total * total, added = static_cast<Scalar>(*settings.z) * square;
      loss = loss + added;
    }
    return loss;
  }

  // p of D48, or p * f.
  template <class Scalar>
  static Scalar drawn(const Stated& settings, Scalar p, const SoftmaxRow<Scalar>& row) {
    if (!settings.z) return p;
    const Scalar total = row.maximum + log(row.sum);
    const Scalar slope = static_cast<Scalar>(2 * *settings.z) * total;
    return p * (1 + slope);
  }

  // What p is compared with.
  template <class Scalar>
  static Scalar target(const Stated& settings, bool is_label, std::int64_t n) {
    if (!settings.smoothing) return is_label ? 1 : 0;
    const Scalar share = static_cast<Scalar>(*settings.smoothing) / static_cast<Scalar>(n);
    return is_label ? static_cast<Scalar>(1 - *settings.smoothing) + share : share;
  }

  template <class Scalar>
  static Scalar uncapped(const Stated& settings, Scalar x, Scalar gradient) {
    if (!settings.cap) return gradient;
    const Scalar t = saturated(settings, x), square = t * t;
    return gradient * (1 - square);
  }
};

}  // namespace halftone::reference
