// SPDX-License-Identifier: Apache-2.0
#include "simulator_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <vector>

#include "../settings.hpp"
#include "../shared_library.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/version.hpp"

namespace halftone {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libhalftone_simulator.so";
constexpr const char* kRemedy =
    "give this release's: build halftone_simulator, copy the installed file beside the program, or "
    "name it in HALFTONE_SIMULATOR";

[[noreturn]] void refuse(const std::string& file, std::string cause) {
  std::string hint = remedy_for(cause, kRemedy);
  throw Error({.operation = "device",
               .object = named("simulator", file),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// Open until the process ends; null where it does not open. `why`: the loader's words, or empty
/// where there is no such file.
void* open_file(const std::string& file, std::string& why) {
  return open_library(file, RTLD_NOW | RTLD_LOCAL, why);
}

/// Of the program, and of the shared object that this function is in, where it is in one.
std::vector<fs::path> folders_of_this_code() {
  std::error_code error;
  std::vector<fs::path> folders;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path());
  Dl_info object{};
  link_map* map = nullptr;
  const int found = dladdr1(reinterpret_cast<const void*>(&open_simulator), &object,
                            reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  const fs::path library = found != 0 && map ? map->l_name : "";  // empty for the program itself
  if (library.is_absolute()) folders.push_back(library.parent_path());
  return folders;
}

/// Sets `file` to what was opened.
void* find_library(std::string& file) {
  std::vector<std::string> places;
  std::string why;
  for (const fs::path& folder : folders_of_this_code()) {
    places.push_back("in " + folder.string());
    file = folder / kFile;
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    if (void* library = open_file(file, why)) return library;
    refuse(file, "cannot be opened: " + why);
  }
  file = kFile;
  if (void* library = open_file(file, why)) return library;
  refuse(file, "is neither " + joined(places, " nor ") + " nor where the loader looks" +
                   (why.empty() ? "" : ": " + why));
}

const SimulatorLibrary& checked(void* library, const std::string& file) {
  const auto entry = reinterpret_cast<SimulatorEntry*>(dlsym(library, kSimulatorEntry));
  if (!entry) refuse(file, std::string("is none: it has no ") + kSimulatorEntry);
  const SimulatorLibrary& simulator = *entry();
  const std::string_view version = simulator.version, ours = kVersionOfHalftone;
  if (version != ours) {
    refuse(file,
           "is Halftone " + std::string(version) + "'s, but this program has " + std::string(ours));
  }
  if (simulator.interface != std::string_view(HALFTONE_SIMULATOR_INTERFACE)) {
    refuse(file, "is of another build of Halftone " + std::string(ours) + " than this program");
  }
  return simulator;
}

}  // namespace

const SimulatorLibrary& open_simulator(const std::string& file) {
  if (file.empty()) {
    std::string found;
    void* const library = find_library(found);
    return checked(library, found);
  }
  const std::string named_file = fs::absolute(file);  // the loader would search for a bare name
  std::string why;
  void* const library = open_file(named_file, why);
  if (!library) {
    refuse(file, std::string("of HALFTONE_SIMULATOR ") +
                     (why.empty() ? "is not there" : "cannot be opened: " + why));
  }
  return checked(library, file);
}

const SimulatorLibrary& process_simulator() {
  // When it throws, the next call tries again.
  static const SimulatorLibrary& library = open_simulator(simulator_setting());
  return library;
}

}  // namespace halftone
