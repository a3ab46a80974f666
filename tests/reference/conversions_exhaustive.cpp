// SPDX-License-Identifier: Apache-2.0
// The reference's conversions of all 2^32 inputs against every oracle, and those that the runtime
// does itself: the tables of docs/numerics.md. Arguments name formats or single modes ("f8e4m3
// toward_zero") and oracles, all of either where none is named; "quick" leaves out APFloat, which
// takes most of the time. rounding_test.cpp is the short form. Exit status: 0 when all agree, 1
// when one does not, 2 when nothing was judged, 77 (skipped) when an oracle is missing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "formats.hpp"
#include "reference_conversions.hpp"

namespace {

using namespace halftone::tests;
using halftone::description::Rounding;

constexpr int kThreads = 2;
constexpr std::string_view kSlow = "APFloat";
bool is_any_judged = false;

/// What the arguments ask for.
class Asked {
 public:
  explicit Asked(std::span<char* const> words) : words_(words.begin(), words.end()) {}

  [[nodiscard]] bool has(const Mode& mode) const {
    const std::string_view name(mode.name);
    const std::string_view format = name.substr(0, name.find(' '));
    return names(name) || names_no_other(format, [](std::string_view word) {
             return !is_oracle(word) && word != "quick";
           });
  }
  [[nodiscard]] bool has(std::string_view oracle) const {
    if (oracle == kSlow && names("quick")) return false;
    return names_no_other(oracle, is_oracle);
  }

 private:
  static bool is_oracle(std::string_view word) {
    constexpr std::string_view kOracles[] = {"CUDA's host headers", "F16C", kSlow, "tables"};
    return std::ranges::find(kOracles, word) != std::end(kOracles);
  }
  [[nodiscard]] bool names(std::string_view word) const {
    return std::ranges::find(words_, word) != words_.end();
  }
  [[nodiscard]] bool names_no_other(std::string_view word, auto is_alike) const {
    return names(word) || std::ranges::none_of(words_, is_alike);
  }

  std::vector<std::string_view> words_;
};

template <class Code>
bool print(const Mode& mode, const char* who, const Encode<Code>& encode,
           const std::vector<Oracle<Code>>& oracles) {
  if (oracles.empty()) return true;
  is_any_judged = true;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Verdict> verdicts = judge(mode, encode, oracles, Inputs::all, kThreads);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  bool holds = true;
  for (std::size_t i = 0; i < oracles.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    holds = holds && verdict.holds() && verdict.inputs == std::uint64_t{1} << 32;
    std::printf("| %s | %s | %s | %llu | %llu | %.0f s |\n", mode.name, who,
                oracles[i].name.c_str(), static_cast<unsigned long long>(verdict.mismatches),
                static_cast<unsigned long long>(verdict.not_canonical), seconds.count());
    if (!verdict.holds()) {
      std::printf("input %08x gives %x instead of %x\n", verdict.culprit, verdict.got,
                  verdict.wanted);
    }
  }
  std::fflush(stdout);
  return holds;
}

/// What files of weights and held codes are written by.
Encode<std::uint16_t> codes_by_runtime(const Mode& mode) {
  return [mode](const float* in, std::uint16_t* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::uint16_t>(halftone::narrowed(mode.format, in[i], mode.saturate));
  };
}

template <class Code>
std::vector<Oracle<Code>> asked_for(std::vector<Oracle<Code>> oracles, const Asked& asked) {
  std::erase_if(oracles, [&](const auto& oracle) { return !asked.has(oracle.name); });
  return oracles;
}

bool print(std::span<const Mode> modes, const Asked& asked) {
  bool holds = true;
  for (const Mode& mode : modes) {
    if (!asked.has(mode)) continue;
    auto oracles = asked_for(code_oracles(mode), asked);
    holds = print(mode, "reference", codes_by_reference(mode), oracles) && holds;
    if (mode.rounding != Rounding::nearest_even || oracles.empty()) continue;
    oracles.resize(1);  // all say the same where the reference agrees with them
    holds = print(mode, "runtime", codes_by_runtime(mode), oracles) && holds;
  }
  return holds;
}

}  // namespace

int main(int count, char** arguments) {
  const Asked asked(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
  for (const std::string& reason : missing_oracles()) std::printf("missing: %s\n", reason.c_str());
  std::printf(
      "| mode | of | oracle | mismatches | NaN not canonical | time "
      "|\n|---|---|---|---|---|---|\n");
  bool holds = print(kCodeModes, asked);
  holds = print(kByteModes, asked) && holds;
  for (const Mode& mode : kTf32Modes) {
    if (!asked.has(mode)) continue;
    const auto oracles = asked_for(tf32_oracles(mode), asked);
    holds = print(mode, "reference", tf32_by_reference(mode), oracles) && holds;
  }
  if (!is_any_judged) {
    std::fprintf(stderr, "no oracle that is here judges such a format; name f8e4m3, say\n");
    return 2;
  }
  if (!holds) return 1;
  return missing_oracles().empty() ? 0 : 77;
}
