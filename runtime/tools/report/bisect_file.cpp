// SPDX-License-Identifier: Apache-2.0
#include "bisect_file.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "value_file.hpp"

namespace halftone::tools {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;
constexpr std::string_view kBegin = R"({"kind":"bisect",)";

template <class Value>
void get(const json& from, const char* key, Value& to) {
  read_value(from.at(key), to);
}

void get(const json& from, const char* key, double& to) { to = number_or_word(from.at(key)); }

/// The index of a word among some.
template <class Enum, std::size_t Count>
Enum enum_of(const json& value, const char* const (&words)[Count]) {
  const auto word = value.get<std::string>();
  for (std::size_t i = 0; i < Count; ++i)
    if (word == words[i]) return static_cast<Enum>(i);
  throw Damaged();
}

Difference difference_of(const json& from) {
  Difference difference;
  get(from, "seeds", difference.seeds);
  get(from, "failed", difference.failed);
  get(from, "mean", difference.mean);
  get(from, "low", difference.low);
  get(from, "high", difference.high);
  return difference;
}

BlamedRule blamed_of(const json& from) {
  BlamedRule blamed;
  get(from, "rule", blamed.number);
  get(from, "text", blamed.text);
  blamed.worse_by = difference_of(from.at("worse_by"));
  get(from, "confirmed", blamed.is_confirmed);
  get(from, "fields", blamed.fields);
  get(from, "layers", blamed.layers);
  return blamed;
}

BisectTrial trial_of(const json& from) {
  constexpr const char* kOutcomes[] = {"reference", "as good", "worse", "unclear", "refused"};
  BisectTrial trial;
  get(from, "name", trial.name);
  get(from, "rules", trial.rules);
  trial.outcome = enum_of<BisectTrial::Outcome>(from.at("outcome"), kOutcomes);
  get(from, "seeds", trial.seeds);
  for (const json& loss : from.at("losses")) trial.losses.push_back(number_or_word(loss));
  if (trial.losses.size() != trial.seeds.size()) throw Damaged();
  trial.worse_by = difference_of(from.at("worse_by"));
  get(from, "refusal", trial.refusal);
  return trial;
}

BisectResult result_of(const json& from) {
  constexpr const char* kVerdicts[] = {"no rule", "unclear", "blamed"};
  BisectResult result;
  get(from, "model", result.model);
  get(from, "rules", result.rules);
  get(from, "reference", result.reference);
  result.verdict = enum_of<BisectResult::Verdict>(from.at("verdict"), kVerdicts);
  get(from, "confidence", result.confidence);
  get(from, "reference_loss", result.reference_loss);
  get(from, "least", result.least);
  result.all_rules = difference_of(from.at("all_rules"));
  for (const json& each : from.at("blamed")) result.blamed.push_back(blamed_of(each));
  get(from, "remedy", result.remedy);
  result.remedy_worse_by = difference_of(from.at("remedy_worse_by"));
  for (const json& each : from.at("trials")) result.trials.push_back(trial_of(each));
  get(from, "notes", result.notes);
  for (const json& each : from.at("curves")) {
    auto& [name, points] = result.curves.emplace_back();
    get(each, "name", name);
    for (const json& point : each.at("points"))
      points.push_back({whole_number<std::int64_t>(point.at(0)), number_or_word(point.at(1))});
  }
  for (const json& each : from.at("values")) result.values.push_back(value_from(each));
  return result;
}

}  // namespace

bool is_bisect(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kBegin.size(), '\0');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kBegin;
}

BisectResult read_bisect(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const json from = json::parse(text, nullptr, false);
  try {
    if (whole_number<std::int64_t>(from.at("schema")) <= kSchema) return result_of(from);
  } catch (const std::exception&) {
    throw std::runtime_error("'" + path + "' is damaged; write it again");
  }
  throw std::runtime_error("'" + path +
                           "' was written by a later Halftone; use the halftone of that version");
}

}  // namespace halftone::tools
