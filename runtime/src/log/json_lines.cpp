// SPDX-License-Identifier: Apache-2.0
// Entries as lines of JSON; docs/run-logs.md lists their keys.
#include "../json.hpp"
#include "../value_json.hpp"
#include "appended_file.hpp"
#include "halftone/stages.hpp"

namespace halftone {
namespace {

constexpr int kSchema = 1;

Json json_of(const RunFacts::Memory& memory) {
  Json json('{');
  json.add("role", memory.role).add("format", memory.format);
  return json.add("tensors", memory.tensors).add("bytes", memory.bytes);
}

Json json_of(const RunFacts::Buffer& buffer) {
  Json json('{');
  json.add("name", buffer.name).add("format", buffer.format);
  return json.add("bytes", buffer.bytes);
}

Json json_of(const RunFacts::Kernel& kernel) {
  Json json('{');
  json.add("phase", kernel.phase).add("kernel", kernel.name).add("skeleton", kernel.skeleton);
  json.add("fused", kernel.fused).add("reads", array_of(kernel.reads));
  return json.add("writes", array_of(kernel.writes));
}

Json json_of(const RunFacts::Cast& cast) {
  Json json('{');
  json.add("value", cast.value).add("role", cast.role).add("from", cast.from);
  json.add("to", cast.to).add("kernel", cast.kernel).add("own_launch", cast.own_launch);
  return json.add("rule", cast.rule);
}

template <class Item>
Json objects_of(const std::vector<Item>& items) {
  return array_of(items, [](Json& json, const Item& item) { json.add(json_of(item)); });
}

std::string line_of(const RunFacts& facts) {
  Json sizes('{');
  for (const auto& [symbol, size] : facts.sizes) sizes.add(symbol, size);
  Json json('{');
  json.add("kind", "run").add("schema", kSchema).add("halftone_version", facts.halftone_version);
  json.add("name", facts.name).add("model", facts.model).add("rules", array_of(facts.rules));
  json.add("losses", array_of(facts.losses)).add("loss_scale", facts.loss_scale);
  json.add("device", facts.device).add("hardware", facts.hardware);
  json.add("variant", facts.variant).add("threads", facts.threads).add("sizes", sizes);
  json.add("seed", facts.seed).add("started", facts.started);
  json.add("first_step", facts.first_step).add("first_skipped_steps", facts.first_skipped_steps);
  json.add("parameter_tensors", facts.parameter_tensors).add("parameters", facts.parameters);
  json.add("trained_parameters", facts.trained_parameters);
  json.add("memory", objects_of(facts.memory)).add("buffers", objects_of(facts.buffers));
  json.add("kernels", objects_of(facts.kernels)).add("casts", objects_of(facts.casts));
  if (!facts.gradient_layers.empty()) json.add("gradient_layers", array_of(facts.gradient_layers));
  return json.text() + "\n";
}

std::string line_of(const LogEntry& entry) {
  Json losses('{');
  for (const Statistics::Loss& loss : entry.losses) losses.add(loss.name, loss.value);
  Json json('{');
  json.add("kind", "step").add("step", entry.step).add("steps", entry.steps);
  if (!entry.stage.empty()) json.add("stage", entry.stage);
  json.add("skipped", entry.skipped).add("skipped_steps", entry.skipped_steps);
  json.add("losses", losses).add("grad_norm", entry.grad_norm);
  json.add("loss_scale", entry.loss_scale).add("learning_rate", entry.learning_rate);
  json.add("peak_bytes", entry.peak_bytes);
  if (entry.ms_per_step) json.add("ms_per_step", static_cast<float>(*entry.ms_per_step));
  if (entry.rows_per_second)
    json.add("rows_per_second", static_cast<float>(*entry.rows_per_second));
  json.add("seconds", entry.seconds).add("time", entry.time);
  if (!entry.metrics.empty()) {
    Json metrics('{');
    for (const Metric& metric : entry.metrics) metrics.add(metric.name, metric.value);
    json.add("metrics", metrics);
  }
  if (!entry.layer_gradients.empty()) {
    json.add("layer_gradients",
             array_of(entry.layer_gradients, [](Json& norms, const std::optional<double>& norm) {
               norm ? norms.add(static_cast<float>(*norm)) : norms.add_null();
             }));
  }
  return json.text() + "\n";
}

std::string line_of(const ValueSample& sample) {
  Json json('{');
  json.add("kind", "values").add("step", sample.step);
  if (!sample.stage.empty()) json.add("stage", sample.stage);
  json.add("loss_scale", sample.loss_scale).add("seconds", sample.seconds);
  return json.add("values", objects_of(sample.values)).text() + "\n";
}

std::string line_of(const StageSwitch& taken) {
  Json json('{');
  json.add("kind", "switch").add("step", taken.step).add("from", taken.from);
  return json.add("to", taken.to).add("why", taken.why).text() + "\n";
}

/// A log and its pictures can be moved together: files are named from the log's folder.
std::string line_of(const LogPicture& picture, const std::filesystem::path& folder) {
  std::error_code unknown;
  std::filesystem::path file = std::filesystem::proximate(picture.file, folder, unknown);
  if (unknown) file = picture.file;
  Json json('{');
  json.add("kind", "picture").add("step", picture.step).add("name", picture.name);
  return json.add("file", file.generic_string()).text() + "\n";
}

class JsonLines final : public RunSink {
 public:
  JsonLines(const std::filesystem::path& path, IfExists if_exists)
      : file_(system_file_calls(), path, if_exists),
        folder_(std::filesystem::absolute(path).parent_path()) {}

  void begin(const RunFacts& facts) override { append(line_of(facts)); }
  void write(const LogEntry& entry) override { append(line_of(entry)); }
  void values(const ValueSample& sample) override { append(line_of(sample)); }
  void switched(const StageSwitch& taken) override { append(line_of(taken)); }
  void picture(const LogPicture& picture) override { append(line_of(picture, folder_)); }
  void end() override { append("{\"kind\":\"end\"}\n"); }

 private:
  /// Behind a line that was cut off, as by a full disk, on a line of its own.
  void append(std::string line) {
    if (may_be_torn_ && file_.ends_otherwise('\n')) line.insert(line.begin(), '\n');
    may_be_torn_ = true;
    file_.append(line);
    may_be_torn_ = false;
  }

  AppendedFile file_;
  std::filesystem::path folder_;
  bool may_be_torn_ = true;
};

}  // namespace

std::unique_ptr<RunSink> json_lines(const std::filesystem::path& file, IfExists if_exists) {
  return std::make_unique<JsonLines>(file, if_exists);
}

}  // namespace halftone
