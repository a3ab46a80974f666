// SPDX-License-Identifier: Apache-2.0
// A static audit of a model under its rules: how large each of its values and gradients can be, and
// how far what is computed as declared can be from exact arithmetic (docs/audit.md).
#ifndef HALFTONE_AUDIT_AUDIT_H
#define HALFTONE_AUDIT_AUDIT_H

#include "codegen/audit/GraphBounds.h"
#include "halftone/description/description.hpp"

namespace halftone::audit {

enum class FindingKind {
  overflow,      ///< of a format, to infinity or NaN
  saturation,    ///< of a format that saturates
  unbounded,     ///< f32 may be left, or a divisor be 0
  underflow,     ///< digits, or all of a number, may be lost at the lower end of a format
  normalization, ///< that enlarges errors, since nothing but its epsilon bounds the deviation
  digits         ///< none is certain
};

/// One thing to look at: what, why, and what can be done.
struct Finding {
  FindingKind kind;
  std::string value, sentence;
};

/// What the error of a result is without the roundings of one rule.
struct RuleCost {
  std::int64_t rule = 0; ///< from 0 on
  std::vector<double> errors;
};

struct Audit {
  std::string model, target, program; ///< the last is "training" or "inference"
  std::vector<std::string> rules;     ///< as texts
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  GraphBounds bounds;
  std::vector<size_t> results; ///< values: the losses, or what outputs show where there are none
  std::vector<RuleCost> costs;
  std::vector<Finding> findings;
  /// By how many powers of two the loss scale may grow before a bound of a gradient leaves its
  /// format; nothing without a loss scale.
  std::optional<int> headroom;
};

/// What a user sets.
struct AuditOptions {
  std::string target = "cpu", stage;
  Ranges ranges;
  ir::AssumedSizes sizes;
  std::string file; ///< that the ranges are from
};

/// On failure one sentence, empty where diagnostics have said it.
std::variant<Audit, std::string> auditModel(const description::Description &model,
                                            const AuditOptions &options,
                                            mlir::MLIRContext *context);

/// "fc1", "pixels for fc1", "fc1 from act1": as explain names it.
std::string titleOf(const Audited &value);

/// Values that may leave their formats, and the other kinds of findings.
void find(Audit &audit, bool hasLossScale);

std::string textOf(const Audit &audit);
std::string jsonOf(const Audit &audit);

} // namespace halftone::audit

#endif
