// SPDX-License-Identifier: Apache-2.0
// Files that change while what was loaded from them is in use. The two versions of the plugin
// differ in their learning rates, 0.5 and 0.25.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "artifact_files.hpp"
#include "checked_library.hpp"
#include "generated_example.hpp"
#include "halftone/manifest/manifest.hpp"
#include "no_more_files.hpp"

namespace fs = std::filesystem;
using namespace artifact_files;
using halftone::Artifact;
using halftone::manifest::ArtifactImage;

namespace {

/// The file that the loader says an artifact's image lies in.
std::string loaded_as(const Artifact& artifact) {
  Dl_info info{};
  REQUIRE(dladdr(&artifact.image(), &info) != 0);
  return info.dli_fname;
}

double learning_rate(const Artifact& artifact) { return artifact.manifest().learning_rate; }

/// The weights after three steps.
std::vector<float> trained(models::line::Trainer& trainer) {
  const std::vector<float> features = {1, 2, 3, 4, 5, 6}, target = {1, 0, 0, 1};
  for (int step = 0; step < 3; ++step) trainer.step(features, target);
  const auto weights = trainer.parameter("fc.weight");
  return {weights.begin(), weights.end()};
}

std::vector<float> trained(const Artifact& artifact) {
  models::line::Trainer trainer(artifact, halftone::Device::cpu(), {.batch = 2, .seed = 4});
  return trained(trainer);
}

/// Of the artifact that is linked into this test.
std::vector<float> trained(float rate) {
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 2, .seed = 4});
  trainer.set_learning_rate(rate);
  return trained(trainer);
}

}  // namespace

TEST_CASE("a file that was replaced loads as what it is, while the former one stays in use") {
  const Folder folder;
  std::optional<Artifact> former = Artifact::load(folder.sealed(LINE_PLUGIN, "line.so"));
  const fs::path path = folder.sealed(SLOWER_PLUGIN, "line.so");
  const Artifact present = Artifact::load(path);
  CHECK(learning_rate(*former) == 0.5);
  CHECK(learning_rate(present) == 0.25);
  CHECK(trained(*former) == trained(0.5f));
  CHECK(trained(present) == trained(0.25f));
  former.reset();
  CHECK(trained(present) == trained(0.25f));
}

TEST_CASE("a file that was replaced several times loads as what it is") {
  const Folder folder;
  std::vector<Artifact> loaded;
  for (int i = 0; i < 6; ++i) {
    const char* plugin = i % 2 == 0 ? LINE_PLUGIN : SLOWER_PLUGIN;
    loaded.push_back(Artifact::load(folder.sealed(plugin, "line.so")));
    CHECK(learning_rate(loaded.back()) == (i % 2 == 0 ? 0.5 : 0.25));
    if (i % 3 == 2) loaded.erase(loaded.begin());
  }
}

TEST_CASE("a file that was written over in place loads as what it is") {
  const Folder folder;
  const fs::path line = folder.sealed(LINE_PLUGIN, "line.so"),
                 slower = folder.sealed(SLOWER_PLUGIN, "slower.so");
  // The larger file over the smaller: one that is truncated would take pages from the loader.
  const bool is_larger = fs::file_size(slower) >= fs::file_size(line);
  const fs::path path = is_larger ? line : slower;
  const Bytes other = read(is_larger ? slower : line);
  const Artifact former = Artifact::load(path);
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .write(other.data(), static_cast<long>(other.size()));
  CHECK(learning_rate(Artifact::load(path)) == (is_larger ? 0.25 : 0.5));
}

TEST_CASE("what the program opened itself is not taken for what its file now is") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(opened);
  (void)folder.sealed(SLOWER_PLUGIN, "line.so");
  CHECK(learning_rate(Artifact::load(path)) == 0.25);
  dlclose(opened);
}

TEST_CASE("a file that did not change is loaded once, by its own name") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  const Artifact first = Artifact::load(path), second = Artifact::load(path);
  CHECK(&first.image() == &second.image());
  CHECK(loaded_as(first) == path.string());
  fs::create_symlink(path, folder / "link.so");
  CHECK(&Artifact::load(folder / "link.so").image() == &first.image());
}

TEST_CASE("what is loaded beside a former one is found by debuggers, and loaded once, too") {
  const Folder folder;
  const Artifact former = Artifact::load(folder.sealed(LINE_PLUGIN, "line.so"));
  const fs::path path = folder.sealed(SLOWER_PLUGIN, "line.so");
  const Artifact first = Artifact::load(path), second = Artifact::load(path);
  CHECK(&first.image() == &second.image());
  const std::string name = loaded_as(first);
  CHECK(read(name) == read(path));
  CHECK(fs::read_symlink(name).string().find(path.string()) != std::string::npos);
}

TEST_CASE("what the loader does not unload is not loaded again") {
  const Folder folder;
  const fs::path path = folder.sealed(LASTING_PLUGIN, "lasting.so");
  const void* first = &Artifact::load(path).image();
  CHECK(&Artifact::load(path).image() == first);
  CHECK(loaded_as(Artifact::load(path)) == path.string());
  CHECK(learning_rate(Artifact::load(folder.sealed(SLOWER_PLUGIN, "lasting.so"))) == 0.25);
}

TEST_CASE("a file that is replaced behind its check loads as what was checked") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  const Bytes bytes = read(path);
  const halftone::CheckedFile file{path, halftone::FileVersion(path),
                                   std::as_bytes(std::span(bytes)), "what was checked"};
  const auto rate_of = [&](const std::shared_ptr<void>& library) {
    REQUIRE(library);
    const void* image = dlsym(library.get(), "halftone_artifact");
    REQUIRE(image);
    return learning_rate(Artifact::linked(*static_cast<const ArtifactImage*>(image)));
  };
  halftone::LoadRefusal refusal;
  SUBCASE("by another artifact") { (void)folder.sealed(SLOWER_PLUGIN, "line.so"); }
  SUBCASE("by nothing") { fs::remove(path); }
  CHECK(rate_of(halftone::open_checked(file, refusal)) == 0.5);
}

TEST_CASE("where no copy can be made beside the former one the sentence says so") {
  const Folder folder;
  const Artifact former = Artifact::load(folder.sealed(LINE_PLUGIN, "line.so"));
  const fs::path path = folder.sealed(SLOWER_PLUGIN, "line.so");
  const Bytes bytes = read(path);
  halftone::LoadRefusal refusal;
  std::shared_ptr<void> library;
  {
    const NoMoreFiles limit;
    library = halftone::open_checked(
        {path, halftone::FileVersion(path), std::as_bytes(std::span(bytes)), "of the slower one"},
        refusal);
  }
  CHECK(!library);
  CHECK(
      refusal.cause ==
      "another version of it has its name, and no copy can be made in memory: Too many open files");
  CHECK(refusal.hint == "give the file another name, or load it in a new process");
  CHECK(learning_rate(Artifact::load(path)) == 0.25);
}
