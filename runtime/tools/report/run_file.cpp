// SPDX-License-Identifier: Apache-2.0
#include "run_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "shared_library.hpp"
#include "value_file.hpp"
#include "whole_file.hpp"

namespace halftone::tools {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;
constexpr const char* kRemedy = "; name a file that a run log of Halftone wrote";

[[noreturn]] void refuse(const std::string& path, const std::string& cause) {
  throw std::runtime_error("'" + path + "' " + cause);
}

std::string read_text(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status))
    throw std::runtime_error("there is no file '" + path + "'" + kRemedy);
  if (!std::filesystem::is_regular_file(status))
    refuse(path, std::string("is a folder or a device") + kRemedy);
  std::string why;
  const std::vector<std::byte> bytes = read_whole(path, why);
  if (!why.empty())
    refuse(path, "cannot be read: " + why + "; " + remedy_for(why, "check its permissions"));
  if (bytes.empty()) refuse(path, std::string("is empty") + kRemedy);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Value>
void get(const json& from, const char* key, Value& to) {
  read_value(from.at(key), to);
}

/// Indices of buffers, which the graph relies on.
std::vector<std::int32_t> indices_of(const json& from, std::size_t buffers) {
  std::vector<std::int32_t> indices;
  read_value(from, indices);
  for (const std::int32_t index : indices) {
    if (index < 0 || static_cast<std::size_t>(index) >= buffers) throw Damaged();
  }
  return indices;
}

void read_tables(const json& line, RunFacts& facts) {
  for (const json& entry : line.at("memory")) {
    RunFacts::Memory& memory = facts.memory.emplace_back();
    get(entry, "role", memory.role);
    get(entry, "format", memory.format);
    get(entry, "tensors", memory.tensors);
    get(entry, "bytes", memory.bytes);
  }
  for (const json& entry : line.at("buffers")) {
    RunFacts::Buffer& buffer = facts.buffers.emplace_back();
    get(entry, "name", buffer.name);
    get(entry, "format", buffer.format);
    get(entry, "bytes", buffer.bytes);
  }
  for (const json& entry : line.at("kernels")) {
    RunFacts::Kernel& kernel = facts.kernels.emplace_back();
    get(entry, "phase", kernel.phase);
    get(entry, "kernel", kernel.name);
    get(entry, "skeleton", kernel.skeleton);
    get(entry, "fused", kernel.fused);
    kernel.reads = indices_of(entry.at("reads"), facts.buffers.size());
    kernel.writes = indices_of(entry.at("writes"), facts.buffers.size());
  }
  for (const json& entry : line.at("casts")) {
    RunFacts::Cast& cast = facts.casts.emplace_back();
    get(entry, "value", cast.value);
    get(entry, "role", cast.role);
    get(entry, "from", cast.from);
    get(entry, "to", cast.to);
    get(entry, "kernel", cast.kernel);
    get(entry, "own_launch", cast.own_launch);
    get(entry, "rule", cast.rule);
  }
}

RunFacts facts_from(const json& line) {
  RunFacts facts;
  get(line, "name", facts.name);
  get(line, "halftone_version", facts.halftone_version);
  get(line, "model", facts.model);
  get(line, "rules", facts.rules);
  get(line, "losses", facts.losses);
  get(line, "loss_scale", facts.loss_scale);
  get(line, "device", facts.device);
  get(line, "hardware", facts.hardware);
  get(line, "variant", facts.variant);
  get(line, "threads", facts.threads);
  for (const auto& [symbol, size] : line.at("sizes").items())
    facts.sizes.emplace_back(symbol, whole_number<std::int64_t>(size));
  get(line, "seed", facts.seed);
  facts.started = number_or_word(line.at("started"));
  get(line, "first_step", facts.first_step);
  get(line, "first_skipped_steps", facts.first_skipped_steps);
  get(line, "parameter_tensors", facts.parameter_tensors);
  get(line, "parameters", facts.parameters);
  get(line, "trained_parameters", facts.trained_parameters);
  if (line.contains("gradient_layers")) get(line, "gradient_layers", facts.gradient_layers);
  read_tables(line, facts);
  return facts;
}

void add(std::vector<Series>& all, const std::string& name, Point point) {
  auto found = std::ranges::find(all, name, &Series::name);
  if (found == all.end()) found = all.insert(all.end(), {name, {}});
  found->points.push_back(point);
}

/// Lines of one file, in their order.
class Reader {
 public:
  explicit Reader(std::string path) { run_.file = std::move(path); }

  void read(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      take(text.substr(0, end), number);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!has_facts_) refuse(run_.file, std::string("is no run log") + kRemedy);
    if (torn_ > 0) note_torn();
    run_.pictures = picture_rows(pictures_, run_.notes);
    run_.seconds += part_seconds_;
  }

  [[nodiscard]] LoggedRun take_run() { return std::move(run_); }

 private:
  void take(std::string_view text, std::size_t number) {
    const json line = json::parse(text, nullptr, false);
    const bool is_run = line.is_object() && line.value("kind", json()) == "run";
    if (!has_facts_ && !is_run) refuse(run_.file, std::string("is no run log") + kRemedy);
    if (line.is_discarded()) {  // a process was killed, or a disk was full
      if (torn_++ == 0) first_torn_ = number;
      return;
    }
    try {
      take(line);
    } catch (const json::exception&) {
      refuse_line(number);
    } catch (const Damaged&) {
      refuse_line(number);
    }
  }

  void take(const json& line) {
    const auto kind = line.at("kind").get<std::string>();
    if (kind == "run") begin(line);
    if (kind == "step") add_step(line);
    if (kind == "values") add_sample(line);
    if (kind == "switch") add_switch(line);
    if (kind == "picture") add_picture(line);
    if (kind == "end") run_.is_ended = true;  // of other kinds later versions may know
  }

  void begin(const json& line) {
    if (whole_number<std::int64_t>(line.at("schema")) > kSchema) {
      refuse(run_.file, "was written by a later Halftone, " +
                            line.value("halftone_version", std::string()) +
                            "; use the halftone of that version");
    }
    RunFacts facts = facts_from(line);
    if (has_facts_ && facts.model != run_.facts.model) {
      refuse(run_.file, "has a run of model '" + facts.model + "' behind one of model '" +
                            run_.facts.model + "'; give each a file of its own");
    }
    if (has_facts_) forget_after(facts.first_step);
    run_.seconds += std::exchange(part_seconds_, 0);
    run_.last_step = facts.first_step;
    run_.skipped_steps = facts.first_skipped_steps;
    run_.is_ended = false;
    run_.facts = std::move(facts);
    has_facts_ = true;
  }

  void forget_after(std::int64_t step) {
    const auto cut = [&](Series& series) {
      std::erase_if(series.points, [&](const Point& point) { return point.step > step; });
    };
    for (auto* all : {&run_.losses, &run_.metrics, &run_.layer_gradients})
      std::ranges::for_each(*all, cut);
    for (Series* series : {&run_.grad_norm, &run_.loss_scale, &run_.learning_rate,
                           &run_.ms_per_step, &run_.rows_per_second, &run_.skipped})
      cut(*series);
    const auto is_behind = [&](const auto& each) { return each.step > step; };
    std::erase_if(run_.samples, is_behind);
    std::erase_if(run_.switches, is_behind);
    std::erase_if(pictures_, is_behind);
  }

  void add_step(const json& line) {
    const auto step = whole_number<std::int64_t>(line.at("step"));
    const auto add_to = [&](Series& series, const char* key) {
      if (line.contains(key)) series.points.push_back({step, number_or_word(line.at(key))});
    };
    for (const auto& [name, value] : line.at("losses").items())
      add(run_.losses, name, {step, number_or_word(value)});
    if (line.contains("metrics")) {
      for (const auto& [name, value] : line.at("metrics").items())
        add(run_.metrics, name, {step, number_or_word(value)});
    }
    if (line.contains("layer_gradients")) add_layers(step, line.at("layer_gradients"));
    add_to(run_.grad_norm, "grad_norm");
    add_to(run_.loss_scale, "loss_scale");
    add_to(run_.learning_rate, "learning_rate");
    add_to(run_.ms_per_step, "ms_per_step");
    add_to(run_.rows_per_second, "rows_per_second");
    if (whole_number<std::int64_t>(line.at("skipped")) > 0) add_to(run_.skipped, "skipped");
    run_.last_step = step;
    get(line, "skipped_steps", run_.skipped_steps);
    get(line, "peak_bytes", run_.peak_bytes);
    part_seconds_ = number_or_word(line.at("seconds"));
  }

  void add_sample(const json& line) {
    ValueSample& sample = run_.samples.emplace_back();
    get(line, "step", sample.step);
    sample.stage = line.value("stage", std::string());
    sample.loss_scale = static_cast<float>(number_or_word(line.at("loss_scale")));
    sample.seconds = number_or_word(line.at("seconds"));
    for (const json& value : line.at("values")) sample.values.push_back(value_from(value));
  }

  void add_switch(const json& line) {
    StageSwitch& taken = run_.switches.emplace_back();
    get(line, "step", taken.step);
    get(line, "from", taken.from);
    get(line, "to", taken.to);
    get(line, "why", taken.why);
  }

  /// Its file is named from the log's folder.
  void add_picture(const json& line) {
    LogPicture& picture = pictures_.emplace_back();
    get(line, "step", picture.step);
    get(line, "name", picture.name);
    picture.file =
        std::filesystem::path(run_.file).parent_path() / line.at("file").get<std::string>();
  }

  void add_layers(std::int64_t step, const json& norms) {
    const std::vector<std::string>& layers = run_.facts.gradient_layers;
    if (!norms.is_array() || norms.size() != layers.size()) throw Damaged();
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (!norms[i].is_null())
        add(run_.layer_gradients, layers[i], {step, number_or_word(norms[i])});
  }

  void note_torn() {
    const std::string first = "line " + std::to_string(first_torn_);
    run_.notes.push_back(
        torn_ == 1
            ? first + " of '" + run_.file + "' cannot be read as JSON and is left out"
            : std::to_string(torn_) + " lines of '" + run_.file +
                  "' cannot be read as JSON and are left out; the first of them is " + first);
  }

  [[noreturn]] void refuse_line(std::size_t number) {
    refuse(run_.file, "is damaged: line " + std::to_string(number) +
                          " is none of a run log; remove that line");
  }

  LoggedRun run_;
  std::vector<LogPicture> pictures_;
  bool has_facts_ = false;
  std::size_t torn_ = 0, first_torn_ = 0;  ///< lines that are no JSON
  double part_seconds_ = 0.0;
};

}  // namespace

LoggedRun read_run(const std::string& path) {
  Reader reader(path);
  reader.read(read_text(path));
  return reader.take_run();
}

}  // namespace halftone::tools
