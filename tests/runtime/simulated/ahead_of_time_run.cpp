// SPDX-License-Identifier: Apache-2.0
// From a model's file to training without a compiler at hand: halftonec --aot, then
// HALFTONE_JIT=never on a simulated GPU; and the same bits from kernels that are compiled at run
// time. Skipped (77) where no NVRTC is.
// ahead_of_time_run HALFTONEC HALFTONE C++-COMPILER FOLDER MODEL...
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/nvrtc.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "inputs.hpp"

namespace simulated {
namespace {

constexpr int kSkipped = 77, kSteps = 4;
constexpr std::int64_t kBatch = 9;
constexpr const char* kChip = "sm_80";

struct Tools {
  std::string halftonec, halftone, compiler, folder;
};

void call(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

/// A shared object of the model; "" or what is compiled ahead of time.
std::string make_artifact(const Tools& tools, const std::string& model, const std::string& aot) {
  const std::string base =
      tools.folder + "/" + std::filesystem::path(model).stem().string() + (aot.empty() ? "" : "_a");
  call(tools.halftonec + " " + model + " --targets cpu," + kChip + " --object " + base + ".o" +
       (aot.empty() ? "" : " --aot " + aot + " --kernel-compiler " + tools.halftone) +
       " --without-diagnosis");
  call(tools.compiler + " -shared -o " + base + ".so " + base + ".o");
  call(tools.halftonec + " --seal " + base + ".so");
  return base + ".so";
}

std::map<std::string, std::vector<std::uint32_t>> weights_after(const Artifact& artifact,
                                                                const char* jit) {
  setenv("HALFTONE_JIT", jit, 1);
  const halftone::Binding batch{"batch", kBatch};
  halftone::Trainer trainer(artifact, halftone::Device::simulated(kChip),
                            {.model = "", .bindings = std::span(&batch, 1), .seed = 11});
  Inputs inputs(artifact, kBatch, 5);
  for (int step = 0; step < kSteps; ++step) {
    inputs.draw();
    trainer.step(inputs.named());
    if (!trainer.updated()) throw std::runtime_error("a step was skipped");
  }
  return weights_of(trainer);
}

bool trains(const Tools& tools, const std::string& model) {
  const Artifact ahead = Artifact::load(make_artifact(tools, model, "compute_80"));
  const Artifact texts = Artifact::load(make_artifact(tools, model, ""));
  const auto never = weights_after(ahead, "never");
  const bool equal = never == weights_after(texts, "") && never == weights_after(ahead, "first");
  bool refused = false;
  try {
    (void)weights_after(texts, "never");
  } catch (const halftone::Error& error) {
    refused = std::string(error.what()).find("HALFTONE_JIT is never") != std::string::npos;
  }
  std::printf("%s: %zu parameters, %d steps: compiled ahead of time and at run time %s; %s\n",
              model.c_str(), never.size(), kSteps, equal ? "agree to the bit" : "DIFFER",
              refused ? "texts alone are refused" : "TEXTS ALONE ARE NOT REFUSED");
  return equal && refused && !never.empty();
}

}  // namespace
}  // namespace simulated

int main(int count, char** values) {
  if (count < 6) return 2;
  if (!std::getenv("NVRTC_HOME") && std::filesystem::exists(HALFTONE_FETCHED_NVRTC)) {
    setenv("NVRTC_HOME", HALFTONE_FETCHED_NVRTC, 1);
  }
  try {
    (void)halftone::Nvrtc::instance();
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return simulated::kSkipped;
  }
  try {
    const simulated::Tools tools{values[1], values[2], values[3], values[4]};
    std::filesystem::create_directories(tools.folder);
    bool right = true;
    for (int i = 5; i < count; ++i) right = simulated::trains(tools, values[i]) && right;
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
