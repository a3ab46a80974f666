// SPDX-License-Identifier: Apache-2.0
// What of an audit is worth a look, and what can be done about it.
#include "codegen/audit/Audit.h"

#include <limits>
#include <utility>

#include "halftone/encoding/text.hpp"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace halftone::audit {

using encoding::Element;

namespace {

std::string shortly(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

std::string ruleOf(const Audited &value) {
  return value.rule < 0 ? "the default" : "rule " + std::to_string(value.rule + 1);
}

bool isGradient(const Audited &value) {
  return value.role == ir::ValueRole::Gradient || value.role == ir::ValueRole::WeightGradient;
}

/// Formats whose lower end is near enough to 1 for numbers of a model to get there.
bool isNarrowAtLowerEnd(const encoding::Encoding &encoding) {
  return !encoding::is_scaled(encoding) && encoding::is_narrow(encoding.element) &&
         Format(encoding.element).leastNormal > 0x1p-40;
}

class Finder {
public:
  Finder(Audit &audit, bool hasLossScale) : audit(audit), hasLossScale(hasLossScale) {}

  void run() {
    for (const Audited &value : audit.bounds.values) {
      findUpperEnd(value);
      findLowerEnd(value);
    }
    std::set<std::string> said;
    bool isUnbounded = false;
    for (const Inside &inside : audit.bounds.overflows) {
      if (!inside.isOfFormat && std::exchange(isUnbounded, true))
        continue; // what is behind the first has no bound, either
      if (said.insert(inside.layer + inside.label).second)
        findInside(inside);
    }
    for (const auto &[layer, factor] : audit.bounds.normalizations)
      if (factor > kLargeFactor && said.insert("deviation " + layer).second)
        add(FindingKind::normalization, layer,
            layer + " divides by a deviation of which nothing but epsilon is known, " +
                shortly(1 / factor) + ": errors may grow " + shortly(factor) +
                "-fold there; where no row is so flat say `deviation " + layer + " LEAST`");
    findDigits();
    if (hasLossScale)
      findHeadroom();
  }

private:
  /// Of a normalization, from where on it is told of; and how many doublings of gradients there
  /// should be between the largest and the first that lose digits.
  static constexpr double kLargeFactor = 16, kFewDoublings = 8;

  void add(FindingKind kind, const std::string &value, const std::string &sentence) {
    audit.findings.push_back({kind, value, sentence});
  }

  void findUpperEnd(const Audited &value) {
    if ((!value.mayOverflow && !value.maySaturate) ||
        value.before.declared.magnitude() >= kLargest) // of that findInside speaks
      return;
    std::string word = encoding::word(value.encoding.element);
    std::string size = shortly(value.before.declared.magnitude());
    std::string head = titleOf(value) + " may be as large as " + size + ", and " + word +
                       (value.mayOverflow ? " ends" : " saturates") + " at " +
                       shortly(Format(value.encoding.element).largest) + " (" + ruleOf(value) +
                       "); ";
    std::string remedy = isGradient(value) && hasLossScale
                             ? "lower the loss scale, or keep it in bf16"
                         : value.mayOverflow ? "keep it in bf16, or saturate"
                                             : "keep it in bf16, or scale it";
    add(value.mayOverflow ? FindingKind::overflow : FindingKind::saturation, titleOf(value),
        head + remedy + ", or say `assume " + value.name + " LOW HIGH` where that cannot be");
  }

  void findLowerEnd(const Audited &value) {
    double magnitude = value.before.declared.magnitude();
    if (value.rounding <= 0 || !isNarrowAtLowerEnd(value.encoding) || magnitude == 0)
      return;
    Format format(value.encoding.element);
    std::string word = encoding::word(value.encoding.element);
    std::string remedy = isGradient(value)
                             ? (hasLossScale ? "raise the loss scale, or keep it in bf16"
                                             : "use a loss scale, or keep it in bf16")
                             : "keep it in bf16, or scale it";
    std::string head = titleOf(value) + " is at most " + shortly(magnitude);
    double doublings = std::log2(magnitude / format.leastNormal);
    if (magnitude <= format.leastNonzero / 2)
      add(FindingKind::underflow, titleOf(value),
          head + ", which " + word + " rounds to 0, all of it; " + remedy);
    else if (doublings < 0)
      add(FindingKind::underflow, titleOf(value),
          head + ", below " + shortly(format.leastNormal) + " where " + word +
              " has all digits: every number loses some; " + remedy);
    else if (isGradient(value) && doublings < kFewDoublings)
      add(FindingKind::underflow, titleOf(value),
          head + ": what is below 1/" + shortly(std::exp2(std::floor(doublings))) +
              " of that loses digits in " + word + " (" + ruleOf(value) + "); " + remedy);
  }

  void findInside(const Inside &inside) {
    const std::string label = "'" + inside.label + "'";
    const std::string where = inside.layer.empty()   ? label
                              : inside.label.empty() ? inside.layer
                                                     : inside.layer + " (" + label + ")";
    add(inside.isOfFormat ? FindingKind::overflow : FindingKind::unbounded, inside.layer,
        inside.isOfFormat
            ? "an internal value of " + where +
                  " may leave the format that it is stored in; store it in bf16, or saturate"
            : where +
                  " has no bound below f32's largest number, and so has what is behind it, since "
                  "it divides by what may be 0 or grows too far; say `assume " +
                  inside.layer + " LOW HIGH` of it or of what it reads");
  }

  /// The first value, forward and backward, whose error may be as large as it is.
  void findDigits() {
    bool foundOf[2] = {false, false};
    for (const Audited &value : audit.bounds.values) {
      double size = value.after.exact.magnitude(), error = value.after.error;
      bool &known = foundOf[isGradient(value)];
      if (known || !(error >= size) || size == 0 || size >= kLargest)
        continue;
      known = true;
      add(FindingKind::digits, titleOf(value),
          "no digit of " + titleOf(value) + " is certain: it is at most " + shortly(size) +
              ", and its error at most " + shortly(error) +
              "; what comes behind it says no more. Narrower ranges, or `assume` of a value "
              "before it, tell more");
    }
  }

  void findHeadroom() {
    int least = std::numeric_limits<int>::max();
    for (const Audited &value : audit.bounds.values) {
      double size = value.before.declared.magnitude();
      if (!isGradient(value) || value.isLoss || size == 0)
        continue;
      double largest = value.rounding > 0 && !encoding::is_scaled(value.encoding)
                           ? Format(value.encoding.element).largest
                           : kLargest;
      least = std::min(least, static_cast<int>(std::floor(std::log2(largest / size))));
    }
    if (least != std::numeric_limits<int>::max())
      audit.headroom = least;
  }

  Audit &audit;
  bool hasLossScale;
};

} // namespace

std::string titleOf(const Audited &value) {
  if (value.isLoss || value.layer == value.name)
    return value.name;
  return value.name + (value.role == ir::ValueRole::Gradient ? " from " : " for ") + value.layer;
}

void find(Audit &audit, bool hasLossScale) { Finder(audit, hasLossScale).run(); }

} // namespace halftone::audit
