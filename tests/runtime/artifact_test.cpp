// SPDX-License-Identifier: Apache-2.0
// Linked images and shared objects: whole ones run, damaged ones are refused in one sentence each.
#include "halftone/artifact.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "artifact_files.hpp"
#include "generated_example.hpp"
#include "halftone/manifest/seal.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "no_more_files.hpp"

namespace fs = std::filesystem;
using namespace artifact_files;
using halftone::Artifact;
using halftone::manifest::ArtifactImage;

namespace {

const std::string kNameArtifact = "; name the shared object that the artifact was linked into";

/// With a seal that is right, around whatever it is: seal_file() takes artifacts alone.
void write_sealed(const fs::path& path, Bytes bytes) {
  for (const std::byte byte : halftone::manifest::seal_of(std::as_bytes(std::span(bytes)))) {
    bytes.push_back(static_cast<char>(byte));
  }
  write(path, bytes);
}

}  // namespace

TEST_CASE("a linked artifact shows its manifest") {
  CHECK(models::line::artifact().manifest() == hand_made::manifest());
}

TEST_CASE("a damaged linked image is refused") {
  const auto refusal = [](auto damage) {
    ArtifactImage image = halftone_artifact_line;
    damage(image);
    return message_of([&] { (void)Artifact::linked(image); });
  };
  const std::string who = "artifact: the linked artifact cannot be used: ";
  CHECK(refusal([](auto& image) { image.magic[0] = 'h'; }) ==
        who + "it is no Halftone artifact; make it with halftonec");
  CHECK(
      refusal([](auto& image) { image.version = 99; }) ==
      who +
          "it is of version 99, but version 23 is needed; make it again with the halftonec of this "
          "release");
  const halftone::manifest::ManifestImage whole = *halftone_artifact_line.manifests;
  const halftone::manifest::ManifestImage cut = {whole.bytes, 10};
  CHECK(refusal([&](auto& image) { image.manifests = &cut; }) ==
        who +
            "the manifest is truncated: 10 bytes are fewer than its header has; copy it again or "
            "make "
            "it again with halftonec");
  std::vector<std::byte> bytes(whole.bytes, whole.bytes + whole.size);
  bytes.back() ^= std::byte{1};
  const halftone::manifest::ManifestImage altered = {bytes.data(), bytes.size()};
  CHECK(refusal([&](auto& image) { image.manifests = &altered; }) ==
        who +
            "the manifest was altered: its checksum does not match; copy it again or make it again "
            "with halftonec");
  CHECK(refusal([](auto& image) { image.manifest_count = 0; }) ==
        who + "it has no manifest; make it with halftonec");
  const std::string apart =
      who + "its code and its manifest do not belong together; make it with halftonec";
  CHECK(refusal([](auto& image) { image.variant_count = 1; }) == apart);
  CHECK(refusal([](auto& image) { image.cpu_entry_count = 10; }) == apart);
  CHECK(refusal([](auto& image) { image.cpu_entries = nullptr; }) == apart);
  for (std::size_t hole : {0, 2}) {  // the entry of line_forward, the finish of line_loss
    const void* const* all = halftone_artifact_line.cpu_entries[0];
    std::vector<const void*> entries(all, all + halftone_artifact_line.cpu_entry_count);
    entries[hole] = nullptr;
    const std::array<const void* const*, 2> tables = {all, entries.data()};
    CHECK(refusal([&](auto& image) { image.cpu_entries = tables.data(); }) == apart);
  }
}

TEST_CASE("an artifact shows a manifest for every way in which rules resolve") {
  halftone::manifest::Manifest other = hand_made::manifest();
  other.targets = {"sm_80", "sm_90a"};
  other.loss_scale.initial = 2.0;
  const std::size_t kernels = other.kernels.size();
  for (const std::string& chip : other.targets) {
    other.cuda.push_back({chip, std::vector<halftone::manifest::CudaKernel>(kernels)});
    for (auto& kernel : other.cuda.back().kernels) kernel.entry = "k";
  }
  halftone::manifest::Manifest first = hand_made::manifest();
  first.text_count = other.text_count = 1;
  const auto linked = [&] {
    const auto a = encode(first), b = encode(other);
    const halftone::manifest::ManifestImage images[] = {{a.data(), a.size()}, {b.data(), b.size()}};
    ArtifactImage image = halftone_artifact_line;
    image.manifests = images;
    image.manifest_count = 2;
    return Artifact::linked(image);
  };
  CHECK(linked().manifest() == first);
  REQUIRE(linked().manifests().size() == 2);
  CHECK(linked().manifests()[1] == other);
  const std::string who = "artifact: the linked artifact cannot be used: ";
  other.text_count = 2;
  CHECK(message_of([&] { (void)linked(); }) ==
        who + "its manifests do not belong together; make it with halftonec");
  other.text_count = 1;
  std::swap(first, other);
  CHECK(message_of([&] { (void)linked(); }) ==
        who + "its code and its manifest do not belong together; make it with halftonec");
}

TEST_CASE("a sealed shared object loads and trains like the linked artifact") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  const auto device = halftone::Device::cpu().with_threads(2);
  models::line::Trainer loaded(Artifact::load(path), device, {.batch = 2, .seed = 4});
  models::line::Trainer linked(device, {.batch = 2, .seed = 4});
  const std::vector<float> features = {1, 2, 3, 4, 5, 6}, target = {1, 0, 0, 1};
  for (int step = 0; step < 3; ++step) {
    loaded.step(features, target);
    linked.step(features, target);
  }
  CHECK(std::ranges::equal(loaded.parameter("fc.weight"), linked.parameter("fc.weight")));
}

TEST_CASE("a file in the working directory loads by its bare name") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so"), former = fs::current_path();
  fs::current_path(path.parent_path());
  const std::string message = load_error("line.so");
  fs::current_path(former);
  CHECK(message == "no error");
}

TEST_CASE("sealing twice changes nothing") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  const Bytes once = read(path);
  std::string error;
  CHECK(halftone::manifest::seal_file(path.string(), error));
  CHECK(read(path) == once);
  CHECK_FALSE(halftone::manifest::seal_file((folder / "absent").string(), error));
  CHECK(error == "cannot read '" + (folder / "absent").string() + "': No such file or directory" +
                     kNameArtifact);
}

TEST_CASE("what was altered or cut since it was linked is not sealed") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  const Bytes whole = read(path);
  Bytes altered = whole, cut = whole, later = whole;
  altered[200] ^= 1;
  cut.resize(whole.size() / 2);
  later[whole.size() - halftone::manifest::kSealBytes + 8] = halftone::manifest::kVersion + 1;
  struct Case {
    const Bytes& bytes;
    const char* reason;
  };
  for (const Case& c : {Case{altered, "the file was altered: its checksum does not match"},
                        Case{cut, "the file is truncated: its seal is missing"},
                        Case{later, "the artifact is of version 24, but version 23 is needed"}}) {
    CAPTURE(std::string(c.reason));
    write(path, c.bytes);
    std::string error;
    CHECK_FALSE(halftone::manifest::seal_file(path.string(), error));
    CHECK(error == "'" + path.string() + "' cannot be sealed: " + c.reason +
                       "; link it again, then seal it");
    CHECK(read(path) == c.bytes);
  }
}

TEST_CASE("a seal that cannot be written names the reason") {
  const Folder folder;
  const fs::path path = folder / "line.so";
  fs::copy_file(LINE_PLUGIN, path);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string error;
  const bool sealed = halftone::manifest::seal_file(path.string(), error);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, former);
  CHECK_FALSE(sealed);
  CHECK(error == "cannot write to '" + path.string() +
                     "': File too large; make it and its disk writable, then link and seal it "
                     "again");
}

TEST_CASE("what is no shared object is not sealed") {
  const Folder folder;
  const fs::path path = folder / "model.hpp";
  for (const std::string& content : {std::string(), std::string("#pragma once\n"),
                                     std::string("\x7f"
                                                 "ELF\2\1\1") +
                                         std::string(80, '\0')}) {
    std::ofstream(path, std::ios::binary) << content;
    std::string error;
    CHECK_FALSE(halftone::manifest::seal_file(path.string(), error));
    CHECK(error ==
          "'" + path.string() + "' is no shared object; link the artifact into one and seal that");
    CHECK(fs::file_size(path) == content.size());
  }
}

TEST_CASE("a shared object without an artifact is not sealed") {
  const Folder folder;
  const fs::path path = folder / "libc.so";
  for (const char* library : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    if (!fs::exists(library)) continue;
    fs::copy_file(library, path, fs::copy_options::overwrite_existing);
    std::string error;
    CHECK_FALSE(halftone::manifest::seal_file(path.string(), error));
    CHECK(error ==
          "'" + path.string() + "' holds no artifact; link what halftonec --object wrote into it");
    CHECK(fs::file_size(path) == fs::file_size(library));
  }
}

TEST_CASE("a folder is not sealed") {
  const Folder folder;
  std::string error;
  CHECK_FALSE(halftone::manifest::seal_file((folder / ".").string(), error));
  CHECK(error == "cannot read '" + (folder / ".").string() + "': it is a folder or a device" +
                     kNameArtifact);
}

TEST_CASE("a truncated shared object is refused before any of its code is mapped") {
  const Folder folder;
  const Bytes whole = read(folder.sealed(LINE_PLUGIN, "line.so"));
  const fs::path path = folder / "cut.so";
  std::vector<std::size_t> lengths;
  for (std::size_t length = 64; length < whole.size(); length += whole.size() / 50) {
    lengths.push_back(length);
  }
  for (std::size_t missing = 1; missing < halftone::manifest::kSealBytes; ++missing) {
    lengths.push_back(whole.size() - missing);
  }
  for (std::size_t length : lengths) {
    write(path, Bytes(whole.begin(), whole.begin() + static_cast<long>(length)));
    CAPTURE(length);
    CHECK(load_error(path) ==
          file_sentence(path,
                        "cannot be used: the file is truncated: its seal is missing; copy it "
                        "again or make it again with halftonec"));
  }
}

TEST_CASE("a shared object for another architecture is refused before the loader sees it") {
  constexpr std::size_t kMachineAt = 18;  // Elf64_Ehdr::e_machine
  struct Machine {
    char number;  // of the ELF specification's table
    std::string name;
  };
#if defined(__aarch64__)
  const std::string mine = "aarch64";
  const Machine others[] = {{62, "x86_64"}, {40, "ELF machine 40"}};
#else
  const std::string mine = "x86_64";
  const Machine others[] = {{static_cast<char>(183), "aarch64"}, {40, "ELF machine 40"}};
#endif
  const Folder folder;
  const fs::path path = folder / "other.so";
  for (const Machine& other : others) {
    Bytes bytes = read(LINE_PLUGIN);
    bytes[kMachineAt] = other.number;
    write_sealed(path, bytes);
    CHECK(load_error(path) ==
          file_sentence(path, "cannot be loaded: it is for " + other.name +
                                  ", but this program runs on " + mine +
                                  "; make it with halftonec --cpu-architecture " + mine));
  }
}

TEST_CASE("bytes behind a shared object without a seal do not make it a truncated one") {
  const Folder folder;
  const fs::path path = folder / "behind.so";
  Bytes bytes = read(LINE_PLUGIN);
  bytes.insert(bytes.end(), 100, 'x');
  write(path, bytes);
  CHECK(load_error(path).find("does not end in a seal") != std::string::npos);
}

TEST_CASE("an altered shared object is refused, wherever the bit lies") {
  const Folder folder;
  const Bytes whole = read(folder.sealed(LINE_PLUGIN, "line.so"));
  const fs::path path = folder / "altered.so";
  for (std::size_t at = 0; at < whole.size() - halftone::manifest::kSealBytes;
       at += whole.size() / 60) {
    Bytes bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    write(path, bytes);
    CAPTURE(at);
    CHECK(load_error(path) ==
          file_sentence(path,
                        "cannot be used: the file was altered: its checksum does not match; copy "
                        "it again or make it again with halftonec"));
  }
}

TEST_CASE("files that are no artifact are refused, each with its reason") {
  const Folder folder;
  const std::string no_seal =
      "cannot be used: the file is no Halftone artifact: it does not end in a seal; make it with "
      "halftonec";
  const fs::path garbage = folder / "garbage", empty = folder / "empty", text = folder / "text";
  write(garbage, Bytes(1000, 'x'));
  CHECK(load_error(garbage) == file_sentence(garbage, no_seal));
  write(empty, {});
  CHECK(load_error(empty) == file_sentence(empty, no_seal));
  const fs::path absent = folder / "absent";
  CHECK(load_error(absent) ==
        file_sentence(absent,
                      "cannot be read: No such file or directory; check the path and its "
                      "permissions"));
  CHECK(load_error(folder / ".") ==
        file_sentence(folder / ".",
                      "cannot be read: it is a folder; check the path and its "
                      "permissions"));
  const fs::path unsealed = folder / "unsealed.so";
  fs::copy_file(LINE_PLUGIN, unsealed);
  CHECK(load_error(unsealed) ==
        file_sentence(unsealed,
                      "cannot be used: the file does not end in a seal; link it with -shared, then "
                      "run halftonec --seal FILE"));

  const fs::path sealed_text = folder / "sealed_text";
  write_sealed(sealed_text, Bytes(1000, 'x'));
  CHECK(load_error(sealed_text).find(file_sentence(sealed_text, "cannot be loaded: ")) == 0);
  const fs::path other = folder / "other.so";
  write_sealed(other, read(NO_ARTIFACT));
  CHECK(load_error(other) ==
        file_sentence(other,
                      "cannot be used: it does not export the symbol halftone_artifact; make "
                      "it with halftonec"));
}

TEST_CASE("an artifact is not to blame for a limit on open files") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  std::string message;
  {
    const NoMoreFiles limit;
    message = load_error(path);
  }
  CHECK(message == file_sentence(path,
                                 "cannot be read: Too many open files; close files, or allow "
                                 "more open ones (ulimit -n)"));
  CHECK(load_error(path) == "no error");
}

TEST_CASE("a shared object of another version is refused by its seal, and by its image") {
  const Folder folder;
  const fs::path path = folder.sealed(LINE_PLUGIN, "line.so");
  Bytes bytes = read(path);
  bytes[bytes.size() - halftone::manifest::kSealBytes + 8] = 1;
  write(path, bytes);
  const std::string remedy = "; make it again with the halftonec of this release";
  CHECK(
      load_error(path) ==
      file_sentence(
          path, "cannot be used: the artifact is of version 1, but version 23 is needed" + remedy));
  const fs::path later = folder.sealed(LATER_PLUGIN, "later.so");
  CHECK(load_error(later) ==
        file_sentence(later,
                      "cannot be used: it is of version 99, but version 23 is needed" + remedy));
}
