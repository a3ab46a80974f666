// SPDX-License-Identifier: Apache-2.0
#include "line_artifact.hpp"

#include "halftone/manifest/texts.hpp"
#include "line_kernels.hpp"

// What tells versions of the plugin apart.
#ifndef LINE_IMAGE_VERSION
#define LINE_IMAGE_VERSION halftone::manifest::kVersion
#endif
#ifndef LINE_LEARNING_RATE
#define LINE_LEARNING_RATE 0.5
#endif

namespace hand_made {
namespace {

namespace m = halftone::manifest;

const m::Dimension kBatch{1, 0};

m::TaskAxis rows() { return {{kBatch}, 1}; }

std::vector<m::Kernel> kernels() {
  return {{"line_forward", "contraction", {rows()}, 0, -1},
          {"line_loss", "row", {rows()}, 1, 2},
          {"line_loss_backward", "row", {rows()}, 3, -1},
          {"line_backward", "contraction", {{{{kTargets, -1}}, 1}}, 4, -1},
          {"line_check", "flat", {}, 5, -1},
          {"line_update", "flat", {{{{kParameterElements, -1}}, 32}}, 6, -1},
          {"line_external", "pointwise", {rows()}, 7, -1},
          {"line_accumulate", "flat", {{{{kParameterElements, -1}}, 32}}, 8, -1},
          {"line_linear", "contraction", {rows()}, 9, -1},
          {"line_cast", "pointwise", {rows()}, 10, -1},
          {"line_draw", "pointwise", {}, 11, -1}};
}

/// Adds a buffer in a slot of its own.
std::int32_t add(m::Program& program, std::string name, m::Role role,
                 std::vector<m::Dimension> shape, double initial = 0.0) {
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back(
      {std::move(name), role, m::Element::f32, std::move(shape), slot, initial});
  program.slots.push_back({{index}});
  return index;
}

std::vector<m::Launch>& phase(m::Program& program, m::Phase phase) {
  return program.phases[static_cast<std::size_t>(phase)];
}

enum Kernels {
  kForward,
  kLoss,
  kLossBackward,
  kBackward,
  kCheck,
  kUpdate,
  kExternal,
  kAccumulate,
  kLinear,
  kCast,
  kDraw
};

/// What training and diagnosis share.
struct Common {
  explicit Common(m::Program& program)
      : x(add(program, "features", m::Role::input, {kBatch, {kFeatures, -1}})),
        target(add(program, "target", m::Role::input, {kBatch, {kTargets, -1}})),
        parameters(add(program, "parameters", m::Role::parameters, {{kParameterElements, -1}})),
        gradients(add(program, "gradients", m::Role::gradients, {{kParameterElements, -1}})),
        prediction(add(program, "prediction", m::Role::output, {kBatch, {kTargets, -1}})),
        errors(add(program, "row_errors", m::Role::activation, {kBatch})),
        error(add(program, "error", m::Role::loss, {})) {}

  std::int32_t x, target, parameters, gradients, prediction, errors, error;
};

/// From the loss on; `gradient` is the buffer of the prediction's gradient.
void add_backward(m::Program& program, const Common& c, std::int32_t scale, std::int32_t external,
                  std::int32_t gradient) {
  using m::Phase;
  phase(program,
        Phase::loss) = {{kLoss, {{c.prediction, 0}, {c.target, 0}, {c.errors, 0}, {c.error, 0}}}};
  phase(program, Phase::loss_backward) = {
      {kLossBackward, {{c.prediction, 0}, {c.target, 0}, {gradient, 0}, {scale, 0}}}};
  phase(program, Phase::external) = {{kExternal, {{external, 0}, {scale, 0}, {gradient, 0}}}};
  phase(program, Phase::backward) = {
      {kBackward, {{gradient, 0}, {c.x, 0}, {c.gradients, 0}, {c.gradients, kBiasOffset}}}};
}

m::Program training() {
  using m::Role, m::Phase;
  m::Program program;
  program.name = "training";
  const Common c(program);
  const auto rate = add(program, "learning_rate", Role::hyperparameter, {}, 0.5);
  const auto norm = add(program, "grad_norm", Role::statistic, {});
  const auto finite = add(program, "finite", Role::statistic, {});

  // The gradient of the prediction takes the place of the errors of the rows, which are no longer
  // needed.
  const auto gradient = static_cast<std::int32_t>(program.buffers.size());
  const std::int32_t shared = program.buffers[static_cast<std::size_t>(c.errors)].slot;
  program.buffers.push_back({"%prediction.gradient",
                             Role::activation,
                             m::Element::f32,
                             {kBatch, {kTargets, -1}},
                             shared,
                             0.0});
  program.slots[static_cast<std::size_t>(shared)].tenants.push_back(gradient);
  const auto external =
      add(program, "prediction.gradient", Role::output_gradient, {kBatch, {kTargets, -1}});
  const auto sum = add(program, "accumulated", Role::accumulated, {{kParameterElements, -1}});
  const auto number = add(program, "micro_batches", Role::hyperparameter, {}, 1.0);
  const auto first = add(program, "first_micro_batch", Role::hyperparameter, {}, 1.0);
  const auto scale = add(program, "loss_scale", Role::optimizer_state, {}, 1.0);
  const auto floored = add(program, "loss_scale.floored", Role::optimizer_state, {});
  add(program, "loss_scale.clean", Role::optimizer_state, {});
  add(program, "loss_scale.wait", Role::optimizer_state, {}, 1.0);
  const auto inverse = add(program, "%inverse", Role::activation, {});

  phase(program, Phase::forward) = {
      {kForward, {{c.x, 0}, {c.parameters, 0}, {c.parameters, kBiasOffset}, {c.prediction, 0}}}};
  add_backward(program, c, scale, external, gradient);
  phase(program, Phase::accumulate) = {{kAccumulate, {{sum, 0}, {c.gradients, 0}, {first, 0}}}};
  phase(program, Phase::check) = {{kCheck,
                                   {{c.gradients, 0},
                                    {number, 0},
                                    {scale, 0},
                                    {floored, 0},
                                    {norm, 0},
                                    {finite, 0},
                                    {inverse, 0}}}};
  phase(program, Phase::update) = {
      {kUpdate, {{c.parameters, 0}, {c.gradients, 0}, {rate, 0}, {finite, 0}, {inverse, 0}}}};
  program.values = {{"fc",
                     "fc",
                     "linear",
                     m::ValueRole::activation,
                     m::Pass::forward,
                     m::Element::tf32,
                     0,
                     {},
                     {kBatch, {kTargets, -1}},
                     c.prediction}};
  program.casts = {{0,
                    m::Element::f32,
                    {m::Element::tf32, halftone::encoding::Rounding::toward_zero},
                    "line_forward",
                    false,
                    0}};
  return program;
}

/// The forward pass in two launches, the operation and the cast.
m::Program diagnosis() {
  using m::Role, m::Phase, m::Pass, m::ValueRole;
  m::Program program;
  program.name = "diagnosis";
  const Common c(program);
  const auto gradient =
      add(program, "%prediction.gradient", Role::activation, {kBatch, {kTargets, -1}});
  const auto external =
      add(program, "prediction.gradient", Role::output_gradient, {kBatch, {kTargets, -1}});
  const auto scale = add(program, "loss_scale", Role::optimizer_state, {}, 1.0);
  const auto fc = add(program, "%fc", Role::activation, {kBatch, {kTargets, -1}});
  const auto rounded = add(program, "%fc.tf32", Role::activation, {kBatch, {kTargets, -1}});
  program.buffers[static_cast<std::size_t>(rounded)].encoding = m::Element::tf32;
  phase(program, Phase::forward) = {
      {kLinear, {{c.x, 0}, {c.parameters, 0}, {c.parameters, kBiasOffset}, {fc, 0}}},
      {kCast, {{fc, 0}, {rounded, 0}}},
      {kCast, {{rounded, 0}, {c.prediction, 0}}}};
  add_backward(program, c, scale, external, gradient);
  program.probes = {
      {Phase::forward, 0, 3, -1, "fc", "linear", Pass::forward, ValueRole::activation, -1},
      {Phase::forward, 1, 1, 0, "fc", "linear", Pass::forward, ValueRole::activation, 0},
      {Phase::forward, 2, 1, -1, "", "", Pass::forward, ValueRole::activation, -1},
      {Phase::loss, 0, 2, -1, "error", "mse", Pass::forward, ValueRole::activation, -1},
      {Phase::loss, 0, 3, -1, "error", "mse", Pass::forward, ValueRole::activation, -1},
      {Phase::external, 0, 2, -1, "fc", "linear", Pass::input_gradient, ValueRole::gradient, -1},
      {Phase::loss_backward, 0, 2, -1, "error", "mse", Pass::input_gradient, ValueRole::gradient,
       -1},
      {Phase::backward, 0, 2, -1, "fc", "linear", Pass::weight_gradient, ValueRole::weight_gradient,
       -1},
      {Phase::backward, 0, 3, -1, "fc", "linear", Pass::weight_gradient, ValueRole::weight_gradient,
       -1}};
  return program;
}

m::Program inference() {
  using m::Role;
  m::Program program;
  program.name = "inference";
  const auto x = add(program, "features", Role::input, {kBatch, {kFeatures, -1}});
  const auto parameters = add(program, "parameters", Role::parameters, {{kParameterElements, -1}});
  const auto prediction = add(program, "prediction", Role::output, {kBatch, {kTargets, -1}});
  phase(program, m::Phase::forward) = {
      {0, {{x, 0}, {parameters, 0}, {parameters, kBiasOffset}, {prediction, 0}}}};
  return program;
}

#ifdef LINE_ON_DRIVER
/// Every kernel's text is its name; a block does a task. The loss and the check count in memory of
/// their own.
void add_cuda(m::Manifest& manifest) {
  manifest.targets.push_back("sm_80");
  m::CudaTarget target{"sm_80", {}};
  for (const m::Kernel& kernel : manifest.kernels) {
    m::CudaKernel cuda;
    cuda.text = manifest.text_count++;
    cuda.entry = kernel.name;
    cuda.blocks = kernel.tasks;
    if (kernel.name == "line_loss") {
      cuda.workspace = {{.bytes = 4, .count = {rows()}, .zeroed = true},
                        {.bytes = 4, .count = {rows()}}};
    } else if (kernel.name == "line_check") {
      cuda.workspace = {{.bytes = 260, .count = {}, .zeroed = true}, {.bytes = 4, .count = {}}};
    }
    target.kernels.push_back(cuda);
  }
  manifest.cuda = {target};
}

const std::vector<std::byte> kTexts = [] {
  std::vector<std::string> texts;
  for (const m::Kernel& kernel : kernels()) texts.push_back("text of " + kernel.name);
  return m::pack_texts(texts);
}();
#else
void add_cuda(m::Manifest&) {}
const std::vector<std::byte> kTexts;
#endif

const std::vector<std::byte> kManifest = m::encode(manifest());
const m::ManifestImage kManifests[] = {{kManifest.data(), kManifest.size()}};

/// A launch of line_draw behind the forward phase, and what it reads.
void add_draw(m::Program& program) {
  const auto counters = add(program, "%counters", m::Role::counters, {{m::kCounters, -1}});
  program.buffers[static_cast<std::size_t>(counters)].encoding = m::Element::i32;
  phase(program, m::Phase::forward).push_back({kDraw, {{counters, 0}}});
}

}  // namespace

void let_draw(m::Manifest& manifest) {
  for (m::Program& program : manifest.programs) {
    if (program.name != "inference") add_draw(program);
  }
}

m::Manifest manifest() {
  using Kind = m::Initializer::Kind;
  m::Manifest manifest;
  manifest.model = "line";
  manifest.halftone_version = "0.1.0";
  manifest.description = "halftone description 1\nmodel \"line\"\n";
  manifest.structure = kLineStructure;
  manifest.symbols = {"batch"};
  manifest.variants = {"x86-64-v3", "x86-64"};
  manifest.parameter_elements = kParameterElements;
  manifest.trained_elements = kParameterElements;
  manifest.parameters = {{"fc.weight", {kTargets, kFeatures}, 0, true, {Kind::uniform, -0.5, 0.5}},
                         {"fc.bias", {kTargets}, kBiasOffset, true, {Kind::constant, 0.25, 0.0}}};
  manifest.inputs = {"features", "target"};
  manifest.outputs = {{"prediction", "prediction", "prediction.gradient"}};
  manifest.losses = {"error"};
  // Read while the program runs: plugins of different rates have the same code, so that a test can
  // write one over the other while it is loaded.
  static const volatile double rate = LINE_LEARNING_RATE;
  manifest.learning_rate = rate;
  manifest.rules = {"where layer \"fc\" pass forward : result tf32"};
  manifest.loss_scale = {
      m::LossScale::Kind::dynamic, 1.0, 2.0, 0.5, std::int64_t{1} << 24, 1.0, 1024.0, 1, kPatience};
  manifest.targets = {"cpu"};
  manifest.assumed = {256};
  manifest.kernels = kernels();
  manifest.programs = {training(), inference(), diagnosis()};
  add_cuda(manifest);
  return manifest;
}

}  // namespace hand_made

extern "C" {

const halftone::manifest::ArtifactImage halftone_artifact_line = {
    {'H', 'A', 'L', 'F', 'T', 'O', 'N', 'E'},
    LINE_IMAGE_VERSION,
    2,
    hand_made::kManifests,
    std::size(hand_made::kManifests),
    hand_made::kLineVariants,
    hand_made::kLineEntries,
    hand_made::kTexts.data(),
    hand_made::kTexts.size()};

extern const halftone::manifest::ArtifactImage halftone_artifact
    __attribute__((weak, alias("halftone_artifact_line")));
}
