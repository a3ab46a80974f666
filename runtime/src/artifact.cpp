// SPDX-License-Identifier: Apache-2.0
// Verifies images and sealed files before anything of them runs.
#include "halftone/artifact.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "checked_library.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/seal.hpp"
#include "shared_library.hpp"
#include "text.hpp"
#include "whole_file.hpp"

namespace halftone {

struct Artifact::State {
  std::shared_ptr<void> library;  // of a loaded artifact
  const manifest::ArtifactImage* image = nullptr;
  std::vector<manifest::Manifest> manifests;  // cpu's first
};

namespace {

constexpr char kMagic[] = {'H', 'A', 'L', 'F', 'T', 'O', 'N', 'E'};
constexpr char kSymbol[] = "halftone_artifact";

std::string hint_for(manifest::DecodeError::Kind kind) {
  using Kind = manifest::DecodeError::Kind;
  switch (kind) {
    case Kind::version:
      return "make it again with the halftonec of this release";
    case Kind::truncated:
    case Kind::altered:
      return "copy it again or make it again with halftonec";
    case Kind::unsealed:
      return "link it with -shared, then run halftonec --seal FILE";
    case Kind::malformed:
      break;
  }
  return "make it with halftonec";
}

[[noreturn]] void refuse(const std::string& who, const manifest::DecodeError& error) {
  throw Error({.operation = "artifact",
               .object = who,
               .cause = "cannot be used: " + error.message,
               .hint = hint_for(error.kind)});
}

/// Every kernel's entries exist in every variant.
bool has_all_entries(const manifest::ArtifactImage& image, const manifest::Manifest& manifest) {
  const auto entries = static_cast<std::int64_t>(image.cpu_entry_count);
  for (std::uint32_t variant = 0; variant < image.variant_count; ++variant) {
    if (!image.cpu_entries || !image.cpu_entries[variant]) return false;
    const void* const* table = image.cpu_entries[variant];
    for (const manifest::Kernel& kernel : manifest.kernels) {
      if (kernel.cpu_entry >= entries || !table[kernel.cpu_entry]) return false;
      if (kernel.cpu_finish >= entries) return false;
      if (kernel.cpu_finish >= 0 && !table[kernel.cpu_finish]) return false;
    }
  }
  return true;
}

/// What manifests of one artifact share.
bool belong_together(const manifest::Manifest& a, const manifest::Manifest& b) {
  return a.model == b.model && a.description == b.description && a.structure == b.structure &&
         a.symbols == b.symbols && a.limits == b.limits && a.parameters == b.parameters &&
         a.parameter_elements == b.parameter_elements && a.trained_elements == b.trained_elements &&
         a.inputs == b.inputs && a.input_gradients == b.input_gradients && a.outputs == b.outputs &&
         a.losses == b.losses && a.kept_states == b.kept_states && a.stages == b.stages &&
         a.text_count == b.text_count;
}

/// A buffer of training that outlasts a step, so that the next one may be another stage's, and that
/// two manifests for one target hold in formats of their own (P68, P69); else null.
const manifest::Buffer* held_differently(const manifest::Manifest& a, const manifest::Manifest& b) {
  const bool shares_target = std::ranges::any_of(a.targets, [&](const std::string& target) {
    return std::ranges::find(b.targets, target) != b.targets.end();
  });
  if (!shares_target) return nullptr;
  const auto one = std::ranges::find(a.programs, "training", &manifest::Program::name);
  const auto other = std::ranges::find(b.programs, "training", &manifest::Program::name);
  if (one == a.programs.end() || other == b.programs.end()) return nullptr;
  for (const manifest::Buffer& buffer : one->buffers) {
    using manifest::Role;
    const bool lasts = buffer.role == Role::parameters || buffer.role == Role::optimizer_state ||
                       buffer.role == Role::state;
    const auto same = std::ranges::find(other->buffers, buffer.name, &manifest::Buffer::name);
    if (lasts && same != other->buffers.end() && same->encoding != buffer.encoding) return &buffer;
  }
  return nullptr;
}

bool is_for_cpu(const manifest::Manifest& manifest) {
  return std::ranges::find(manifest.targets, "cpu") != manifest.targets.end();
}

/// Every stage has a manifest for the CPU, the first one the first; their code is there.
bool has_all_code(const manifest::ArtifactImage& image,
                  std::span<const manifest::Manifest> manifests) {
  const manifest::Manifest& first = manifests.front();
  if (!is_for_cpu(first) || !manifest::holds_in(first, {})) return false;
  for (const std::string& stage : first.stages) {
    if (std::ranges::none_of(manifests, [&](const manifest::Manifest& manifest) {
          return is_for_cpu(manifest) && manifest::holds_in(manifest, stage);
        })) {
      return false;
    }
  }
  return std::ranges::all_of(manifests, [&](const manifest::Manifest& manifest) {
    return !is_for_cpu(manifest) ||
           (image.variant_count == manifest.variants.size() && has_all_entries(image, manifest));
  });
}

std::vector<manifest::Manifest> verify_image(const manifest::ArtifactImage& image,
                                             const std::string& who) {
  using Kind = manifest::DecodeError::Kind;
  if (std::memcmp(image.magic, kMagic, sizeof kMagic) != 0) {
    refuse(who, {Kind::malformed, "it is no Halftone artifact"});
  }
  if (image.version != manifest::kVersion) {
    refuse(who,
           {Kind::version, "it is of version " + std::to_string(image.version) + ", but version " +
                               std::to_string(manifest::kVersion) + " is needed"});
  }
  if (image.manifest_count == 0) refuse(who, {Kind::malformed, "it has no manifest"});
  std::vector<manifest::Manifest> manifests(image.manifest_count);
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    manifest::DecodeError error;
    if (!manifest::decode({image.manifests[i].bytes, image.manifests[i].size}, manifests[i],
                          error)) {
      refuse(who, error);
    }
    if (!belong_together(manifests[0], manifests[i])) {
      refuse(who, {Kind::malformed, "its manifests do not belong together"});
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (const manifest::Buffer* buffer = held_differently(manifests[j], manifests[i])) {
        const std::string why =
            "its stages hold " + named("buffer", buffer->name) + " in several formats";
        refuse(who, {Kind::malformed, why});
      }
    }
  }
  if (!has_all_code(image, manifests)) {
    refuse(who, {Kind::malformed, "its code and its manifest do not belong together"});
  }
  return manifests;
}

std::vector<std::byte> read(const std::filesystem::path& path, const std::string& who) {
  std::string why;
  std::vector<std::byte> bytes = read_whole(path, why);
  if (why.empty()) return bytes;
  throw Error({.operation = "artifact",
               .object = who,
               .cause = "cannot be read: " + why,
               .hint = remedy_for(why, "check the path and its permissions")});
}

/// As halftonec's --cpu-architecture names it.
std::string architecture_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    default:
      return "ELF machine " + std::to_string(machine);
  }
}

#if defined(__x86_64__)
constexpr unsigned kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kThisMachine = EM_AARCH64;
#else
constexpr unsigned kThisMachine = EM_NONE;  // halftonec makes no code for it
#endif

/// The loader would call such a file one that does not exist.
void refuse_other_machine(const std::string& who, std::span<const std::byte> file) {
  Elf64_Ehdr header{};
  std::memcpy(&header, file.data(), std::min(sizeof header, file.size()));
  if (header.e_machine == kThisMachine) return;
  const std::string mine = architecture_name(kThisMachine);
  throw Error({.operation = "artifact",
               .object = who,
               .cause = "cannot be loaded: it is for " + architecture_name(header.e_machine) +
                        ", but this program runs on " + mine,
               .hint = "make it with halftonec --cpu-architecture " + mine});
}

}  // namespace

Artifact Artifact::linked(const manifest::ArtifactImage& image) {
  auto state = std::make_shared<State>();
  state->image = &image;
  state->manifests = verify_image(image, "the linked artifact");
  return Artifact(std::move(state));
}

Artifact Artifact::load(const std::filesystem::path& path) {
  const std::string who = named("file", path.string());
  const FileVersion version(path);
  const std::vector<std::byte> bytes = read(path, who);
  if (manifest::DecodeError error; !manifest::check_seal(bytes, error)) refuse(who, error);
  refuse_other_machine(who, bytes);
  const std::span seal = std::span(bytes).last(manifest::kSealBytes);
  auto state = std::make_shared<State>();
  LoadRefusal refusal{.hint = "make it with halftonec for this machine"};
  state->library = open_checked(
      {path, version, bytes, {reinterpret_cast<const char*>(seal.data()), seal.size()}}, refusal);
  if (!state->library) {
    throw Error({.operation = "artifact",
                 .object = who,
                 .cause = "cannot be loaded: " + refusal.cause,
                 .hint = remedy_for(refusal.cause, refusal.hint)});
  }
  state->image = static_cast<const manifest::ArtifactImage*>(dlsym(state->library.get(), kSymbol));
  if (!state->image) {
    refuse(who, {manifest::DecodeError::Kind::malformed,
                 std::string("it does not export the symbol ") + kSymbol});
  }
  state->manifests = verify_image(*state->image, who);
  return Artifact(std::move(state));
}

const manifest::Manifest& Artifact::manifest() const noexcept { return state_->manifests.front(); }
std::span<const manifest::Manifest> Artifact::manifests() const noexcept {
  return state_->manifests;
}
const manifest::ArtifactImage& Artifact::image() const noexcept { return *state_->image; }

}  // namespace halftone
