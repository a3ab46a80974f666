// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <algorithm>
#include <array>
#include <genome_adaptation_bf16_model.hpp>
#include <genome_adaptation_f16_model.hpp>
#include <genome_adaptation_f32_model.hpp>
#include <genome_annotation_model.hpp>
#include <genome_function_model.hpp>
#include <genome_generation_model.hpp>
#include <genome_variant_model.hpp>
#include <stdexcept>

#include "places.hpp"
#include "sizes.hpp"

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = {
      {.name = "generation",
       .learned = "chloroplast_training",
       .judged = "chloroplast_held_out",
       .length = kRead,
       .batch = 8,
       .steps = kGenerationSteps,
       .rules = {{"f16", models::generation::artifact()}},
       .counted = "chloroplast_training"},
      {.name = "adaptation",
       .learned = "lambda_training",
       .judged = "lambda_held_out",
       .length = kRead,
       .batch = 8,
       .steps = kAdaptationSteps,
       .rules = {{"f16", models::adaptation_f16::artifact()},
                 {"bf16", models::adaptation_bf16::artifact()},
                 {"f32", models::adaptation_f32::artifact()}},
       .counted = "lambda_genome",
       .begins_with = "generation"},
      {.name = "annotation",
       .learned = "annotation_training",
       .judged = "annotation_held_out",
       .length = kAnnotated,
       .batch = 4,
       .steps = kAnnotationSteps,
       .rules = {{"bf16", models::annotation::artifact()}},
       .classes = {"nothing", "coding", "coding on the other strand", "RNA"}},
      {.name = "variant",
       .learned = "variant_training",
       .judged = "variant_held_out",
       .length = kVariant,
       .batch = 64,
       .steps = kVariantSteps,
       .rules = {{"bf16", models::variant::artifact()}},
       .classes = {"synonymous", "missense", "nonsense"}},
      {.name = "function",
       .learned = "function_training",
       .judged = "function_held_out",
       .length = kPiece,
       .batch = 32,
       .steps = kFunctionSteps,
       .rules = {{"bf16", models::function::artifact()}},
       .classes = {"ribosome", "photosystem", "NADH dehydrogenase", "ATP synthase", "cytochrome",
                   "RNA polymerase"}}};
  return all;
}

const Task& task(std::string_view name) {
  const auto found = std::ranges::find(tasks(), name, &Task::name);
  if (found == tasks().end())
    throw std::runtime_error("genome: there is no task '" + std::string(name) +
                             "'; choose generation, adaptation, annotation, variant or function");
  return *found;
}

halftone::Dataset rows_of(const Task& task, const std::filesystem::path& folder,
                          const std::string& name) {
  if (task.classes.empty())
    return halftone::Dataset::tokens(folder / (name + ".tok"),
                                     {.input = "text", .targets = "label", .length = task.length});
  return halftone::Dataset::npy(
      {{"text", folder / (name + ".text.npy")}, {"label", folder / (name + ".label.npy")}});
}

halftone::Trainer trainer_of(const halftone::Artifact& artifact, const halftone::Device& device,
                             std::int64_t length, std::int64_t batch, std::uint64_t seed) {
  const std::array bound = {halftone::Binding{"batch", batch}};
  halftone::Trainer trainer(artifact, device, {.model = {}, .bindings = bound, .seed = seed});
  set_places(trainer, length);
  return trainer;
}

halftone::Predictor predictor_of(const halftone::Artifact& artifact, const halftone::Device& device,
                                 std::int64_t length, std::int64_t batch) {
  const std::array bound = {halftone::Binding{"batch", batch}};
  halftone::Predictor predictor(artifact, device, {.model = {}, .bindings = bound});
  set_places(predictor, length);
  return predictor;
}
