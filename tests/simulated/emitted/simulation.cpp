// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "cuda/nvrtc.hpp"

namespace halftone::tests {

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string compile_with_nvrtc(const std::string& text, const std::string& name,
                               const std::string& architecture) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::string> made;
  {
    const std::lock_guard lock(mutex);
    if (const auto known = made.find({text, architecture}); known != made.end())
      return known->second;
  }
  std::string ptx = Nvrtc::instance().compile_ptx(text, name, architecture);
  const std::lock_guard lock(mutex);
  return made[{text, architecture}] = std::move(ptx);
}

std::string clang_missing() {
  if (!fs::exists(HALFTONE_CLANG)) return "there is no clang++-22";
  // What clang's wrapper header includes last, and the bitcode that its driver looks for; the
  // packages that bring NVRTC alone have neither.
  for (const char* part : {"include/curand_mtgp32_kernel.h", "nvvm/libdevice/libdevice.10.bc"})
    if (!fs::exists(fs::path(HALFTONE_CUDA_HOME) / part))
      return std::string("clang's CUDA front end needs a whole CUDA Toolkit: there is no ") + part;
  return "";
}

std::string compile_with_clang(const std::string& text, const std::string& name,
                               const std::string& architecture) {
  static std::atomic<int> number = 0;
  const fs::path folder =
      fs::temp_directory_path() / ("halftone_clang_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path base = folder / (name + std::to_string(number++));
  const std::string source = base.string() + ".cu", ptx = base.string() + ".ptx",
                    log = base.string() + ".log";
  std::ofstream(source) << text;
  const std::string command = std::string(HALFTONE_CLANG) +
                              " -x cuda --cuda-device-only --cuda-gpu-arch=" + architecture +
                              " --cuda-path=" + HALFTONE_CUDA_HOME +
                              " -std=c++20 -O2 -ffp-contract=off -gline-tables-only -S -w -o " +
                              ptx + " " + source + " 2> " + log;
  const int status = std::system(command.c_str());
  std::string made = read(ptx);
  const std::string messages = read(log);
  for (const std::string& file : {source, ptx, log}) fs::remove(file);
  if (status != 0) throw std::runtime_error(name + ": " + messages);
  return made;
}

std::string empty_kernel(const std::string& entry, const std::string& architecture) {
  return ".version 9.0\n.target " + architecture + "\n.address_size 64\n.visible .entry " + entry +
         "()\n{\n  ret;\n}\n";
}

Device simulated(const std::string& chip, const simulator::LaunchOptions& options,
                 CompileKernel compile, SimulatedDriver::Observe observe) {
  auto driver = std::make_unique<SimulatedDriver>(chip, options, std::move(observe));
  return Device::driven(
      std::make_shared<DriverContext>("simulated:" + chip, std::move(driver), std::move(compile),
                                      DriverOptions{.checks_launches = true}),
      "a test asked for it");
}

}  // namespace halftone::tests
