// SPDX-License-Identifier: Apache-2.0
// The reference's conversions of all 2^32 inputs against every oracle: the table of
// docs/numerics.md. An argument names the one oracle to ask. rounding_test.cpp is the short form.
// Exit status: 0 when all agree, 1 when one does not, 77 (skipped) when an oracle is missing.
#include <chrono>
#include <cstdio>
#include <string>

#include "reference_conversions.hpp"

namespace {

using namespace halftone::tests;

constexpr int kThreads = 2;

template <class Code>
bool print(const Mode& mode, const Encode<Code>& encode, const std::vector<Oracle<Code>>& oracles,
           const std::string& only) {
  bool holds = true;
  for (const Oracle<Code>& oracle : oracles) {
    if (!only.empty() && oracle.name != only) continue;
    const auto start = std::chrono::steady_clock::now();
    const Verdict verdict = judge(mode, encode, oracle, Inputs::all, kThreads);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    holds = holds && verdict.holds() && verdict.inputs == std::uint64_t{1} << 32;
    std::printf("| %s | %s | %llu | %llu | %.0f s |\n", mode.name, oracle.name.c_str(),
                static_cast<unsigned long long>(verdict.mismatches),
                static_cast<unsigned long long>(verdict.not_canonical), seconds.count());
    if (!verdict.holds()) {
      std::printf("input %08x gives %x instead of %x\n", verdict.culprit, verdict.got,
                  verdict.wanted);
    }
    std::fflush(stdout);
  }
  return holds;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string only = count > 1 ? arguments[1] : "";
  for (const std::string& reason : missing_oracles()) std::printf("missing: %s\n", reason.c_str());
  std::printf("| mode | oracle | mismatches | NaN not canonical | time |\n|---|---|---|---|---|\n");
  bool holds = true;
  for (const Mode& mode : kCodeModes) {
    holds = print(mode, codes_by_reference(mode), code_oracles(mode), only) && holds;
  }
  for (const Mode& mode : kByteModes) {
    holds = print(mode, codes_by_reference(mode), code_oracles(mode), only) && holds;
  }
  for (const Mode& mode : kTf32Modes) {
    holds = print(mode, tf32_by_reference(mode), tf32_oracles(mode), only) && holds;
  }
  if (!holds) return 1;
  return missing_oracles().empty() ? 0 : 77;
}
