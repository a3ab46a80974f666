// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>

#include "../profile_range.hpp"
#include "../settings.hpp"
#include "../shared_library.hpp"
#include "../stopping.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Of nvrtcResult.
constexpr int kDoesNotCompile = 6, kCancelled = 16;

/// Until when a compilation may go on.
struct Limits {
  Clock::time_point deadline;
  std::stop_token stop;
};

/// NVRTC asks while it compiles, maybe on threads of its own; 1: stop.
int is_over(void* limits, void*) {
  const auto& [deadline, stop] = *static_cast<const Limits*>(limits);
  return Clock::now() >= deadline || stop.stop_requested() ? 1 : 0;
}

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

/// What was found and could not be used, and why.
using Refusals = std::vector<std::string>;

/// The loader's, if it has words for it.
void* open_or_tell(const std::string& name, int scope, Refusals& refusals) {
  std::string refusal;
  void* library = open_library(name, RTLD_NOW | scope, refusal);
  if (!refusal.empty()) refusals.push_back(std::move(refusal));
  return library;
}

/// The builtins of that NVRTC in a folder, or empty: "libnvrtc-builtins.so.13.0".
fs::path builtins_in(const fs::path& folder, std::string_view major, std::error_code& error) {
  const std::string stem = "libnvrtc-builtins.so." + std::string(major) + ".";
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(stem)) {
      newest = std::max(newest, entry.path());
    }
  }
  return newest;
}

/// NVRTC in a folder. It asks for its builtins by name alone, and the loader would not look beside
/// it; so they are opened first.
void* open_in(const fs::path& folder, Refusals& refusals) {
  for (const std::string library : kLibraries) {
    std::error_code error;
    if (!fs::exists(folder / library, error)) continue;
    const std::string major = library.substr(library.rfind('.') + 1);
    const fs::path builtins = builtins_in(folder, major, error);
    if (builtins.empty()) {
      refusals.push_back((folder / library).string() + ": there is no libnvrtc-builtins.so." +
                         major + ".* beside it" + (error ? ": " + error.message() : ""));
      continue;
    }
    if (!open_or_tell(builtins, RTLD_GLOBAL, refusals)) continue;
    if (void* opened = open_or_tell(folder / library, RTLD_LOCAL, refusals)) return opened;
  }
  return nullptr;
}

void* open_below(const std::string& home, std::string& where, Refusals& refusals) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "."}) {
    const fs::path path = fs::path(home) / folder;
    if (void* library = open_in(path, refusals)) {
      where = path.lexically_normal().string();
      return library;
    }
  }
  return nullptr;
}

constexpr const char* kCubin = "cubin";
constexpr const char* kPtx = "PTX";

/// NVRTC tells its version and no more; its file tells builds of one version apart.
std::string build_of(const void* symbol) {
  Dl_info library{};
  struct stat status{};
  if (dladdr(symbol, &library) == 0 || stat(library.dli_fname, &status) == -1) return {};
  return " (" + std::to_string(status.st_size) + " bytes of " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ")";
}

[[noreturn]] void refuse(std::string cause) {
  std::string hint = remedy_for(cause,
                                "install the CUDA Toolkit 13, or set NVRTC_HOME to a folder that "
                                "has lib/libnvrtc.so.13");
  throw Error({.operation = "compile",
               .object = "NVRTC",
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// Only a text that does not compile is the artifact's fault.
std::string hint_for(int code, const std::string& cause) {
  if (code == kDoesNotCompile) return "make the artifact again with the halftonec of this release";
  return remedy_for(cause, "free memory, or install the CUDA Toolkit 13 anew");
}

/// NVRTC opens files while it compiles, and does not say why it cannot.
std::string words_of_limit() {
  const std::string words = words_of_full_table();
  return words.empty() ? "" : " (no file can be opened: " + words + ")";
}

/// `absent` is said where nothing was found.
[[noreturn]] void refuse_all(const Refusals& refusals, std::string absent) {
  refuse(refusals.empty() ? std::move(absent)
                          : "is here and cannot be loaded: " + joined(refusals, "; "));
}

}  // namespace

const Nvrtc& Nvrtc::instance() {
  // When it throws, the next call tries again.
  static const Nvrtc nvrtc({.nvrtc_home = nvrtc_home_setting(),
                            .cuda_home = cuda_home_setting(),
                            .timeout_seconds = compile_timeout_setting()});
  return nvrtc;
}

void Nvrtc::warm_up() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      const Nvrtc& nvrtc = instance();
      const std::vector<int> known = nvrtc.architectures();
      if (known.empty()) return;
      (void)nvrtc.compile_cubin("extern \"C\" __global__ void nothing() {}", "nothing",
                                "sm_" + std::to_string(known.back()));
    } catch (...) {  // whoever needs a kernel is told why there is none
    }
  });
}

Nvrtc::Nvrtc(const NvrtcSettings& settings) : settings_(settings) {
  open_library();
  bind();
  version_(&number_.major, &number_.minor);
  description_ = "NVRTC " + text_of(number_) + " of " + description_;
  release_ = "NVRTC " + text_of(number_) + build_of(reinterpret_cast<const void*>(version_));
}

void Nvrtc::open_library() {
  Refusals refusals;
  if (const std::string& home = settings_.nvrtc_home; !home.empty()) {
    library_ = open_below(home, description_, refusals);
    if (library_) return;
    refuse_all(refusals, "is not in '" + home + "', which NVRTC_HOME names");
  }
  for (const char* name : kLibraries) {
    library_ = open_or_tell(name, RTLD_LOCAL, refusals);
    description_ = name;
    if (library_) return;
  }
  for (const std::string& home : {settings_.cuda_home, settings_.toolkit}) {
    library_ = home.empty() ? nullptr : open_below(home, description_, refusals);
    if (library_) return;
  }
  refuse_all(refusals,
             "is not on this machine: it was looked for where the loader looks, in CUDA_HOME and "
             "in " +
                 settings_.toolkit);
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
  set_flow_callback_ =
      reinterpret_cast<decltype(set_flow_callback_)>(dlsym(library_, "nvrtcSetFlowCallback"));
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
                           const CompilerIdentity& compiler) const {
  const ProfileRange range("compile a kernel");
  const auto failed = [&](const std::string& cause, int code) {
    throw Error({.operation = "compile",
                 .object = named("kernel", name),
                 .cause = "is refused by " + description_ + " with " + compiler.options.front() +
                          ": " + cause,
                 .hint = hint_for(code, cause)});
  };
  if (MayStop::of_thread().stop_requested()) failed("nobody waits for it any more", kCancelled);
  Program program = nullptr;
  if (const int code = create_(&program, text.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr);
      code != 0) {
    failed(error_text_(code) + words_of_limit(), code);
  }
  std::vector<const char*> arguments;
  for (const std::string& option : compiler.options) arguments.push_back(option.c_str());
  const std::chrono::seconds timeout(settings_.timeout_seconds);
  Limits limits{timeout.count() > 0 ? Clock::now() + timeout : Clock::time_point::max(),
                MayStop::of_thread()};
  if (set_flow_callback_) set_flow_callback_(program, is_over, &limits);
  const int code = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  const std::string log = fetch(program, log_size_, log_).c_str();  // without the ending zero
  std::string image;
  if (code == 0) {
    const bool ptx = compiler.output == kPtx;
    image = fetch(program, ptx ? ptx_size_ : cubin_size_, ptx ? ptx_ : cubin_);
  }
  destroy_(&program);
  if (code == kCancelled && !limits.stop.stop_requested()) {
    throw Error({.operation = "compile",
                 .object = named("kernel", name),
                 .cause = "took " + description_ + " with " + compiler.options.front() +
                          " more than " + std::to_string(settings_.timeout_seconds) + " seconds",
                 .hint = "set HALFTONE_COMPILE_TIMEOUT to more seconds, or to 0 for no limit"});
  }
  if (image.empty()) {
    failed(error_text_(code) + (log.empty() ? "" : ", " + log) + words_of_limit(), code);
  }
  return image;
}

CompilerIdentity Nvrtc::ptx_compiler(const std::string& architecture) const {
  const std::string target = "compute_" + architecture.substr(architecture.find('_') + 1);
  return {.compiler = release_,
          .options = {"--gpu-architecture=" + target, "--std=c++17", "--fmad=false", "-lineinfo"},
          .output = kPtx,
          .driver = ""};
}

CompilerIdentity Nvrtc::cubin_compiler(const std::string& architecture) const {
  return {.compiler = release_,
          .options = {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false"},
          .output = architecture.starts_with("compute_") ? kPtx : kCubin,
          .driver = ""};
}

std::string Nvrtc::compile_ptx(const std::string& text, const std::string& name,
                               const std::string& architecture) const {
  std::string ptx = compile(text, name, ptx_compiler(architecture));
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

std::string Nvrtc::compile_cubin(const std::string& text, const std::string& name,
                                 const std::string& architecture) const {
  return compile(text, name, cubin_compiler(architecture));
}

}  // namespace halftone
