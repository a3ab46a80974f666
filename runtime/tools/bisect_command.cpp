// SPDX-License-Identifier: Apache-2.0
#include "bisect_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "artifact_file.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/plan.hpp"
#include "report_command.hpp"
#include "size.hpp"
#include "text.hpp"

namespace halftone::tools {
namespace {

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Of every symbol of the model.
Sizes sizes_of(const manifest::Manifest& manifest, const std::string& words) {
  const auto bound = bind_symbols(manifest, words);
  Sizes sizes;
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
    if (!bound[i]) {
      throw std::runtime_error("--symbols: " + manifest.symbols[i] +
                               " is not bound; bind every symbol, as in batch=64,time=8");
    }
    sizes.emplace_back(manifest.symbols[i], *bound[i]);
  }
  return sizes;
}

InputElement delivered(encoding::Element element) {
  using encoding::Element;
  constexpr std::pair<Element, InputElement> kAsDelivered[] = {
      {Element::f32, InputElement::f32},  {Element::i32, InputElement::i32},
      {Element::u8, InputElement::u8},    {Element::i8, InputElement::i8},
      {Element::u16, InputElement::u16},  {Element::i16, InputElement::i16},
      {Element::i64, InputElement::i64},  {Element::f16, InputElement::f16},
      {Element::bf16, InputElement::bf16}};
  for (const auto& [of_model, of_data] : kAsDelivered)
    if (of_model == element) return of_data;
  return InputElement::by_source;
}

/// Of the program that trains.
const manifest::Buffer& input_called(const manifest::Manifest& manifest, const std::string& name) {
  const auto training = std::ranges::find(manifest.programs, "training", &manifest::Program::name);
  if (training == manifest.programs.end()) {
    throw std::runtime_error("the artifact of model '" + manifest.model +
                             "' has no program that trains; name one of a model with losses, made "
                             "without --decode");
  }
  return *std::ranges::find_if(training->buffers, [&](const manifest::Buffer& each) {
    return each.role == manifest::Role::input && each.name == name;
  });
}

std::string text_of_shape(std::span<const std::int64_t> shape) {
  std::string text = "[rows";
  for (const std::int64_t extent : shape) text += ", " + std::to_string(extent);
  return text + "]";
}

std::vector<std::int64_t> without_ones(std::vector<std::int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

/// A tensor of another shape would give rows that are none.
void require_shape(const Dataset& data, const manifest::Buffer& input, const Sizes& sizes) {
  if (input.shape.empty() || input.shape.front().symbol < 0) {
    throw std::runtime_error("the model's input '" + input.name +
                             "' has no rows of a batch, of which data are made; write a callback "
                             "(docs/bisect.md)");
  }
  if (const std::int64_t rows = input.shape.front().extent; rows != 1) {
    throw std::runtime_error("the model's input '" + input.name + "' has " + std::to_string(rows) +
                             " rows for each of a batch, of which data have one; write a callback "
                             "(docs/bisect.md)");
  }
  std::vector<std::int64_t> of_symbols, expected;
  for (const auto& [symbol, size] : sizes) of_symbols.push_back(size);
  for (const manifest::Dimension& dimension : std::span(input.shape).subspan(1))
    expected.push_back(manifest::elements(std::span(&dimension, 1), of_symbols));
  const std::vector<std::int64_t> found = data.shape(input.name);
  if (without_ones(found) != without_ones(expected)) {
    throw std::runtime_error("the tensor '" + input.name + "' of the data has shape " +
                             text_of_shape(found) + ", but the model's input is " +
                             text_of_shape(expected) + "; record it so");
  }
}

/// Tensors called as the model's inputs.
Dataset data_for(const manifest::Manifest& manifest, const std::string& file, const Sizes& sizes) {
  std::vector<TensorInput> inputs;
  for (const std::string& name : manifest.inputs) {
    TensorInput& input = inputs.emplace_back();
    input.input = name;
    input.convert.to = delivered(input_called(manifest, name).encoding.element);
  }
  Dataset data = Dataset::safetensors(file, std::move(inputs));
  for (const std::string& name : manifest.inputs)
    require_shape(data, input_called(manifest, name), sizes);
  for (const auto& [symbol, size] : sizes) {
    if (symbol != "batch" || size <= data.rows()) continue;
    throw std::runtime_error("--symbols: batch is " + std::to_string(size) +
                             ", but the data have " + std::to_string(data.rows()) +
                             " rows; give so many at most");
  }
  return data;
}

/// From "warmup=500,full=100", which `option` was given.
std::vector<StageSteps> stage_steps(const std::string& words, const char* option) {
  std::vector<StageSteps> stages;
  std::istringstream list(words);
  for (std::string word; std::getline(list, word, ',');) {
    const std::size_t sign = word.find('=');
    std::int64_t steps = 0;
    if (sign != word.npos) {
      const char *begin = word.data() + sign + 1, *end = word.data() + word.size();
      const auto [rest, fault] = std::from_chars(begin, end, steps);
      if (fault != std::errc() || rest != end) steps = 0;
    }
    if (sign == 0 || steps < 1) {
      throw std::runtime_error(std::string(option) + ": " + shown(word) +
                               " is not a stage and its number of steps; write NAME=STEPS, as in "
                               "warmup=500,full=100");
    }
    stages.push_back({word.substr(0, sign), steps});
  }
  return stages;
}

/// When a run is in which stage; nothing where the model has none.
std::optional<StageSchedule> schedule_of(const manifest::Manifest& manifest,
                                         const BisectTask& task) {
  if (task.stages.empty() && task.cycle.empty()) {
    if (manifest.stages.empty()) return std::nullopt;
    throw std::runtime_error("model '" + manifest.model + "' has the stages " +
                             listed(manifest.stages) +
                             "; say how long a run is in each: --stages " +
                             shown(manifest.stages.front() + "=100,...") + " (docs/bisect.md)");
  }
  StageSchedule schedule(stage_steps(task.stages, "--stages"), stage_steps(task.cycle, "--cycle"));
  for (const std::string& stage : schedule.stages()) {
    if (std::ranges::find(manifest.stages, stage) != manifest.stages.end()) continue;
    throw std::runtime_error("model '" + manifest.model + "' has no stage " + shown(stage) +
                             (manifest.stages.empty()
                                  ? "; it declares none, so leave --stages and --cycle out"
                                  : "; its stages are " + listed(manifest.stages)));
  }
  return schedule;
}

/// What would be found after variants were made.
void require_trainable(const manifest::Manifest& manifest, const BisectTask& task) {
  const bool has_loss = std::ranges::find(manifest.losses, task.loss) != manifest.losses.end();
  if (!task.loss.empty() && !has_loss) {
    throw std::runtime_error("--loss: model '" + manifest.model + "' has no loss " +
                             shown(task.loss) + "; its losses are " + listed(manifest.losses));
  }
}

/// As `halftonec --rules` reads them.
std::vector<std::string> rules_of_file(const std::string& path) {
  if (path.empty()) return {};
  if (!std::filesystem::exists(path))
    throw std::runtime_error("there is no file of rules '" + path + "'; name one, or leave it out");
  const std::vector<std::byte> bytes = read_file(path);
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> rules;
  for (std::string line; std::getline(file, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos || line[begin] == '#') continue;
    const auto end = line.find_last_not_of(" \t\r") + 1;
    constexpr std::string_view kRule = "rule ";
    if (!std::string_view(line).substr(begin).starts_with(kRule)) {
      throw std::runtime_error("the file of rules '" + path + "' has the line " + shown(line) +
                               ", which is no rule; write 'rule everywhere : ...'");
    }
    rules.push_back(line.substr(begin + kRule.size(), end - begin - kRule.size()));
  }
  if (rules.empty()) {
    throw std::runtime_error("the file of rules '" + path +
                             "' states none; leave --reference out for a reference all in f32");
  }
  return rules;
}

BisectOptions options_of(const BisectTask& task, const manifest::Manifest& manifest) {
  BisectOptions options = task.options;
  options.reference = rules_of_file(task.reference);
  options.narrow = !task.plain;
  options.folder = task.folder.empty()
                       ? std::filesystem::path(task.artifact).filename().replace_extension("bisect")
                       : std::filesystem::path(task.folder);
  if (!task.halftonec.empty()) options.halftonec = task.halftonec;
  if (!task.linker.empty()) options.linker = task.linker;
  const bool tells_targets_apart = std::ranges::any_of(
      manifest.rules, [](const std::string& rule) { return rule.find(" target ") != rule.npos; });
  if (!tells_targets_apart) options.targets = {"cpu"};  // of which it trains all
  return options;
}

std::string not_empty(const std::string& word) {
  return word.empty() ? "it is empty; give a name, or leave it out" : "";
}

void add_search(CLI::App& command, BisectTask& task) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const CLI::Range seeds(2, 10'000);
  BisectOptions& options = task.options;
  command.add_option("--steps", task.steps, "Of each run")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  command.add_option("--stages", task.stages, "Of a model that has some: warmup=500,full=100")
      ->check(not_empty);
  command.add_option("--cycle", task.cycle, "What comes behind --stages, again and again")
      ->check(not_empty);
  command.add_option("--loss", task.loss, "Which loss counts; the first otherwise")
      ->check(not_empty);
  command.add_option("--reference", task.reference, "Rules of the reference; all in f32 otherwise")
      ->check(not_empty);
  command.add_option("--seeds", options.seeds, "Runs of a variant at first")
      ->check(seeds)
      ->capture_default_str();
  command.add_option("--most-seeds", options.most_seeds, "Runs where it cannot be told yet")
      ->check(seeds)
      ->capture_default_str();
  command.add_option("--check-seeds", options.check_seeds, "Other runs, to check what was found")
      ->check(seeds)
      ->capture_default_str();
  command.add_option("--least", options.least, "A share of the loss that is no harm")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--confidence", options.confidence, "Of every comparison")
      ->check(CLI::Range(0.51, 0.999999))
      ->capture_default_str();
  command.add_flag("--plain", task.plain, "Rules alone, not what of them or where")
      ->disable_flag_override();
}

void add_places(CLI::App& command, BisectTask& task) {
  command.add_option("--folder", task.folder, "For variants; ARTIFACT.bisect, here, otherwise")
      ->check(not_empty);
  command.add_option("--output", task.page, "The page; FOLDER/bisect.html otherwise")
      ->check(not_empty);
  command.add_option("--halftonec", task.halftonec, "The generator, else that on PATH")
      ->check(not_empty);
  command.add_option("--linker", task.linker, "A compiler that links shared objects, else c++")
      ->check(not_empty);
}

}  // namespace

CLI::App& add_bisect(CLI::App& app, BisectTask& task) {
  CLI::App& command = *app.add_subcommand("bisect", "Which rules harm training (docs/bisect.md)");
  command.add_option("ARTIFACT", task.artifact, "What halftonec --object wrote, or was linked")
      ->required()
      ->check(not_empty);
  command.add_option("--data", task.data, "A safetensors file of the model's inputs")
      ->required()
      ->check(not_empty);
  command.add_option("--symbols", task.symbols, "Sizes of symbols: batch=64,time=8")
      ->required()
      ->check(not_empty);
  command.add_option("--model", task.model, "Which model of a file that holds several")
      ->check(not_empty);
  add_search(command, task);
  add_places(command, task);
  return command;
}

void bisect(const BisectTask& task, const std::function<void(const std::string&)>& say,
            const std::function<void(const std::string&)>& tell) {
  const std::vector<manifest::Manifest> manifests = read_artifact(task.artifact, task.model);
  require_trainable(manifests.front(), task);
  const std::optional<StageSchedule> stages = schedule_of(manifests.front(), task);
  const Sizes sizes = sizes_of(manifests.front(), task.symbols);
  BisectOptions options = options_of(task, manifests.front());
  options.say = tell;
  const TrainVariant train = train_on({.data = data_for(manifests.front(), task.data, sizes),
                                       .sizes = sizes,
                                       .steps = task.steps,
                                       .loss = task.loss,
                                       .stages = stages});
  const BisectResult result = halftone::bisect(manifests, options, train);
  const std::string page =
      task.page.empty() ? (options.folder / "bisect.html").string() : task.page;
  say(text_of(result));
  report({.runs = {(options.folder / "bisect.json").string()}, .page = page}, say, tell);
}

}  // namespace halftone::tools
