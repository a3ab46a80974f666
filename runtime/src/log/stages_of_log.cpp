// SPDX-License-Identifier: Apache-2.0
// The stages of a run, by the entries of its log: the first step in another stage is one.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../text.hpp"
#include "../whole_file.hpp"
#include "halftone/adaptation.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, std::string cause, std::string hint) {
  throw Error({.operation = "read stages of a log",
               .object = named("file", file.string()),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// What follows the first `key` of a line as json_lines() writes them, where these keys come before
/// all names of a caller's own.
std::string_view behind(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + key.size());
}

std::optional<std::int64_t> number_in(std::string_view line, std::string_view key) {
  const std::string_view text = behind(line, key);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  const bool is_whole = read.ec == std::errc() && (rest.starts_with(',') || rest.starts_with('}'));
  return is_whole ? std::optional(number) : std::nullopt;
}

std::string_view stage_in(std::string_view line) {
  const std::string_view text = behind(line, "\"stage\":\"");
  return text.substr(0, text.find('"'));  // names have no quotes (P66)
}

struct Entry {
  std::int64_t step = 0;
  std::string stage;
};

/// Those of a run that is in the file, the steps that a resumed part did again left out.
std::vector<Entry> entries_of(const std::filesystem::path& file, std::string_view text) {
  std::vector<Entry> entries;
  bool is_run = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.ends_with('}')) continue;  // cut off
    if (line.starts_with("{\"kind\":\"run\",")) {
      const std::int64_t first = number_in(line, "\"first_step\":").value_or(0);
      if (!is_run && first > 0)
        refuse(file, "begins behind step " + std::to_string(first),
               "give a log that goes on behind that of the steps before");
      is_run = true;
      std::erase_if(entries, [&](const Entry& entry) { return entry.step > first; });
    } else if (is_run && line.starts_with("{\"kind\":\"step\",")) {
      const std::string_view stage = stage_in(line);
      const std::int64_t step = number_in(line, "\"step\":").value_or(0);
      if (step < 1)
        refuse(file, "has a step without a number from 1 on", "give the log as it was written");
      if (stage.empty())
        refuse(file, "names no stage of step " + std::to_string(step),
               "give the log of a model that declares stages");
      entries.push_back({step, std::string(stage)});
    }
  }
  if (!is_run) refuse(file, "is no run log", "name a file that json_lines() wrote");
  if (entries.empty()) refuse(file, "has no step", "give a log of a run that trained");
  return entries;
}

}  // namespace

StageSchedule stages_of_log(const std::filesystem::path& file) {
  std::string why;
  const std::vector<std::byte> bytes = read_whole(file, why);
  if (!why.empty()) refuse(file, "cannot be read: " + why, "check its path and permissions");
  std::vector<StageSteps> stages;
  std::int64_t known = 0;  // steps
  const auto add = [&](const std::string& stage, std::int64_t steps) {
    if (steps < 1) return;
    if (stages.empty() || stages.back().stage != stage) stages.push_back({stage, 0});
    stages.back().steps += steps;
    known += steps;
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Entry& entry : entries_of(file, text)) {
    if (!stages.empty()) add(stages.back().stage, entry.step - 1 - known);
    add(entry.stage, entry.step - known);
  }
  return StageSchedule(std::move(stages));
}

}  // namespace halftone
