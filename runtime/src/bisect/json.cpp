// SPDX-License-Identifier: Apache-2.0
// bisect.json (docs/bisect.md lists its keys).
#include "../json.hpp"

#include <array>

#include "../files/replace_file.hpp"
#include "../value_json.hpp"
#include "search.hpp"

namespace halftone {
namespace {

constexpr int kSchema = 1;

Json json_of(const Difference& difference) {
  Json json('{');
  json.add("seeds", difference.seeds).add("failed", difference.failed);
  json.add("mean", difference.mean).add("low", difference.low);
  return json.add("high", difference.high);
}

Json json_of(const BlamedRule& blamed) {
  Json json('{');
  json.add("rule", blamed.number).add("text", blamed.text);
  json.add("worse_by", json_of(blamed.worse_by)).add("confirmed", blamed.is_confirmed);
  return json.add("fields", array_of(blamed.fields)).add("layers", array_of(blamed.layers));
}

Json json_of(const BisectTrial& trial) {
  Json json('{');
  json.add("name", trial.name).add("rules", array_of(trial.rules));
  json.add("outcome", word_of(trial.outcome)).add("seeds", array_of(trial.seeds));
  json.add("losses", array_of(trial.losses)).add("worse_by", json_of(trial.worse_by));
  return json.add("refusal", trial.refusal);
}

Json json_of(const std::pair<std::string, std::vector<LossPoint>>& curve) {
  Json json('{');
  json.add("name", curve.first);
  return json.add("points", array_of(curve.second, [](Json& points, const LossPoint& point) {
                    points.add(Json('[').add(point.step).add(point.loss));
                  }));
}

template <class Item>
Json objects_of(const std::vector<Item>& items) {
  return array_of(items, [](Json& json, const Item& item) { json.add(json_of(item)); });
}

const char* word_of(BisectResult::Verdict verdict) {
  constexpr std::array kWords = {"no rule", "unclear", "blamed"};
  return kWords[static_cast<std::size_t>(verdict)];
}

}  // namespace

void save(const BisectResult& result, const std::filesystem::path& file) {
  Json json('{');
  json.add("kind", "bisect").add("schema", kSchema).add("model", result.model);
  json.add("rules", array_of(result.rules)).add("reference", array_of(result.reference));
  json.add("verdict", word_of(result.verdict)).add("confidence", result.confidence);
  json.add("reference_loss", result.reference_loss).add("least", result.least);
  json.add("all_rules", json_of(result.all_rules)).add("blamed", objects_of(result.blamed));
  json.add("remedy", array_of(result.remedy));
  json.add("remedy_worse_by", json_of(result.remedy_worse_by));
  json.add("trials", objects_of(result.trials)).add("notes", array_of(result.notes));
  json.add("curves", objects_of(result.curves)).add("values", objects_of(result.values));
  const std::string text = json.text() + "\n";
  const std::array<std::string_view, 1> parts = {text};
  replace_file(system_file_calls(), "save", file, parts, 0);
}

}  // namespace halftone
