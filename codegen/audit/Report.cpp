// SPDX-License-Identifier: Apache-2.0
// An audit as text for people, and as one JSON object.
#include "codegen/audit/Audit.h"

#include "halftone/encoding/text.hpp"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace halftone::audit {

namespace {

namespace json = llvm::json;

constexpr const char *kRoleWords[] = {"activation", "saved", "gradient", "weight",
                                      "weight_gradient"};
constexpr const char *kKindWords[] = {"overflow",  "saturation",    "unbounded",
                                      "underflow", "normalization", "digits"};

std::string digitsOf(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

std::string shareOf(const Audited &value) {
  double size = value.after.declared.magnitude();
  return size == 0 ? "-" : digitsOf(value.after.error / size);
}

std::string formatOf(const Audited &value) {
  std::string text = encoding::spelled(value.encoding);
  return value.rule < 0 ? text : text + " (" + std::to_string(value.rule + 1) + ")";
}

using Row = std::vector<std::string>;

/// Columns two blanks apart, the first two to the left and numbers to the right.
std::string tableOf(const std::vector<Row> &rows) {
  constexpr size_t kWords = 3;
  std::vector<size_t> widths(rows.front().size());
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      std::string blanks(widths[i] - row[i].size(), ' ');
      line += " " + (i < kWords ? row[i] + blanks : blanks + row[i]) + " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string roleOf(const Audited &value) {
  return value.isLoss ? "loss" : kRoleWords[static_cast<size_t>(value.role)];
}

std::string valuesOf(const Audit &audit) {
  std::vector<Row> rows{
      {"value", "role", "format", "least", "largest", "error", "of largest", "own rounding"}};
  for (const Audited &value : audit.bounds.values) {
    const Interval &range = value.after.declared;
    rows.push_back({titleOf(value), roleOf(value), formatOf(value), digitsOf(range.low),
                    digitsOf(range.high), digitsOf(value.after.error), shareOf(value),
                    value.rounding > 0 ? digitsOf(value.rounding) : "-"});
  }
  return tableOf(rows);
}

std::string costsOf(const Audit &audit) {
  std::vector<Row> rows{{"roundings", "", ""}};
  for (size_t result : audit.results)
    rows.front().push_back(titleOf(audit.bounds.values[result]));
  Row all{"all", "", ""};
  for (size_t result : audit.results)
    all.push_back(digitsOf(audit.bounds.values[result].after.error));
  rows.push_back(all);
  for (const RuleCost &cost : audit.costs) {
    Row row{"but those of rule " + std::to_string(cost.rule + 1), "", ""};
    for (double error : cost.errors)
      row.push_back(digitsOf(error));
    rows.push_back(row);
  }
  return tableOf(rows);
}

std::string roomOf(int doublings) {
  std::string times = "2^" + std::to_string(doublings);
  return doublings > 0
             ? "the loss scale may be " + times + " times as large before a gradient can overflow"
         : doublings == 0 ? "with twice this loss scale a gradient can overflow"
                          : "with " + times + " of this loss scale no gradient can overflow";
}

json::Value numberOf(double value) { // JSON has no infinity
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Object objectOf(const Audited &value) {
  return json::Object{{"name", value.name},
                      {"layer", value.layer},
                      {"role", roleOf(value)},
                      {"format", encoding::spelled(value.encoding)},
                      {"rule", value.rule < 0 ? json::Value(nullptr) : json::Value(value.rule + 1)},
                      {"least", numberOf(value.after.declared.low)},
                      {"largest", numberOf(value.after.declared.high)},
                      {"least_exact", numberOf(value.after.exact.low)},
                      {"largest_exact", numberOf(value.after.exact.high)},
                      {"error", numberOf(value.after.error)},
                      {"own_rounding", numberOf(value.rounding)},
                      {"may_overflow", value.mayOverflow},
                      {"may_saturate", value.maySaturate}};
}

} // namespace

std::string textOf(const Audit &audit) {
  std::string text =
      "model " + audit.model + ", " + audit.program + ", audited for " + audit.target;
  for (size_t i = 0; i < audit.sizes.size(); ++i)
    text += (i == 0 ? " with " : ", ") + audit.sizes[i].first + " = " +
            std::to_string(audit.sizes[i].second);
  text += "\n\nrules\n";
  for (size_t i = 0; i < audit.rules.size(); ++i)
    text += "  " + std::to_string(i + 1) + " " + audit.rules[i] + "\n";
  text += "\nall values, which are between least and largest, and how far they are from exact "
          "arithmetic at most\n\n" +
          valuesOf(audit);
  if (!audit.costs.empty())
    text += "\nerrors at most, without the roundings of a rule\n\n" + costsOf(audit);
  if (audit.headroom)
    text += "\n" + roomOf(*audit.headroom) + "\n";
  text += audit.findings.empty() ? "\nnothing found\n" : "\nfound\n";
  for (const Finding &finding : audit.findings)
    text += "  " + std::string(kKindWords[static_cast<size_t>(finding.kind)]) + ": " +
            finding.sentence + "\n";
  return text;
}

std::string jsonOf(const Audit &audit) {
  json::Array values, rules, results, costs, findings;
  json::Object sizes;
  for (const Audited &value : audit.bounds.values)
    values.push_back(objectOf(value));
  for (const std::string &rule : audit.rules)
    rules.push_back(rule);
  for (const auto &[symbol, size] : audit.sizes)
    sizes[symbol] = size;
  for (size_t result : audit.results)
    results.push_back(titleOf(audit.bounds.values[result]));
  for (const RuleCost &cost : audit.costs) {
    json::Array errors;
    for (double error : cost.errors)
      errors.push_back(numberOf(error));
    costs.push_back(json::Object{{"rule", cost.rule + 1}, {"errors", std::move(errors)}});
  }
  for (const Finding &finding : audit.findings)
    findings.push_back(json::Object{{"kind", kKindWords[static_cast<size_t>(finding.kind)]},
                                    {"value", finding.value},
                                    {"sentence", finding.sentence}});
  json::Value headroom = audit.headroom ? json::Value(*audit.headroom) : json::Value(nullptr);
  json::Object object{{"schema", 1},
                      {"model", audit.model},
                      {"program", audit.program},
                      {"target", audit.target},
                      {"symbols", std::move(sizes)},
                      {"rules", std::move(rules)},
                      {"values", std::move(values)},
                      {"results", std::move(results)},
                      {"without_rule", std::move(costs)},
                      {"loss_scale_headroom", std::move(headroom)},
                      {"findings", std::move(findings)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", json::Value(std::move(object)));
  return text;
}

} // namespace halftone::audit
