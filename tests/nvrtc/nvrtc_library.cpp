// SPDX-License-Identifier: Apache-2.0
#include "nvrtc_library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>

#include "digest.hpp"
#include "kept_compilation.hpp"

namespace halftone::tests {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The folder above the bin/ that has nvcc, links resolved, or empty.
std::string toolkit_on_path() {
  std::istringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code error;
    const fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", error);
    if (!error) return nvcc.parent_path().parent_path();
  }
  return "";
}

/// The newest file in `folder` whose name starts with `stem`, or empty.
fs::path library_in(const fs::path& folder, const std::string& stem) {
  fs::path newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(stem, 0) == 0)
      newest = std::max(newest, entry.path());
  }
  return newest;
}

/// Opens NVRTC 13 below `home`. The builtins are opened first: NVRTC asks for them by name alone,
/// and the loader would not look beside libnvrtc.
void* open_below(const fs::path& home) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "."}) {
    const fs::path nvrtc = library_in(home / folder, "libnvrtc.so.13");
    const fs::path builtins = library_in(home / folder, "libnvrtc-builtins.so.13");
    if (nvrtc.empty() || builtins.empty()) continue;
    if (!dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL)) continue;
    if (void* library = dlopen(nvrtc.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
bool symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// NVRTC tells its version and no more; its file tells builds of one version apart.
std::string file_of(const void* symbol) {
  Dl_info library{};
  struct stat status {};
  if (dladdr(symbol, &library) == 0 || stat(library.dli_fname, &status) == -1) return "";
  std::ostringstream text;
  text << library.dli_fname << ", " << status.st_size << " bytes of " << status.st_mtim.tv_sec
       << "." << status.st_mtim.tv_nsec;
  return text.str();
}

std::string digest_of_folder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  std::string bytes;
  for (const auto& [path, text] : files)
    bytes += path + "\n" + std::to_string(text.size()) + "\n" + text;
  return digest_of(bytes);
}

/// Of every file below the folders that these options include from; "" where they name none.
std::string digest_of_included(std::span<const std::string> options) {
  static std::mutex mutex;
  static std::map<std::string, std::string> digests;  // by folder
  const std::string include = "--include-path=";
  std::string all;
  const std::lock_guard lock(mutex);
  for (const std::string& option : options) {
    if (!option.starts_with(include)) continue;
    const std::string folder = option.substr(include.size());
    std::string& digest = digests[folder];
    if (digest.empty()) digest = digest_of_folder(folder);
    all += " including " + digest;
  }
  return all;
}

}  // namespace

std::unique_ptr<NvrtcLibrary> NvrtcLibrary::open(const std::string& fetched, std::string& reason) {
  const std::vector<std::string> homes = {environment("NVRTC_HOME"), fetched + "/nvidia/cu13",
                                          environment("CUDA_HOME"), toolkit_on_path(),
                                          "/usr/local/cuda"};
  for (const std::string& home : homes) {
    void* library = home.empty() ? nullptr : open_below(home);
    if (!library) continue;
    auto nvrtc = std::make_unique<NvrtcLibrary>();
    nvrtc->home_ = home;
    if (!nvrtc->bind(library)) continue;
    nvrtc->build_ = "NVRTC " + nvrtc->version() + " of " +
                    file_of(reinterpret_cast<const void*>(nvrtc->version_));
    return nvrtc;
  }
  reason = "no NVRTC 13 in NVRTC_HOME, " + fetched +
           ", CUDA_HOME, the toolkit of nvcc on PATH, or /usr/local/cuda; install the CUDA Toolkit "
           "13, or run tests/run "
           "where PyPI can be reached";
  return nullptr;
}

bool NvrtcLibrary::bind(void* library) {
  return symbol(library, "nvrtcVersion", version_) &&
         symbol(library, "nvrtcCreateProgram", create_) &&
         symbol(library, "nvrtcCompileProgram", compile_) &&
         symbol(library, "nvrtcGetProgramLogSize", log_size_) &&
         symbol(library, "nvrtcGetProgramLog", log_) &&
         symbol(library, "nvrtcGetPTXSize", ptx_size_) && symbol(library, "nvrtcGetPTX", ptx_) &&
         symbol(library, "nvrtcDestroyProgram", destroy_);
}

std::string NvrtcLibrary::version() const {
  int major = 0, minor = 0;
  version_(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

Compilation NvrtcLibrary::compile(const std::string& source, const std::string& name,
                                  std::span<const std::string> options) const {
  if (environment("HALFTONE_CACHE_DIR").empty()) return compile_anew(source, name, options);
  const std::string compiler = build_ + digest_of_included(options);
  return kept_compilation(*process_kernel_cache(), {compiler, source, name, options},
                          [&] { return compile_anew(source, name, options); });
}

Compilation NvrtcLibrary::compile_anew(const std::string& source, const std::string& name,
                                       std::span<const std::string> options) const {
  Program program = nullptr;
  if (create_(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
    return {.accepted = false, .log = "nvrtcCreateProgram failed", .ptx = ""};
  }
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  Compilation result;
  result.accepted = compile_(program, static_cast<int>(arguments.size()), arguments.data()) == 0;
  const auto text = [&](auto size_of, auto get) {
    std::size_t size = 0;
    if (size_of(program, &size) != 0 || size <= 1) return std::string();
    std::string characters(size, '\0');
    get(program, characters.data());
    characters.pop_back();  // the terminating zero
    return characters;
  };
  result.log = text(log_size_, log_);
  if (result.accepted) result.ptx = text(ptx_size_, ptx_);
  destroy_(&program);
  return result;
}

}  // namespace halftone::tests
