// SPDX-License-Identifier: Apache-2.0
// How many instructions of PTX an artifact's kernels have for every batch, and for one.
// specialised_texts CHIP BATCH ARTIFACT
#include <cctype>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include "cuda/nvrtc.hpp"
#include "halftone/artifact.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/texts.hpp"

namespace halftone::bench {
namespace {

constexpr int kSkipped = 77;

/// Lines that are neither a directive nor a label.
int instructions(const std::string& ptx) {
  std::istringstream lines(ptx);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t");
    if (first == line.npos || line.back() != ';') continue;
    if (std::isalpha(static_cast<unsigned char>(line[first])) || line[first] == '@') ++count;
  }
  return count;
}

int run(const std::string& chip, const std::string& batch, const std::string& path) {
  const Artifact artifact = Artifact::load(path);
  const manifest::CudaTarget* target = manifest::find_cuda(artifact.manifest(), chip);
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  if (!target || !manifest::unpack_texts({image.texts, image.text_bytes}, texts, error)) return 2;
  std::map<std::string, std::int32_t> kernels;
  for (const manifest::CudaKernel& kernel : target->kernels) kernels[kernel.entry] = kernel.text;
  std::printf("%-40s %9s %9s %6s\n", "instructions of PTX", "any batch", batch.c_str(), "ratio");
  int any = 0, one = 0;
  const auto print = [](const char* name, int a, int b) {
    std::printf("%-40s %9d %9d %6.2f\n", name, a, b, static_cast<double>(b) / a);
  };
  for (const auto& [entry, text] : kernels) {
    const std::string& whole = texts[static_cast<std::size_t>(text)];
    const Nvrtc& nvrtc = Nvrtc::instance();
    const int a = instructions(nvrtc.compile_ptx(whole, entry, chip));
    const int b = instructions(nvrtc.compile_ptx(
        "#define HALFTONE_SYMBOL_batch " + batch + "LL\n#line 1\n" + whole, entry, chip));
    print(entry.c_str(), a, b);
    any += a;
    one += b;
  }
  print("all", any, one);
  return 0;
}

}  // namespace
}  // namespace halftone::bench

int main(int count, char** values) {
  if (count != 4) {
    std::fprintf(stderr, "usage: specialised_texts CHIP BATCH ARTIFACT\n");
    return 2;
  }
  try {
    (void)halftone::Nvrtc::instance();
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return halftone::bench::kSkipped;
  }
  try {
    return halftone::bench::run(values[1], values[2], values[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "specialised_texts: %s\n", error.what());
    return 2;
  }
}
