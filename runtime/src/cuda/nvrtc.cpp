// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "../dispatch.hpp"
#include "../settings.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

/// The builtins of that NVRTC in a folder, or empty: "libnvrtc-builtins.so.13.0".
fs::path builtins_in(const fs::path& folder, std::string_view major) {
  const std::string stem = "libnvrtc-builtins.so." + std::string(major) + ".";
  fs::path newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(stem)) {
      newest = std::max(newest, entry.path());
    }
  }
  return newest;
}

/// NVRTC in a folder. It asks for its builtins by name alone, and the loader would not look beside
/// it; so they are opened first.
void* open_in(const fs::path& folder) {
  for (const std::string library : kLibraries) {
    std::error_code error;
    if (!fs::exists(folder / library, error)) continue;
    const fs::path builtins = builtins_in(folder, library.substr(library.rfind('.') + 1));
    if (builtins.empty() || !dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL)) continue;
    if (void* opened = dlopen((folder / library).c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
  }
  return nullptr;
}

void* open_below(const std::string& home, std::string& where) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "."}) {
    const fs::path path = fs::path(home) / folder;
    if (void* library = open_in(path)) {
      where = path.lexically_normal().string();
      return library;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse(std::string cause) {
  throw Error({.operation = "compile",
               .object = "NVRTC",
               .cause = std::move(cause),
               .hint = "install the CUDA Toolkit 13, or set NVRTC_HOME to a folder that has "
                       "lib/libnvrtc.so.13"});
}

}  // namespace

const Nvrtc& Nvrtc::instance() {
  static const Nvrtc nvrtc;  // when it throws, the next call tries again
  return nvrtc;
}

Nvrtc::Nvrtc() {
  open_library();
  bind();
  int major = 0, minor = 0;
  version_(&major, &minor);
  description_ =
      "NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " of " + description_;
}

void Nvrtc::open_library() {
  if (const std::string home = nvrtc_home_setting(); !home.empty()) {
    library_ = open_below(home, description_);
    if (library_) return;
    refuse("is not in '" + home + "', which NVRTC_HOME names");
  }
  for (const char* name : kLibraries) {
    library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    description_ = name;
    if (library_) return;
  }
  const std::string homes[] = {cuda_home_setting(), "/usr/local/cuda"};
  for (const std::string& home : homes) {
    library_ = home.empty() ? nullptr : open_below(home, description_);
    if (library_) return;
  }
  refuse(
      "is not on this machine: it was looked for where the loader looks, in CUDA_HOME and in "
      "/usr/local/cuda");
}

void Nvrtc::bind() {
  const auto symbol = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library_, name));
    if (!function) refuse("of " + description_ + " has no " + name);
  };
  symbol("nvrtcVersion", version_);
  symbol("nvrtcGetNumSupportedArchs", architecture_count_);
  symbol("nvrtcGetSupportedArchs", architectures_);
  symbol("nvrtcCreateProgram", create_);
  symbol("nvrtcCompileProgram", compile_);
  symbol("nvrtcGetProgramLogSize", log_size_);
  symbol("nvrtcGetProgramLog", log_);
  symbol("nvrtcGetPTXSize", ptx_size_);
  symbol("nvrtcGetPTX", ptx_);
  symbol("nvrtcGetCUBINSize", cubin_size_);
  symbol("nvrtcGetCUBIN", cubin_);
  symbol("nvrtcDestroyProgram", destroy_);
  symbol("nvrtcGetErrorString", error_text_);
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  if (architecture_count_(&count) != 0 || count <= 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (architectures_(numbers.data()) != 0) return {};
  return numbers;
}

std::string Nvrtc::fetch(Program program, Size size_of, Get get) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return {};
  std::string bytes(size, '\0');
  return get(program, bytes.data()) == 0 ? bytes : std::string();
}

std::string Nvrtc::compile(const std::string& text, const std::string& name,
                           const std::vector<std::string>& options, Size size, Get get) const {
  const auto failed = [&](const std::string& cause) {
    throw Error(
        {.operation = "compile",
         .object = named("kernel", name),
         .cause = "is refused by " + description_ + " with " + options.front() + ": " + cause,
         .hint = "make the artifact again with the halftonec of this release"});
  };
  Program program = nullptr;
  if (const int code = create_(&program, text.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr);
      code != 0) {
    failed(error_text_(code));
  }
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const int code = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  const std::string log = fetch(program, log_size_, log_).c_str();  // without the ending zero
  std::string image = code == 0 ? fetch(program, size, get) : std::string();
  destroy_(&program);
  if (image.empty()) failed(std::string(error_text_(code)) + (log.empty() ? "" : ", " + log));
  return image;
}

std::string Nvrtc::compile_ptx(const std::string& text, const std::string& name,
                               const std::string& architecture) const {
  const std::string virtual_architecture =
      "compute_" + architecture.substr(architecture.find('_') + 1);
  std::string ptx = compile(
      text, name,
      {"--gpu-architecture=" + virtual_architecture, "--std=c++17", "--fmad=false", "-lineinfo"},
      ptx_size_, ptx_);
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

std::string Nvrtc::compile_cubin(const std::string& text, const std::string& name,
                                 const std::string& architecture) const {
  const auto chip = parse_chip(architecture);
  const std::vector<int> known = architectures();
  int newest = 0;
  for (int number : known) {
    if (chip && number <= chip->number) newest = std::max(newest, number);
  }
  if (chip && newest != chip->number && newest != 0) {
    return compile(
        text, name,
        {"--gpu-architecture=compute_" + std::to_string(newest), "--std=c++17", "--fmad=false"},
        ptx_size_, ptx_);
  }
  return compile(text, name, {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false"},
                 cubin_size_, cubin_);
}

}  // namespace halftone
