// SPDX-License-Identifier: Apache-2.0
#include "contraction_check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

namespace halftone::tests {
namespace {

/// Whatever its text depends on.
std::string key_of(const Instance& instance) {
  std::string key = instance.text() + " " + std::to_string(instance.width) + " " +
                    std::to_string(static_cast<int>(instance.lhs_sum));
  for (const auto& blocks : {instance.lhs_blocks, instance.rhs_blocks})
    if (blocks)
      key += " " + std::to_string(blocks->lines) + " by " + std::to_string(blocks->places);
  return key;
}

Sums sums_of(const Instance& instance) {
  if (instance.by_factors) return Sums::factored;
  return instance.promotes ? Sums::promoted : Sums::kept;
}

}  // namespace

const std::string& ptx_of(const Instance& instance) {
  static std::map<std::string, std::string> texts;
  const std::string key = key_of(instance);
  if (const auto found = texts.find(key); found != texts.end()) return found->second;
  const Compilation compilation = compile(instance, "compute");
  INFO(compilation.log);
  REQUIRE(compilation.accepted);
  return texts[key] = compilation.ptx;
}

Outcome check(const Instance& instance, long long rows, long long depth, int splits,
              const simulator::LaunchOptions& options) {
  const std::string name = instance.text();
  CAPTURE(name);
  CAPTURE(rows);
  CAPTURE(depth);
  CAPTURE(splits);
  const Operands x = operands(instance, rows, depth);
  Outcome outcome = run(instance, ptx_of(instance), x, splits, options);
  for (const simulator::Finding& finding : outcome.report.findings) FAIL_CHECK(finding.text());
  if (instance.is_of_8_bits())
    for (const std::string& sentence : outside_class_b(x, outcome, sums_of(instance)))
      FAIL_CHECK(sentence);
  if (!instance.is_of_8_bits() || options.accumulation == simulator::Accumulation::exact)
    for (const std::string& sentence : outside_class_b(x, outcome)) FAIL_CHECK(sentence);
  if (instance.lhs_sum != LhsSum::unused) CHECK(outcome.row_sum == lhs_sums(x));
  CHECK(outcome.result == results(instance, x, outcome));
  for (const std::uint32_t counter : outcome.counters) CHECK(counter == 0);
  return outcome;
}

void check_order(const Instance& instance, long long rows, long long depth, int splits) {
  CAPTURE(splits);
  const Outcome first = check(instance, rows, depth, splits);
  CHECK(check(instance, rows, depth, splits, {.seed = 7}).sum == first.sum);
}

void check_banks(const Instance& instance, long long rows, long long depth) {
  const std::string name = instance.text();
  CAPTURE(name);
  const Operands x = operands(instance, rows, depth);
  const auto counters = run(instance, ptx_of(instance), x, 1, {}).report.counters;
  CHECK(counters.shared_wavefronts_ideal > 0);
  CHECK(counters.shared_wavefronts == counters.shared_wavefronts_ideal);
}

void check_parts(Instance instance, const Operands& operands, float promoted, float kept) {
  for (const bool promotes : kEither) {
    instance.promotes = promotes;
    const Outcome outcome = run(instance, ptx_of(instance), operands, 1, kTruncating);
    CHECK(outcome.sum == std::vector<float>(outcome.sum.size(), promotes ? promoted : kept));
    CHECK(outside_class_b(operands, outcome, Sums::promoted).empty() == promotes);
    if (!promotes) CHECK(outside_class_b(operands, outcome, Sums::kept).empty());
  }
}

void check_factors_of_parts(const Instance& instance) {
  Operands x = operands(instance, 64, 384);
  for (float& code : x.lhs_codes) code = 1.0f;
  for (float& code : x.rhs_codes) code = 1.0f;
  // Of each row three parts: 2^-100 beside 2^100, 3 beside 2^-14, 0x1.8p-140 beside 2^120.
  for (std::size_t i = 0; i < x.lhs_scales.size(); ++i)
    x.lhs_scales[i] = i % 3 == 0 ? 0x1p-100f : i % 3 == 1 ? 3.0f : 0x1.8p-140f;
  for (std::size_t i = 0; i < x.rhs_scales.size(); ++i)
    x.rhs_scales[i] = i % 3 == 0 ? 0x1p100f : i % 3 == 1 ? 0x1p-14f : 0x1p120f;
  x.lhs_codes[5 * 384 + 200] = NAN;
  x.lhs_codes[9 * 384 + 300] = -448.0f;
  x.lhs_scales[3 * 11 + 2] = INFINITY;
  const Outcome outcome = run(instance, ptx_of(instance), x, 1, {});
  CHECK(outcome.report.findings.empty());
  for (std::size_t at = 0; at < outcome.sum.size(); ++at) {
    const std::size_t row = at / static_cast<std::size_t>(x.columns);
    CAPTURE(row);
    const float last = row == 9 ? 127.0f - 448.0f : 128.0f;
    if (row == 5)
      CHECK(std::isnan(outcome.sum[at]));
    else if (row == 11)
      CHECK(outcome.sum[at] == INFINITY);
    else
      CHECK(outcome.sum[at] == 128.0f + 0x1.8p-6f + last * 0x1.8p-20f);
  }
}

void check_large_scales(const Instance& instance) {
  Operands x = operands(instance, 64, 64);
  for (float& code : x.lhs_codes) code = 1.0f;
  for (float& code : x.rhs_codes) code = 1.0f;
  for (float& scale : x.lhs_scales) scale = 0x1p-60f;
  for (float& scale : x.rhs_scales) scale = 0x1p-60f;
  x.lhs_scales[2 * 5 + 1] = 0x1p112f;  // of row 5
  x.lhs_scales[2 * 9] = 0x1p113f;      // of row 9
  scale_blocks(instance, x);
  const Outcome outcome = run(instance, ptx_of(instance), x, 1, {});
  for (std::size_t at = 0; at < outcome.sum.size(); ++at) {
    const std::size_t row = at / static_cast<std::size_t>(x.columns);
    CAPTURE(row);
    if (row == 9)
      CHECK(std::isnan(outcome.sum[at]));
    else
      CHECK(outcome.sum[at] == (row == 5 ? 0x1p57f : 0x1p-114f));
  }
}

Turns turns_of(Instance instance) {
  instance.columns = 128;
  instance.lhs_sum = LhsSum::unused;
  const auto counted = [&](long long depth) {
    return run(instance, ptx_of(instance), operands(instance, 128, depth), 1,
               {.check = false, .traffic = true})
        .report.counters;
  };
  const simulator::Counters few = counted(1024), many = counted(2048);
  return {static_cast<double>(many.warp_instructions - few.warp_instructions),
          static_cast<double>(many.shared_wavefronts - few.shared_wavefronts)};
}

}  // namespace halftone::tests
