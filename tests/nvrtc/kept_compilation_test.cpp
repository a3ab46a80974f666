// SPDX-License-Identifier: Apache-2.0
#include "kept_compilation.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../runtime/cache/kernels.hpp"
#include "../runtime/files/scratch_folder.hpp"
#include "digest.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

/// A compiler that says what it was asked, and how often it was.
struct Asked {
  std::string compiler = "NVRTC 13.0", source = "a kernel", name = "kernel";
  std::vector<std::string> options = {"--gpu-architecture=sm_90a", "--fmad=false"};
  bool is_accepted = true;

  [[nodiscard]] Compilation answer() const {
    std::string log = "log of " + compiler;
    for (const std::string& option : options) log += "\n" + option;
    return {
        .accepted = is_accepted, .log = log, .ptx = "PTX of " + source + std::string("\0 1", 3)};
  }
};

/// One run of a program: its cache is new, the folder is not.
struct Run {
  explicit Run(const ScratchFolder& folder) : cache(settings_for(folder.path())) {}

  void ask(const Asked& asked) {
    const Compilation said =
        kept_compilation(cache, {asked.compiler, asked.source, asked.name, asked.options}, [&] {
          ++compiled;
          return asked.answer();
        });
    CHECK(said.accepted == asked.is_accepted);
    CHECK(said.log == asked.answer().log);
    CHECK(said.ptx == asked.answer().ptx);
    kept += said.was_kept ? 1 : 0;
  }

  KernelCache cache;
  int compiled = 0, kept = 0;
};

}  // namespace

TEST_CASE("what changed nothing compiles nothing") {
  const ScratchFolder folder;
  for (const bool again : {false, true}) {
    Run run(folder);
    run.ask({});
    run.ask({.source = "another kernel"});
    CHECK(run.compiled == (again ? 0 : 2));
    CHECK(run.kept == (again ? 2 : 0));
  }
}

TEST_CASE("another text, option, name or build of the compiler is compiled") {
  const ScratchFolder folder;
  const std::vector<Asked> all = {
      {},
      {.compiler = "NVRTC 13.1"},
      {.source = "a kernel "},
      {.name = "another"},
      {.options = {"--gpu-architecture=sm_80", "--fmad=false"}},
      {.options = {"--gpu-architecture=sm_90a"}},
      {.options = {"--fmad=false", "--gpu-architecture=sm_90a"}},
      {.options = {"--gpu-architecture=sm_90a", "--fmad=false", "-Xptxas=-v"}},
  };
  Run first(folder);
  for (const Asked& asked : all) first.ask(asked);
  CHECK(first.compiled == static_cast<int>(all.size()));
  Run second(folder);
  for (const Asked& asked : all) second.ask(asked);
  CHECK(second.compiled == 0);
}

TEST_CASE("a damaged entry is compiled again") {
  const ScratchFolder folder;
  Run(folder).ask({});
  std::string entry;
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".kernel") entry = file.path();
  REQUIRE(!entry.empty());
  const std::string whole = bytes_of_file(entry);
  std::string changed = whole;
  changed[changed.size() - 20] ^= 1;  // in the PTX, before the checksum
  for (const std::string& damaged : {changed, whole.substr(0, whole.size() / 2), std::string()}) {
    CAPTURE(damaged.size());
    write_file(entry, damaged);
    Run run(folder);
    run.ask({});
    CHECK(run.compiled == 1);
    run.ask({});
    CHECK(run.compiled == 1);
  }
}

TEST_CASE("what is refused is told each time, and not kept") {
  const ScratchFolder folder;
  for (int i = 0; i < 2; ++i) {
    Run run(folder);
    run.ask({.is_accepted = false});
    CHECK(run.compiled == 1);
    CHECK(run.kept == 0);
  }
}

TEST_CASE("a digest is XXH3-128") {
  // The specification's value of no bytes: github.com/Cyan4973/xxHash, doc/xxhash_spec.md.
  CHECK(digest_of("") == "99aa06d3014798d86001c324468d497f");
  CHECK(digest_of("a") != digest_of("b"));
}
