// SPDX-License-Identifier: Apache-2.0
// What predicting from codes costs: trains with the first artifact, or loads weights, and predicts
// what was held out with each; where scales are sought by the least error once more calibrated by
// rows that were trained on:
//   quantized_accuracy letters|digits FILE.csv FIRST.so MORE.so...
//   quantized_accuracy language HELD_OUT.tok TRAINING.tok WEIGHTS.safetensors FIRST.so MORE.so...
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <halftone/calibration.hpp>
#include <halftone/fit.hpp>
#include <halftone/loader.hpp>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/manifest.hpp"

namespace {

using halftone::manifest::Role;

struct Task {
  std::string input, label;
  std::vector<std::string> classes;
  std::optional<halftone::Dataset::Split> rows;
  int passes;
};

/// A fifth of the rows is held out.
Task classification(const std::string& name, const std::string& file) {
  const bool is_letters = name == "letters";
  Task task;
  task.input = is_letters ? "features" : "pixels";
  task.label = is_letters ? "letter" : "digit";
  for (int i = 0; i < (is_letters ? 26 : 10); ++i)
    task.classes.emplace_back(1, static_cast<char>((is_letters ? 'A' : '0') + i));
  halftone::CsvInput label{.input = task.label, .columns = {is_letters ? 0 : 64}};
  label.classes = task.classes;
  halftone::CsvInput values{
      .input = task.input,
      .columns = {is_letters ? halftone::CsvColumns(1, 16) : halftone::CsvColumns(0, 63)}};
  values.convert = {.scale = is_letters ? 1 / 7.5f : 1 / 16.0f,
                    .offset = is_letters ? -1.0f : 0.0f};
  const auto all = halftone::Dataset::csv(file, {label, values}, {.header = false});
  task.rows = all.split(0.2, 1);
  task.passes = is_letters ? 20 : 60;
  return task;
}

/// Of what a predictor keeps of weights: codes, scales, masters, and copies of these.
std::int64_t weight_bytes(const halftone::Artifact& artifact) {
  std::int64_t bytes = 0;
  for (const auto& program : artifact.manifest().programs) {
    if (program.name != "inference") continue;
    for (const auto& buffer : program.buffers) {
      const bool is_of_weights = buffer.role == Role::codes || buffer.role == Role::scales ||
                                 buffer.role == Role::parameters ||
                                 buffer.role == Role::working_copies;
      if (is_of_weights)
        bytes += halftone::encoding::storage_bytes(buffer.encoding.element, buffer.shape[0].extent);
    }
  }
  return bytes;
}

std::string name_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

bool seeks_least_error(const halftone::Artifact& artifact) {
  for (const auto& program : artifact.manifest().programs)
    for (const auto& weight : program.quantized)
      if (weight.least_error) return true;
  return false;
}

/// By 16 batches of what the trainer was trained on.
halftone::Calibration calibration_of(halftone::Trainer& trainer, halftone::Loader loader) {
  halftone::Calibration calibration;
  for (int i = 0; i < 16; ++i) {
    trainer.forward(loader.next()->inputs);
    calibration.add(trainer);
  }
  return calibration;
}

/// `figures` behind the bytes of weights, before the loss.
void print_row(const std::string& name, const halftone::Artifact& artifact,
               const std::string& figures, double loss) {
  std::printf("| %s | %lld | %s | %.5f |\n", name.c_str(),
              static_cast<long long>(weight_bytes(artifact)), figures.c_str(), loss);
  std::fflush(stdout);
}

void classify(const Task& task, std::span<char* const> files) {
  constexpr std::int64_t kBatch = 64;
  const auto device = halftone::Device::cpu();
  const auto first = halftone::Artifact::load(files[0]);
  const halftone::Binding sizes[] = {{"batch", kBatch}};
  std::vector<halftone::Trainer> trainers;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    halftone::Trainer& trainer =
        trainers.emplace_back(first, device, halftone::Setup{"", sizes, seed});
    halftone::Loader loader(task.rows->training, {.batch = kBatch, .seed = seed});
    halftone::fit(trainer, loader, {.epochs = task.passes});
  }
  std::vector<halftone::Calibration> calibrations;
  for (halftone::Trainer& trainer : trainers) {
    const halftone::LoaderOptions options{.batch = kBatch, .seed = 1};
    calibrations.push_back(calibration_of(trainer, {task.rows->training, options}));
  }
  std::vector<float> logits_of_first;
  for (const char* const file : files) {
    const auto artifact = halftone::Artifact::load(file);
    halftone::Predictor predictor(artifact, device, {"", sizes});
    for (const bool is_calibrated : {false, true}) {
      if (is_calibrated && !seeks_least_error(artifact)) continue;
      std::int64_t right = 0, rows = 0;
      double loss = 0;
      std::vector<float> all;
      for (std::size_t t = 0; t < trainers.size(); ++t) {
        predictor.calibrate(is_calibrated ? calibrations[t] : halftone::Calibration());
        predictor.copy_parameters(trainers[t]);
        halftone::Loader loader(task.rows->held_out, {.batch = kBatch, .shuffle = false});
        while (const auto batch = loader.next()) {
          predictor.evaluate(batch->inputs);
          const auto logits = predictor.output("logits");
          all.insert(all.end(), logits.begin(), logits.end());
          const auto input =
              std::ranges::find(batch->inputs, task.label, &halftone::NamedValues::name);
          const auto labels = std::get<std::span<const std::int32_t>>(input->values);
          for (std::size_t i = 0; i < labels.size(); ++i) {
            const auto row = logits.subspan(i * task.classes.size(), task.classes.size());
            right += std::ranges::max_element(row) - row.begin() == labels[i];
          }
          rows += static_cast<std::int64_t>(labels.size());
          loss += static_cast<double>(predictor.loss("error")) * static_cast<double>(labels.size());
        }
      }
      if (logits_of_first.empty()) logits_of_first = all;
      double error = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double off = static_cast<double>(all[i]) - static_cast<double>(logits_of_first[i]);
        error += off * off / static_cast<double>(all.size());
      }
      char figures[64];
      std::snprintf(figures, sizeof figures, "%.3f | %.5f",
                    100.0 * static_cast<double>(right) / static_cast<double>(rows),
                    std::sqrt(error));
      print_row(name_of(file) + (is_calibrated ? ", calibrated" : ""), artifact, figures,
                loss / static_cast<double>(rows));
    }
  }
}

void tell(const std::string& held_out, const std::string& training, const std::string& weights,
          std::span<char* const> files) {
  constexpr std::int64_t kBatch = 8, kWindow = 128;
  const auto windows_of = [](const std::string& tokens) {
    return halftone::Dataset::tokens(tokens,
                                     {.input = "token", .targets = "next", .length = kWindow});
  };
  const auto windows = windows_of(held_out);
  const auto device = halftone::Device::cpu();
  const halftone::Binding sizes[] = {{"batch", kBatch}, {"time", kWindow}};
  halftone::Trainer trainer(halftone::Artifact::load(files[0]), device, {"", sizes});
  trainer.load_weights(weights);
  const auto calibration =
      calibration_of(trainer, {windows_of(training), {.batch = kBatch, .seed = 1}});
  for (const char* const file : files) {
    const auto artifact = halftone::Artifact::load(file);
    halftone::Predictor predictor(artifact, device, {"", sizes});
    for (const bool is_calibrated : {false, true}) {
      if (is_calibrated && !seeks_least_error(artifact)) continue;
      predictor.calibrate(is_calibrated ? calibration : halftone::Calibration());
      predictor.load_weights(weights);
      halftone::Loader loader(windows, {.batch = kBatch, .shuffle = false});
      double loss = 0;
      std::int64_t rows = 0;
      while (const auto batch = loader.next()) {
        predictor.evaluate(batch->inputs);
        loss += static_cast<double>(predictor.loss("loss")) * static_cast<double>(batch->rows);
        rows += batch->rows;
      }
      print_row(name_of(file) + (is_calibrated ? ", calibrated" : ""), artifact, "",
                loss / static_cast<double>(rows));
    }
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::string task = count > 1 ? values[1] : "";
    const std::span<char* const> rest(values + 3, static_cast<std::size_t>(std::max(0, count - 3)));
    if (task == "language" && rest.size() > 2)
      tell(values[2], rest[0], rest[1], rest.subspan(2));
    else if ((task == "letters" || task == "digits") && !rest.empty())
      classify(classification(task, values[2]), rest);
    else
      throw std::runtime_error(
          "quantized_accuracy: give letters or digits, a file and artifacts, or "
          "language, two files of tokens, weights and artifacts");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
