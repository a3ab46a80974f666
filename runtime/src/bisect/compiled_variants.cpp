// SPDX-License-Identifier: Apache-2.0
#include "compiled_variants.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "../files/replace_file.hpp"
#include "../text.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/seal.hpp"
#include "program.hpp"
#include "rule_text.hpp"

namespace halftone {
namespace {

constexpr const char* kHalftonecHint =
    "name halftonec, of this version, by a path (BisectOptions::halftonec, --halftonec)";
constexpr const char* kLinkerHint =
    "name a compiler that links shared objects (BisectOptions::linker, --linker)";

[[noreturn]] void fail(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "bisect",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

void write(const std::filesystem::path& file, const std::string& text) {
  const std::array<std::string_view, 1> parts = {text};
  replace_file(system_file_calls(), "bisect", file, parts, 0);
}

std::vector<std::string> targets_of(std::span<const manifest::Manifest> manifests) {
  std::vector<std::string> targets;
  for (const manifest::Manifest& manifest : manifests) {
    for (const std::string& target : manifest.targets)
      if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
  }
  return targets;
}

/// The variant that this processor, or HALFTONE_DEVICE, runs of those that the artifact has; empty
/// where it has none of them.
std::string cpu_variant(const manifest::Manifest& manifest) {
  std::optional<Device> named = Device::named_by_environment();
  if (!named || named->variants().empty()) named = Device::cpu();
  for (const std::string& variant : named->variants())
    if (std::ranges::find(manifest.variants, variant) != manifest.variants.end()) return variant;
  return {};
}

/// "batch=64,time=8"
std::string assumed(const manifest::Manifest& manifest) {
  std::string text;
  for (std::size_t i = 0; i < manifest.symbols.size() && i < manifest.assumed.size(); ++i) {
    text +=
        (text.empty() ? "" : ",") + manifest.symbols[i] + "=" + std::to_string(manifest.assumed[i]);
  }
  return text;
}

/// The layer that a name is of: itself, or what stands before its last dot; empty for a name of
/// neither.
std::string layer_of(const std::string& name, const std::set<std::string>& layers) {
  if (layers.contains(name)) return name;
  const std::string before = name.substr(0, name.rfind('.'));
  return layers.contains(before) ? before : "";
}

/// Whose rules hold for it: what a layer contributes to the gradient of another is that one's.
const std::string& owner_of(const manifest::Value& value) {
  return value.role == manifest::ValueRole::gradient ? value.name : value.layer;
}

}  // namespace

std::vector<std::string> layers_decided_by(std::span<const manifest::Manifest> manifests,
                                           std::size_t rule) {
  const auto number = static_cast<std::int32_t>(rule);
  std::set<std::string> known;
  std::vector<std::string> decided, order;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const manifest::Manifest& manifest : manifests) {
    for (const manifest::Program& program : manifest.programs) {
      for (const manifest::Value& value : program.values) {
        add(order, value.layer);
        if (value.op != "parameter") known.insert(value.layer);
        if (value.rule == number) add(decided, owner_of(value));
      }
    }
    for (const manifest::Decision& decision : manifest.decisions)
      if (decision.rule == number) add(decided, decision.layer);
  }
  std::vector<std::string> layers;
  for (const std::string& name : decided) add(layers, layer_of(name, known));
  std::ranges::sort(layers, {}, [&](const std::string& layer) {
    return std::pair(std::ranges::find(order, layer) - order.begin(), layer);
  });
  return layers;
}

CompiledVariants::CompiledVariants(std::span<const manifest::Manifest> manifests,
                                   const BisectOptions& options, const TrainVariant& train)
    : options_(options), folder_(std::filesystem::absolute(options.folder)), train_(train) {
  const manifest::Manifest& manifest = manifests.front();
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    fail("the folder " + shown(options.folder.string()), "cannot be made: " + error.message(),
         "name another one");
  write(file("model.halftone"), manifest.description);
  const auto targets = options.targets.empty() ? targets_of(manifests) : options.targets;
  compiler_ = {options.halftonec, file("model.halftone").string(), "--targets",
               joined(targets, ",")};
  const std::string variant = cpu_variant(manifest);
  if (!variant.empty()) compiler_.insert(compiler_.end(), {"--variants", variant});
  if (!manifest.symbols.empty()) compiler_.insert(compiler_.end(), {"--assume", assumed(manifest)});
}

std::filesystem::path CompiledVariants::file(const std::string& name) const {
  return folder_ / name;
}

std::string CompiledVariants::refusal(const RuleList& rules) {
  const std::string name = "variant-" + std::to_string(objects_.size());
  write(file(name + ".rules"), file_of_rules(rules));
  std::string said = compile(name);
  if (!said.empty()) return said;
  link(name);
  objects_[rules] = name;
  return {};
}

/// What halftonec says where it refuses the rules, or nothing.
std::string CompiledVariants::compile(const std::string& name) const {
  std::vector<std::string> words = compiler_;
  for (const std::string& word : {std::string("--rules"), file(name + ".rules").string(),
                                  std::string("--object"), file(name + ".o").string()})
    words.push_back(word);
  const ProgramEnd end = run_program(words, file(name + ".log"), kHalftonecHint);
  if (end.status < 0)
    fail("the program " + shown(options_.halftonec), "was ended by a signal",
         "compile " + file(name + ".rules").string() + " by hand, and report it");
  if (end.status == 0) return {};
  return end.said.empty() ? "halftonec failed without a word" : end.said;
}

void CompiledVariants::link(const std::string& name) const {
  const std::filesystem::path object = file(name + ".o"), shared = file(name + ".so");
  std::error_code ignored;
  std::filesystem::remove(shared, ignored);  // one of before may be mapped
  const ProgramEnd end =
      run_program({options_.linker, "-shared", "-o", shared.string(), object.string()},
                  file(name + ".log"), kLinkerHint);
  if (end.status != 0)
    fail("the program " + shown(options_.linker),
         "did not link " + object.string() + ": " + end.said.substr(0, end.said.find('\n')),
         kLinkerHint);
  std::filesystem::remove(object, ignored);
  std::string error;
  if (!manifest::seal_file(shared.string(), error))
    fail("the variant " + shown(shared.string()), "cannot be sealed: " + error,
         "name another folder, on a disk with room");
}

VariantRun CompiledVariants::run(const RuleList& rules, std::uint64_t seed) {
  return train_(Artifact::load(file(objects_.at(rules) + ".so")), seed);
}

std::vector<std::string> CompiledVariants::layers(const RuleList& rules, std::size_t index) {
  const auto made = objects_.find(rules);
  if (made == objects_.end()) return {};
  return layers_decided_by(Artifact::load(file(made->second + ".so")).manifests(), index);
}

}  // namespace halftone
