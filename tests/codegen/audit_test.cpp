// SPDX-License-Identifier: Apache-2.0
// Bounds of an audit against what the reference computes: declared, in f32 with every rounding, and
// exactly, in double, which knows nothing of intervals.
#include "codegen/audit/Audit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../reference/problem.hpp"
#include "codegen/ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "models.hpp"

namespace audit = halftone::audit;
using halftone::audit::Audit;
using halftone::audit::Audited;
using halftone::ir::ValueRole;
using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr std::int64_t kSize = 5;  // of every symbol

Symbols symbols_of(const halftone::description::Description& model) {
  Symbols symbols;
  for (const auto& node : model.nodes) {
    for (const auto& dimension : node.shape) {
      if (!dimension.symbol.empty()) symbols[dimension.symbol] = kSize;
    }
  }
  return symbols;
}

/// The numbers of a parameter, and what sums of their sizes are, one element after the other.
audit::TensorRange range_of(const std::vector<double>& values,
                            const halftone::description::Shape& shape) {
  audit::TensorRange of{{values[0], values[0]}, 0, 0, 0};
  const auto columns = static_cast<std::size_t>(shape.empty() ? 1 : shape.back().extent);
  const auto first = static_cast<std::size_t>(shape.empty() ? 1 : shape.front().extent);
  const std::size_t behind_first = values.size() / first;
  std::map<std::size_t, double> of_row, of_first, of_column;
  for (std::size_t e = 0; e < values.size(); ++e) {
    const double size = std::fabs(values[e]);
    of.range = hull(of.range, audit::Interval::of(values[e]));
    of.sumOfLast = std::max(of.sumOfLast, of_row[e / columns] += size);
    of.sumBehindFirst = std::max(of.sumBehindFirst, of_first[e / behind_first] += size);
    of.sumBeforeLast = std::max(of.sumBeforeLast, of_column[e % columns] += size);
  }
  return of;
}

/// Inputs that weigh a loss's summands.
std::set<std::string> weights_of(const halftone::description::Description& model) {
  std::set<std::string> names;
  for (const auto& node : model.nodes) {
    for (const auto& operand : node.operands) {
      if (operand.role == "sample_weight") names.insert(model.nodes[operand.node].name);
    }
  }
  return names;
}

audit::Ranges ranges_of(const Problem& problem, double limit) {
  using halftone::description::kind_called;
  audit::Ranges ranges;
  for (const auto& node : problem.model.nodes) {
    const bool is_input =
        node.kind == kind_called("input") && !halftone::description::holds_integers(node);
    if (is_input || node.kind == kind_called("state")) {
      ranges.tensors[node.name] = {{-limit, limit}};
    } else if (node.kind == kind_called("parameter")) {
      ranges.tensors[node.name] = range_of(problem.parameters.at(node.name), node.shape);
    }
  }
  return ranges;
}

Audit audited(const Problem& problem, const audit::Ranges& ranges) {
  mlir::DialectRegistry registry;
  registry
      .insert<halftone::ir::HalftoneDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  audit::AuditOptions options;
  options.ranges = ranges;
  options.file = "test";
  for (const auto& [symbol, size] : problem.symbols) options.sizes[symbol] = size;
  auto result = audit::auditModel(problem.model, options, &context);
  if (const auto* wrong = std::get_if<std::string>(&result)) FAIL(*wrong);
  return std::get<Audit>(std::move(result));
}

/// How far declared numbers are from exact ones, and how large either are.
struct Measured {
  double error = 0, least = audit::kInfinity, largest = -audit::kInfinity;
  bool finite = true;
};

Measured measure(const std::vector<float>& declared, const std::vector<double>& exact) {
  Measured measured;
  for (std::size_t e = 0; e < declared.size(); ++e) {
    const double number = declared[e];
    measured.finite = measured.finite && std::isfinite(number) && std::isfinite(exact[e]);
    measured.error = std::max(measured.error, std::fabs(number - exact[e]));
    measured.least = std::min(measured.least, number);
    measured.largest = std::max(measured.largest, number);
  }
  return measured;
}

struct Compared {
  Audited bound;
  Measured measured;
};

/// What both evaluations computed of values that an audit speaks of: stored activations, losses,
/// whole gradients of values and of parameters.
std::vector<Compared> compare(const Audit& audit, const Run<float>& declared,
                              const Run<double>& exact) {
  std::vector<Compared> compared;
  std::map<std::string, std::size_t> gradients;  // the last of a name is of the whole sum
  const auto& model = exact.evaluator.description();
  const auto add = [&](const Audited& bound, const auto& of_declared, const auto& of_exact) {
    if (of_declared.size() == of_exact.size() && !of_exact.empty()) {
      compared.push_back({bound, measure(of_declared, of_exact)});
    }
  };
  for (std::size_t i = 0; i < audit.bounds.values.size(); ++i) {
    const Audited& value = audit.bounds.values[i];
    if (value.isLoss) {
      for (std::size_t loss = 0; loss < model.losses.size(); ++loss) {
        if (model.nodes[model.losses[loss].node].name == value.name) {
          add(value, std::vector<float>{declared.forward.losses[loss]},
              std::vector<double>{exact.forward.losses[loss]});
        }
      }
    } else if (value.role == ValueRole::Gradient && value.layer != value.name) {  // what is no read
      gradients[value.name] = i;
    } else if (value.role == ValueRole::WeightGradient) {
      add(value, declared.gradient(value.name), exact.gradient(value.name));
    } else if (value.role == ValueRole::Activation && value.layer == value.name) {
      add(value, declared.value(value.name), exact.value(value.name));
    }
  }
  for (const auto& [name, i] : gradients) {
    add(audit.bounds.values[i], declared.gradient(name), exact.gradient(name));
  }
  return compared;
}

bool may_overflow(const Audit& audit) {
  return std::any_of(audit.findings.begin(), audit.findings.end(), [](const audit::Finding& f) {
    return f.kind == audit::FindingKind::overflow || f.kind == audit::FindingKind::unbounded;
  });
}

struct Case {
  Problem problem;
  Audit audit;
  std::vector<Compared> compared;
  bool finite = true;
};

/// Of numbers up to `limit`; with `masks` losses are weighed by 0 or 1.
Case run(const std::string& name, double limit, bool masks) {
  constexpr std::uint64_t kSeed = 7;
  const auto model = halftone::tests::load_model(name);
  Problem problem = make_problem(model, symbols_of(model), kSeed, -limit, limit);
  problem.external.clear();
  audit::Ranges ranges = ranges_of(problem, limit);
  for (const std::string& weight : weights_of(model)) {
    if (!masks || ranges.tensors.count(weight) == 0) continue;
    for (double& value : problem.inputs.values[weight]) value = value > 0 ? 1 : 0;
    ranges.tensors[weight] = {{0, 1}};
    ranges.tensors[weight].isWhole = true;
  }
  const Run<float> declared(problem);
  const Run<double> exact(problem);
  Case result{problem, audited(problem, ranges), {}};
  result.compared = compare(result.audit, declared, exact);
  for (const Compared& one : result.compared) result.finite &= one.measured.finite;
  return result;
}

void check_inside(const Case& result) {
  for (const auto& [bound, measured] : result.compared) {
    CAPTURE(titleOf(bound));
    CAPTURE(static_cast<int>(bound.role));
    CHECK_MESSAGE(measured.error <= bound.after.error, measured.error, " of at most ",
                  bound.after.error);
    CHECK_MESSAGE(measured.least >= bound.after.declared.low, measured.least, " of ",
                  bound.after.declared.low, " or more");
    CHECK_MESSAGE(measured.largest <= bound.after.declared.high, measured.largest, " of ",
                  bound.after.declared.high, " or less");
  }
}

}  // namespace

TEST_CASE("no value or gradient of any model lies outside of its bounds") {
  for (const std::string& name : halftone::tests::model_names()) {
    for (const double limit : {1.0, 0.05}) {
      CAPTURE(name);
      CAPTURE(limit);
      const Case result = run(name, limit, limit < 1);
      CHECK(!result.compared.empty());
      if (!result.finite) {  // bounds are for steps in which nothing overflows
        CHECK(may_overflow(result.audit));
        continue;
      }
      check_inside(result);
    }
  }
}

TEST_CASE("in f32 and small numbers every value has a digit that is certain") {
  constexpr const char* kModels[] = {"attention",
                                     "attention_cross",
                                     "attention_grouped",
                                     "autoencoder",
                                     "batch_norm",
                                     "contrastive",
                                     "decoder",
                                     "digits",
                                     "embedding",
                                     "heads",
                                     "masked",
                                     "long_convolution",
                                     "matmul",
                                     "odd_sizes",
                                     "packed",
                                     "padded",
                                     "rank3",
                                     "rms_norm",
                                     "rotary_layer",
                                     "silu",
                                     "softmax",
                                     "tied",
                                     "wide",
                                     "windows"};
  for (const std::string name : kModels) {
    CAPTURE(name);
    for (const auto& [bound, measured] : run(name, 0.05, true).compared) {
      CAPTURE(titleOf(bound));
      CHECK(bound.after.error < bound.after.exact.magnitude());
    }
  }
}

TEST_CASE("what is said of a deviation and of a value narrows what is behind it") {
  const auto model = halftone::tests::load_model("digits_bf16");
  Problem problem = make_problem(model, symbols_of(model), 7, -1, 1);
  audit::Ranges ranges = ranges_of(problem, 1);
  const auto bound_of = [&](const std::string& name) {
    const Audit found = audited(problem, ranges);
    const auto& values = found.bounds.values;
    const auto is_it = [&](const Audited& value) {
      return value.name == name && value.layer == name && value.role == ValueRole::Activation;
    };
    const auto value = std::find_if(values.begin(), values.end(), is_it);
    REQUIRE(value != values.end());
    return value->after;
  };
  CHECK(bound_of("norm").error > 5);
  ranges.leastDeviations["norm"] = 200;
  CHECK(bound_of("norm").error < 5);
  CHECK(bound_of("fc1").declared.high > 2);
  ranges.assumed["fc1"] = {-1, 2};
  CHECK(bound_of("fc1").declared == audit::Interval{-1, 2});
}

TEST_CASE("leaving out a rule's roundings leaves those of the others") {
  const auto model = halftone::tests::load_model("digits_bf16");
  Problem problem = make_problem(model, symbols_of(model), 7, -0.05, 0.05);
  const Audit found = audited(problem, ranges_of(problem, 0.05));
  REQUIRE(found.results.size() == 1);
  REQUIRE(found.costs.size() == 1);  // rule 2 rounds nothing
  CHECK(found.costs[0].rule == 0);
  CHECK(found.costs[0].errors[0] < found.bounds.values[found.results[0]].after.error / 2);
}

// docs/audit.md: audit_test -ns -tc="figures*"
TEST_CASE("figures of how near bounds are" * doctest::skip()) {
  const auto median_of = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  for (const std::string name : {"bf16_matmul_then_add", "softmax", "heads", "attention_cross",
                                 "embedding_bf16", "packed", "decoder", "digits", "digits_bf16"}) {
    std::vector<double> errors, sizes;
    int uncertain = 0;
    for (const auto& [bound, measured] : run(name, 0.05, true).compared) {
      const double size = std::max(std::fabs(measured.least), std::fabs(measured.largest));
      errors.push_back(bound.after.error / measured.error);
      sizes.push_back(bound.after.declared.magnitude() / size);
      uncertain += bound.after.error >= bound.after.exact.magnitude() ? 1 : 0;
    }
    MESSAGE(name, ": ", errors.size(), " values, bound / measured ", median_of(sizes),
            " of sizes, ", median_of(errors), " of errors, no certain digit of ", uncertain);
  }
}
