// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cache/kernel_cache.hpp"
#include "cuda/nvrtc.hpp"

namespace halftone::tests {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLibdevice = "nvvm/libdevice/libdevice.10.bc";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string compile_with_nvrtc(const std::string& text, const std::string& name,
                               const std::string& architecture) {
  static const CompileKernel compile = cached(
      [](const std::string& source, const std::string& entry, const std::string& chip) {
        return Nvrtc::instance().compile_ptx(source, entry, chip);
      },
      process_kernel_cache(),
      [](const std::string& chip) { return Nvrtc::instance().ptx_compiler(chip); });
  return compile(text, name, architecture);
}

std::string clang_missing() {
  if (!fs::exists(HALFTONE_CLANG)) return "there is no clang++-22";
  // What clang's wrapper header includes last, and the bitcode that its driver looks for; the
  // packages that bring NVRTC alone have neither.
  for (const char* part : {"include/curand_mtgp32_kernel.h", kLibdevice})
    if (!fs::exists(fs::path(HALFTONE_CUDA_HOME) / part))
      return std::string("clang's CUDA front end needs a whole CUDA Toolkit: there is no ") + part;
  return "";
}

namespace {

std::vector<std::string> clang_options(const std::string& architecture) {
  return {"-x cuda --cuda-device-only --cuda-gpu-arch=" + architecture,
          "--cuda-path=" HALFTONE_CUDA_HOME,
          "-std=c++20 -O2 -ffp-contract=off -gline-tables-only -S -w"};
}

/// The compiler and what it reads of a Toolkit, as files that an upgrade replaces.
CompilerIdentity clang_of(const std::string& architecture) {
  std::string files;
  const fs::path libdevice = fs::path(HALFTONE_CUDA_HOME) / kLibdevice;
  for (const fs::path& path : {fs::path(HALFTONE_CLANG), libdevice})
    files += path.string() + ", " + std::to_string(fs::file_size(path)) + " bytes of " +
             std::to_string(fs::last_write_time(path).time_since_epoch().count()) + "; ";
  return {.compiler = files, .options = clang_options(architecture), .output = "PTX", .driver = ""};
}

std::string run_clang(const std::string& text, const std::string& name,
                      const std::string& architecture) {
  static std::atomic<int> number = 0;
  const fs::path folder =
      fs::temp_directory_path() / ("halftone_clang_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path base = folder / (name + std::to_string(number++));
  const std::string source = base.string() + ".cu", ptx = base.string() + ".ptx",
                    log = base.string() + ".log";
  std::ofstream(source) << text;
  std::string command = HALFTONE_CLANG;
  for (const std::string& option : clang_options(architecture)) command += " " + option;
  command += " -o " + ptx + " " + source + " 2> " + log;
  const int status = std::system(command.c_str());
  std::string made = read(ptx);
  const std::string messages = read(log);
  for (const std::string& file : {source, ptx, log}) fs::remove(file);
  if (status != 0) throw std::runtime_error(name + ": " + messages);
  return made;
}

}  // namespace

std::string compile_with_clang(const std::string& text, const std::string& name,
                               const std::string& architecture) {
  static const CompileKernel compile = cached(run_clang, process_kernel_cache(), clang_of);
  return compile(text, name, architecture);
}

std::string empty_kernel(const std::string& entry, const std::string& architecture) {
  return ".version 9.0\n.target " + architecture + "\n.address_size 64\n.visible .entry " + entry +
         "()\n{\n  ret;\n}\n";
}

Device simulated(const std::string& chip, const simulator::LaunchOptions& options,
                 CompileKernel compile, SimulatedDriver::Observe observe) {
  return simulated_under({.checks_launches = true}, chip, options, std::move(compile),
                         std::move(observe));
}

Device simulated_under(const DriverOptions& driver_options, const std::string& chip,
                       const simulator::LaunchOptions& options, CompileKernel compile,
                       SimulatedDriver::Observe observe) {
  auto driver = std::make_unique<SimulatedDriver>(chip, options, std::move(observe));
  return Device::driven(std::make_shared<DriverContext>("simulated:" + chip, std::move(driver),
                                                        std::move(compile), driver_options),
                        "a test asked for it");
}

Device in_graphs(const std::string& chip) { return simulated_under({}, chip); }

}  // namespace halftone::tests
