// SPDX-License-Identifier: Apache-2.0
// nvrtc_casts [--fetched DIR] FILE.cu...: which conversions from and to narrow formats the PTX of
// these texts has on each chip. Exit 0: together exactly those of kernels' ptx.cuh, and neither
// .ftz nor f64 anywhere; 1: not so; 77: no NVRTC on this machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "chips.hpp"
#include "nvrtc_library.hpp"

namespace {

using halftone::tests::Compilation;
using halftone::tests::NvrtcLibrary;
using halftone::tests::options_for;
using Instructions = std::set<std::string>;

/// f16 converts in hardware everywhere, bf16 from sm_80 on. Toward zero bf16 is a shift, and tf32
/// is integer code.
Instructions expected_on(const std::string& chip) {
  Instructions all = {"cvt.rn.f16.f32", "cvt.rz.f16.f32", "cvt.f32.f16"};
  if (std::atoi(chip.c_str()) >= 80) all.insert("cvt.rn.bf16.f32");
  return all;
}

/// Adds the conversions with a narrow type to `found`, and prints what no kernel may contain.
bool read_ptx(const std::string& ptx, const std::string& where, Instructions& found) {
  static const std::regex kInstruction(R"(\n\s*(?:@!?%\w+\s+)?([a-z][a-z0-9_]*\.[a-z0-9_.]+))");
  static const std::regex kNarrow(R"(\.(?:b?f16|tf32)(?:x2)?(?:\.|$))");
  static const std::regex kForbidden(R"(\.(?:ftz|f64)(?:\.|$))");
  bool clean = true;
  for (std::sregex_iterator i(ptx.begin(), ptx.end(), kInstruction), end; i != end; ++i) {
    const std::string instruction = (*i)[1];
    if (std::regex_search(instruction, kNarrow)) found.insert(instruction);
    if (!std::regex_search(instruction, kForbidden)) continue;
    std::printf("%s: %s\n", where.c_str(), instruction.c_str());
    clean = false;
  }
  return clean;
}

bool check_chip(const NvrtcLibrary& nvrtc, const std::string& chip,
                const std::vector<std::pair<std::string, std::string>>& texts) {
  Instructions found;
  bool good = true;
  for (const auto& [file, text] : texts) {
    const Compilation result = nvrtc.compile(text, file, options_for("compute_" + chip));
    if (!result.accepted) std::printf("%s: %s\n", file.c_str(), result.log.c_str());
    good = good && result.accepted && read_ptx(result.ptx, file + " on sm_" + chip, found);
  }
  std::printf("sm_%-5s", chip.c_str());
  for (const std::string& instruction : found) std::printf(" %s", instruction.c_str());
  const bool exact = found == expected_on(chip);
  std::printf("%s\n", exact ? "" : "  NOT THOSE OF ptx.cuh");
  return good && exact;
}

}  // namespace

int main(int count, char** values) {
  std::string fetched, reason;
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 1; i < count; ++i) {
    if (std::string(values[i]) == "--fetched" && i + 1 < count) {
      fetched = values[++i];
      continue;
    }
    std::ifstream stream(values[i], std::ios::binary);
    texts.emplace_back(values[i], std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  const auto nvrtc = NvrtcLibrary::open(fetched, reason);
  if (!nvrtc) {
    std::printf("Skipped: %s\n", reason.c_str());
    return 77;
  }
  const auto wrong =
      std::count_if(halftone::tests::kChips.begin(), halftone::tests::kChips.end(),
                    [&](const char* chip) { return !check_chip(*nvrtc, chip, texts); });
  return wrong == 0 ? 0 : 1;
}
