// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "../formats.hpp"
#include "../huge_pages.hpp"
#include "../safetensors/header.hpp"
#include "../text.hpp"
#include "block_states.hpp"
#include "file_checksum.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "training_state.hpp"

namespace halftone {
namespace {

constexpr std::string_view kPrefix = "halftone.", kVersion = "1";
constexpr const char *kStructureKey = "halftone.structure", *kRulesKey = "halftone.rules",
                     *kWriterKey = "halftone.version", *kStageKey = "halftone.stage";
constexpr const char* kCountersName = "halftone/counters";

std::string structure_text(const manifest::Manifest& manifest) {
  return std::to_string(manifest.structure);
}

/// Step::Counters as a tensor.
using Words = std::array<std::int64_t, 4>;
Words words_of(const Step::Counters& counters) {
  std::int64_t seed = 0;
  std::memcpy(&seed, &counters.seed, sizeof seed);
  return {counters.steps, counters.skipped_steps, counters.was_applied ? 1 : 0, seed};
}
std::optional<Step::Counters> counters_of(const Words& words) {
  const auto& [steps, skipped, applied, seed_bits] = words;
  if (steps < 0 || skipped < 0 || skipped > steps || applied < 0 || applied > 1)
    return std::nullopt;
  std::uint64_t seed = 0;
  std::memcpy(&seed, &seed_bits, sizeof seed);
  return Step::Counters{steps, skipped, applied == 1, seed};
}

void check(const Notes& notes) {
  for (const auto& [name, text] : notes) {
    if (!name.starts_with(kPrefix)) continue;
    throw Error({.operation = "save",
                 .object = named("note", name),
                 .cause = "begins as the trainer's own do",
                 .hint = "name it without 'halftone.'"});
  }
}

safetensors::Metadata metadata_of(const manifest::Manifest& manifest, const std::string& stage,
                                  const Notes& notes) {
  safetensors::Metadata metadata = {{kChecksumKey, no_checksum()},
                                    {kVersionKey, std::string(kVersion)},
                                    {kWriterKey, manifest.halftone_version},
                                    {kModelKey, manifest.model},
                                    {kStructureKey, structure_text(manifest)},
                                    {kRulesKey, joined(manifest.rules, "\n")}};
  if (!stage.empty()) metadata.emplace_back(kStageKey, stage);
  metadata.insert(metadata.end(), notes.begin(), notes.end());
  return metadata;
}

/// Reads a file that claims to be a checkpoint; every refusal names the file.
class Reader {
 public:
  Reader(std::span<const std::byte> file, std::string name) : file_(file), name_(std::move(name)) {
    std::string why;
    if (!safetensors::parse(file, header_, tensors_at_, why))
      refuse("is no sound safetensors file: it " + why, kHint);
    const std::string* version = safetensors::find(header_.metadata, kVersionKey);
    if (!version) refuse("is a safetensors file, but no checkpoint of a trainer", kHint);
    if (*version != kVersion)
      refuse("is a checkpoint of version " + *version + ", of which this runtime knows " +
                 std::string(kVersion) + " alone",
             "resume with the halftone that wrote it, " + text_of(kWriterKey));
    if (!is_intact(file, tensors_at_, text_of(kChecksumKey))) refuse(kDamaged, kDamagedHint);
    for (const safetensors::Tensor& tensor : header_.tensors) tensors_[tensor.name] = &tensor;
  }

  [[nodiscard]] std::string text_of(std::string_view key) const {
    const std::string* found = safetensors::find(header_.metadata, key);
    return found ? *found : "";
  }

  /// The bytes of a tensor, which has this type and shape; nothing where the file lacks it.
  [[nodiscard]] std::optional<std::span<const std::byte>> tensor(
      const std::string& name, std::string_view type, std::span<const std::int64_t> shape) {
    return tensor(name, type, type, shape);
  }
  /// Likewise, `found` being its type in the file, of two floats.
  [[nodiscard]] std::optional<std::span<const std::byte>> tensor(
      const std::string& name, std::string_view type, std::string_view found_type,
      std::span<const std::int64_t> shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return std::nullopt;
    const safetensors::Tensor& tensor = *found->second;
    tensors_.erase(found);
    if (tensor.type != found_type || !std::ranges::equal(tensor.shape, shape))
      refuse("has " + named("tensor", name) + " as " +
                 safetensors::form_text(tensor.type, tensor.shape) + ", but the trainer's is " +
                 safetensors::form_text(type, shape),
             "make the trainer as it was when it saved");
    return file_.subspan(tensors_at_ + tensor.begin, tensor.end - tensor.begin);
  }

  /// The type of a tensor of the file, empty where it has none of that name.
  [[nodiscard]] std::string type_of(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::string() : found->second->type;
  }

  /// How many elements a tensor of the file has.
  [[nodiscard]] std::int64_t count_of(const std::string& name) const {
    std::int64_t count = 1;
    for (const std::int64_t extent : tensors_.at(name)->shape) count *= extent;
    return count;
  }

  /// Takes a tensor of the part's former name, and of as many elements, for the part.
  void rename(const StatePart& part) {
    const auto found = tensors_.find(part.former_name);
    if (part.former_name.empty() || found == tensors_.end() || tensors_.contains(part.name)) return;
    for (safetensors::Tensor& tensor : header_.tensors) {
      if (&tensor != found->second) continue;
      tensor.name = part.name;
      if (tensor.end - tensor.begin == static_cast<std::uint64_t>(part.bytes))
        tensor.shape = part.shape;
      tensors_.erase(found);
      tensors_[part.name] = &tensor;
      return;
    }
  }

  /// Tensors that nobody asked for.
  [[nodiscard]] std::vector<std::string> rest() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
  }

  [[nodiscard]] Notes notes() const {
    Notes notes;
    for (const auto& entry : header_.metadata)
      if (!entry.first.starts_with(kPrefix)) notes.push_back(entry);
    return notes;
  }

  [[noreturn]] void refuse(std::string cause, std::string hint) const {
    throw Error({.operation = "resume",
                 .object = named("file", name_),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  }

 private:
  static constexpr const char* kHint = "give a file that save() wrote";

  std::span<const std::byte> file_;
  std::string name_;
  safetensors::Header header_;
  std::uint64_t tensors_at_ = 0;
  std::map<std::string, const safetensors::Tensor*> tensors_;
};

/// Under other rules a model may have another name, which is part of its structure; that it is the
/// same one, its tensors say then.
void check_model(const Reader& reader, const manifest::Manifest& manifest, bool other_rules) {
  const std::string model = reader.text_of(kModelKey);
  if (model != manifest.model && other_rules) return;
  if (model != manifest.model)
    reader.refuse(
        "is of " + named("model", model) + ", but the trainer's is '" + manifest.model + "'",
        "give a checkpoint of this model");
  if (reader.text_of(kStructureKey) != structure_text(manifest))
    reader.refuse("is of another form of " + named("model", manifest.model) +
                      ": its layers, parameters or optimizer differ",
                  "resume with the program that saved it");
}

void check_rules(const Reader& reader, const manifest::Manifest& manifest) {
  const std::string theirs = reader.text_of(kRulesKey), mine = joined(manifest.rules, "\n");
  if (theirs == mine) return;
  const auto shown = [](std::string rules) {
    std::ranges::replace(rules, '\n', ';');
    return rules.empty() ? std::string("none") : "'" + rules + "'";
  };
  reader.refuse("was trained under other precision rules: " + shown(theirs) +
                    ", but the trainer's are " + shown(mine),
                "say ResumeOptions{.other_rules = true} to go on under the trainer's");
}

/// That the trainer goes on in: the file's, where it is one of the model's.
std::string stage_of(const Reader& reader, const BoundProgram& program, bool other_rules) {
  std::string stage = reader.text_of(kStageKey);
  const std::vector<std::string>& stages = program.manifest().stages;
  if (std::ranges::find(stages, stage) != stages.end()) return stage;
  if (!stage.empty() && !stages.empty() && !other_rules)
    reader.refuse("was saved in the " + named("stage", stage) +
                      ", which the trainer's model does not have: it has " + listed(stages),
                  "say ResumeOptions{.other_rules = true} to go on in the present one");
  return program.stage();
}

struct Write {
  const StatePart* part;
  std::span<const std::byte> found;
  std::vector<std::byte> converted = {};  ///< in place of what was found, unless it is empty

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return converted.empty() ? found : std::span<const std::byte>(converted);
  }
};

std::optional<encoding::Element> float_called(std::string_view type) {
  if (type == "F32") return encoding::Element::f32;
  if (type == "F16") return encoding::Element::f16;
  if (type == "BF16") return encoding::Element::bf16;
  return std::nullopt;
}

/// Whether a tensor of the file is the part in another format, which other rules may have given it.
bool is_in_another_float(const StatePart& part, std::string_view type) {
  return type != part.type && part.name.starts_with(kOwnTensors) && float_called(type) &&
         float_called(part.type);
}

std::vector<float> values_of(std::span<const std::byte> bytes, std::string_view type) {
  const encoding::Element from = *float_called(type);
  const std::int64_t count = std::ssize(bytes) / encoding::storage_bytes(from, 1);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(element_of(bytes.data(), from, i));
  return values;
}

/// P68: f32 is exact, and what is narrower the nearest.
std::vector<std::byte> converted(const Reader& reader, const StatePart& part,
                                 std::span<const float> values) {
  const encoding::Element to = *float_called(part.type);
  std::vector<std::byte> result(static_cast<std::size_t>(part.bytes));
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    const float value = values[static_cast<std::size_t>(i)];
    std::uint32_t code = 0;
    if (to == encoding::Element::f32) {
      std::memcpy(&code, &value, sizeof code);
    } else {
      code = narrowed(to, value);
    }
    const std::int64_t size = encoding::storage_bytes(to, 1);
    std::memcpy(result.data() + i * size, &code, static_cast<std::size_t>(size));  // little-endian
    if (std::isfinite(value) && !std::isfinite(element_of(result.data(), to, i))) {
      reader.refuse("has " + number_text(value) + " at element " + std::to_string(i) + " of " +
                        named("tensor", part.name) + ", which is infinite in " + part.type,
                    "store optimizer_states in f32 or bf16");
    }
  }
  return result;
}

/// P86: whether the file or the trainer holds the part in blocks with scales, and not both in the
/// same.
bool differs_in_blocks(const Reader& reader, const StatePart& part) {
  if (!part.name.starts_with(kOwnTensors) || part.is_scales) return false;
  const std::string type = reader.type_of(part.name), scales = name_of_scales(part.name);
  const bool has_scales = code_called(type) && !reader.type_of(scales).empty();
  if (part.block == 0) return has_scales && float_called(part.type);
  if (!has_scales) return float_called(type).has_value();
  return type != part.type || reader.count_of(scales) != (part.bytes + part.block - 1) / part.block;
}

/// Such a part's values in the file.
std::vector<float> values_in_file(Reader& reader, const StatePart& part) {
  const std::string type = reader.type_of(part.name), scales = name_of_scales(part.name);
  const std::span<const std::byte> found = *reader.tensor(part.name, part.type, type, part.shape);
  const std::optional<encoding::Element> element = code_called(type);
  if (!element) return values_of(found, type);
  const std::int64_t count = reader.count_of(scales);
  const std::optional<std::int64_t> block = block_of(std::ssize(found), count);
  if (!block)
    reader.refuse("has " + std::to_string(count) + " scales in " + named("tensor", scales) +
                      " for " + std::to_string(found.size()) + " codes",
                  "take an earlier file");
  const std::array<std::int64_t, 1> shape = {count};
  return values_of_blocks(found, *element, *reader.tensor(scales, "F32", shape), *block);
}

/// What to write where; adds to `resumed` what does not fit together.
std::vector<Write> match(Reader& reader, const std::vector<StatePart>& parts, bool other_rules,
                         Resumed& resumed) {
  std::vector<Write> writes;
  std::set<std::string> made;  // scales
  for (const StatePart& part : parts) reader.rename(part);
  for (const StatePart& part : parts) {
    if (!other_rules || !differs_in_blocks(reader, part)) continue;
    const std::vector<float> values = values_in_file(reader, part);
    resumed.converted.push_back(part.name);
    made.insert(part.name);
    if (part.block == 0) {
      writes.push_back({&part, {}, converted(reader, part, values)});
      continue;
    }
    BlockState state = in_blocks(values, *code_called(part.type), part.block);
    const std::string scales = name_of_scales(part.name);
    made.insert(scales);
    writes.push_back({&part, {}, std::move(state.codes)});
    writes.push_back(
        {&*std::ranges::find(parts, scales, &StatePart::name), {}, std::move(state.scales)});
  }
  for (const StatePart& part : parts) {
    if (made.contains(part.name)) continue;
    const std::string type = reader.type_of(part.name);
    const bool converts = other_rules && is_in_another_float(part, type);
    const auto bytes = reader.tensor(part.name, part.type, converts ? type : part.type, part.shape);
    if (bytes && converts) {
      writes.push_back({&part, *bytes, converted(reader, part, values_of(*bytes, type))});
      resumed.converted.push_back(part.name);
    } else if (bytes) {
      writes.push_back({&part, *bytes});
    } else if (other_rules && part.name.starts_with(kOwnTensors)) {
      resumed.kept.push_back(part.name);
    } else {
      reader.refuse("lacks " + named("tensor", part.name), "give a checkpoint of this model");
    }
  }
  resumed.left_out = reader.rest();
  const auto stranger = std::ranges::find_if(resumed.left_out, [&](const std::string& name) {
    return !other_rules || !name.starts_with(kOwnTensors);
  });
  if (stranger != resumed.left_out.end())
    reader.refuse("has " + named("tensor", *stranger) + ", which the trainer does not have",
                  "give a checkpoint of this model");
  return writes;
}

constexpr auto kFloatBytes = static_cast<std::int64_t>(sizeof(float));

std::span<const std::byte> split_part(const BoundProgram& program, const StatePart& part) {
  const auto count = static_cast<std::size_t>(part.bytes / kFloatBytes);
  return std::as_bytes(program.masters("save", part.at / kFloatBytes, count));
}

void put(BoundProgram& program, const StatePart& part, std::span<const std::byte> bytes) {
  if (part.turn) return part.turn->execution->write(part.buffer, part.at, bytes);
  if (!part.is_split) return program.write(part.buffer, part.at, bytes);
  std::vector<float> masters(bytes.size() / sizeof(float));
  std::memcpy(masters.data(), bytes.data(), bytes.size());
  program.set_masters(part.at / kFloatBytes, masters);
}

}  // namespace

Snapshot snapshot_of(BoundProgram& program, Step& step, const Notes& notes) {
  check(notes);
  const Words words = words_of(step.counters("save"));
  const std::vector<StatePart> parts = state_parts(program);
  safetensors::Header header{metadata_of(program.manifest(), program.stage(), notes), {}};
  Snapshot snapshot;
  std::size_t bytes = sizeof words;
  for (const StatePart& part : parts) bytes += static_cast<std::size_t>(part.bytes);
  snapshot.reserve("save", bytes);
  ask_for_huge_pages(snapshot.tensors.data(), bytes);
  snapshot.add(header, kCountersName, "I64", {std::ssize(words)}, std::as_bytes(std::span(words)));
  std::optional<std::size_t> present;  // what a GPU has is copied once
  const std::byte* values = nullptr;
  for (const StatePart& part : parts) {
    if (part.is_split) {
      snapshot.add(header, part.name, part.type, part.shape, split_part(program, part));
      continue;
    }
    if (part.turn) {
      part.turn->execution->forget_what_was_read();  // another stage may have changed it
      snapshot.add(header, part.name, part.type, part.shape,
                   {part.turn->execution->read(part.buffer) + part.at,
                    static_cast<std::size_t>(part.bytes)});
      continue;
    }
    if (present != part.buffer) values = program.execution().read(part.buffer);
    present = part.buffer;
    snapshot.add(header, part.name, part.type, part.shape,
                 {values + part.at, static_cast<std::size_t>(part.bytes)});
  }
  snapshot.header = safetensors::print(header);
  return snapshot;
}

Resumed restore(BoundProgram& program, Step& step, std::span<const std::byte> file,
                const std::string& name, const ResumeOptions& options) {
  Reader reader(file, name);
  check_model(reader, program.manifest(), options.other_rules);
  if (!options.other_rules) check_rules(reader, program.manifest());
  Words words{};
  const std::array<std::int64_t, 1> shape = {std::ssize(words)};
  const auto counted = reader.tensor(kCountersName, "I64", shape);
  if (counted) std::memcpy(words.data(), counted->data(), sizeof words);
  const std::optional<Step::Counters> counters = counters_of(words);
  if (!counted || !counters)
    reader.refuse("has no sound " + named("tensor", kCountersName), "take an earlier file");
  Resumed resumed{.steps = counters->steps, .notes = reader.notes()};
  const std::string stage = stage_of(reader, program, options.other_rules);
  const std::vector<StatePart> parts = state_parts(program);
  const std::vector<Write> writes = match(reader, parts, options.other_rules, resumed);
  program.execution().tear();  // until restore(), where a device fails in between
  for (const Write& write : writes) put(program, *write.part, write.bytes());
  if (program.turns().size() > 1) program.execution().forget_what_was_read();
  step.restore(*counters);
  try {
    step.enter(stage);  // whose memory is the same
  } catch (...) {
    program.execution().tear();  // the file's steps do not go on in another
    throw;
  }
  resumed.stage = program.stage();
  return resumed;
}

}  // namespace halftone
