// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "class_b.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/texts.hpp"
#include "halftone/reference/rounding.hpp"
#include "ordered_cpu.hpp"

namespace halftone::tests {

using manifest::Element, manifest::Phase, manifest::Role;

namespace {

/// A step's, then those that stand for some of them: the sum over micro-batches, gradients from
/// outside in place of losses.
constexpr Phase kPhases[] = {Phase::refresh,       Phase::forward,    Phase::loss,
                             Phase::loss_backward, Phase::backward,   Phase::check,
                             Phase::update,        Phase::accumulate, Phase::external};
static_assert(std::size(kPhases) == manifest::kPhases);
constexpr std::size_t kBoundedPerResult = 4096;  // elements of one launch, spread over the result

std::size_t size_of(Element format) {
  return static_cast<std::size_t>(manifest::bytes_of(format, 1));
}

/// The bits as the specification compares them: every NaN is one (N7).
std::uint64_t canonical(Element format, const std::byte* at) {
  std::uint64_t code = 0;  // little-endian
  std::memcpy(&code, at, size_of(format));
  const bool is_f32 = !encoding::traits(format).integer && size_of(format) == sizeof(float);
  return is_f32 && (code & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : code;
}

void put(Element format, float value, std::byte* at) {
  if (size_of(format) < sizeof value) {
    const std::uint16_t code = reference::encode({format}, value);
    std::memcpy(at, &code, size_of(format));
  } else {
    std::memcpy(at, &value, sizeof value);
  }
}

float get(Element format, const std::byte* at) {
  if (size_of(format) < sizeof(float)) {
    std::uint16_t code = 0;
    std::memcpy(&code, at, size_of(format));
    return reference::decode(format, code);
  }
  float value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float hostile(std::uint64_t number) {
  constexpr float kValues[] = {std::numeric_limits<float>::quiet_NaN(), 0.0f,
                               std::numeric_limits<float>::infinity(),  -0.0f,
                               -std::numeric_limits<float>::infinity(), 0x1p-140f};
  return kValues[number % std::size(kValues)];
}

}  // namespace

Replay::Replay(const Artifact& artifact, const Device& chip, const Setup& setup,
               const Filter& filter, std::string_view program)
    : cpu_("replay", artifact, ordered_cpu(artifact), program, setup),
      chip_("replay", artifact, chip, program, setup),
      compared_(cpu_.manifest().kernels.size()),
      contraction_(compared_.size()) {
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  if (!manifest::unpack_texts({image.texts, image.text_bytes}, texts, error))
    throw std::runtime_error(error.message);
  std::set<std::size_t> launched;
  for (const Phase phase : kPhases)
    for (const manifest::Launch& launch : cpu_.plan().launches(phase))
      launched.insert(static_cast<std::size_t>(launch.kernel));
  for (const std::size_t i : launched) {
    const auto& text = texts[static_cast<std::size_t>(target().kernels[i].text)];
    compared_[i] = !filter || filter(text);
    contraction_[i] = read_contraction(text);
  }
  cpu_.execution().prepare_accumulation();
  chip_.execution().prepare_accumulation();
  cpu_.refresh();  // else the first launch would, after it was given its operands
  chip_.refresh();
}

const manifest::CudaTarget& Replay::target() const {
  if (chip_.plan().target() != nullptr) return *chip_.plan().target();
  const auto& chips = chip_.manifest().cuda;
  const auto found = std::ranges::find(chips, "sm_80", &manifest::CudaTarget::chip);
  if (found == chips.end()) throw std::runtime_error("the artifact has no texts for sm_80");
  return *found;
}

std::vector<std::byte> Replay::bytes_of(BoundProgram& program, std::size_t buffer) const {
  const std::byte* begin = program.execution().read(buffer);
  return {begin, begin + program.plan().bytes(buffer)};
}

std::vector<float> Replay::values_of(BoundProgram& program,
                                     const manifest::Argument& argument) const {
  const auto buffer = static_cast<std::size_t>(argument.buffer);
  const Element format = program.plan().buffer(buffer).encoding.element;
  const auto each = size_of(format);
  const std::vector<std::byte> bytes = bytes_of(program, buffer);
  std::vector<float> values(
      static_cast<std::size_t>(program.plan().elements(argument, program.sizes())));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = get(format, &bytes[(static_cast<std::size_t>(argument.offset) + i) * each]);
  return values;
}

void Replay::draw_inputs(std::uint64_t seed, Inputs inputs) {
  std::mt19937_64 random(seed);
  const manifest::Program& program = cpu_.program();
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Role role = program.buffers[i].role;
    if (role != Role::input && role != Role::counters) continue;
    const Element format = program.buffers[i].encoding.element;
    std::vector<std::byte> bytes(static_cast<std::size_t>(cpu_.plan().bytes(i)));
    const auto each = size_of(format);
    for (std::size_t at = 0; at < bytes.size(); at += each) {
      const std::uint64_t number = at / each;
      if (role == Role::counters) {
        const auto word = static_cast<std::uint32_t>(random());
        std::memcpy(&bytes[at], &word, sizeof word);
      } else if (encoding::traits(format).integer) {
        const std::uint64_t label = random() % 2;  // little-endian
        std::memcpy(&bytes[at], &label, each);
      } else if (inputs == Inputs::hostile && number % 13 == 5) {
        put(format, hostile(number / 13), &bytes[at]);
      } else {
        put(format, std::uniform_real_distribution<float>(-1, 1)(random), &bytes[at]);
      }
    }
    cpu_.execution().write(i, 0, bytes);
  }
}

void Replay::step(std::uint64_t seed, Tally& tally, Inputs inputs) {
  draw_inputs(seed, inputs);
  for (const Phase phase : kPhases)
    for (std::size_t launch = 0; launch < cpu_.plan().launches(phase).size(); ++launch)
      replay(phase, launch, tally);
}

bool Replay::is_class_b(const manifest::Launch& launch) const {
  const auto index = static_cast<std::size_t>(launch.kernel);
  if (chip_.plan().target() == nullptr) {
    const auto& variants = chip_.manifest().variants;
    const auto variant = std::ranges::find(variants, chip_.execution().variant());
    const auto& tiles = chip_.manifest().kernels[index].blocking.tiles;
    return !tiles.empty() && tiles[static_cast<std::size_t>(variant - variants.begin())].depth > 1;
  }
  const auto& kernel = target().kernels[index];
  return !kernel.plans.empty() && kernel.plans.front().name.starts_with("tensor");
}

void Replay::hand_over(const manifest::Launch& launch) {
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    chip_.execution().write(buffer, 0, bytes_of(cpu_, buffer));
  }
}

void Replay::replay(Phase phase, std::size_t index, Tally& tally) {
  const manifest::Launch& launch = cpu_.plan().launches(phase)[index];
  if (!compared_[static_cast<std::size_t>(launch.kernel)]) return cpu_.run(phase, index);
  tally.kernels.insert(cpu_.plan().kernel(launch).name);
  if (is_class_b(launch)) replay_exactly(phase, index, tally);
  hand_over(launch);
  cpu_.run(phase, index);
  chip_.run(phase, index);
  if (is_class_b(launch)) return compare_class_b(launch, tally);
  ++tally.launches;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (!compare(launch, i, tally)) return;
}

void Replay::replay_exactly(Phase phase, std::size_t index, Tally& tally) {
  const manifest::Launch& launch = cpu_.plan().launches(phase)[index];
  std::map<std::size_t, std::vector<std::byte>> recorded;
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    recorded[buffer] = bytes_of(cpu_, buffer);
  }
  fill_exactly(launch);
  hand_over(launch);
  cpu_.run(phase, index);
  chip_.run(phase, index);
  ++tally.exact_sums;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (!compare(launch, i, tally, ", exact sums")) break;
  for (const auto& [buffer, bytes] : recorded) cpu_.execution().write(buffer, 0, bytes);
}

void Replay::fill_exactly(const manifest::Launch& launch) {
  std::mt19937_64 random(++drawn_);
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    const Element format = cpu_.plan().buffer(buffer).encoding.element;
    if (encoding::traits(format).integer) continue;
    std::vector<std::byte> bytes = bytes_of(cpu_, buffer);
    const auto each = size_of(format);
    for (std::size_t at = 0; at < bytes.size(); at += each)
      put(format, static_cast<float>(static_cast<int>(random() % 9) - 4) / 4, &bytes[at]);
    cpu_.execution().write(buffer, 0, bytes);
  }
}

std::string Replay::place(const manifest::Launch& launch, std::size_t argument,
                          std::size_t element) const {
  const auto buffer = static_cast<std::size_t>(launch.arguments[argument].buffer);
  return "kernel '" + cpu_.plan().kernel(launch).name + "', buffer '" +
         cpu_.plan().buffer(buffer).name + "', element " + std::to_string(element);
}

bool Replay::compare(const manifest::Launch& launch, std::size_t argument, Tally& tally,
                     const char* when) {
  const auto buffer = static_cast<std::size_t>(launch.arguments[argument].buffer);
  const Element format = cpu_.plan().buffer(buffer).encoding.element;
  const auto each = size_of(format);
  const std::vector<std::byte> wanted = bytes_of(cpu_, buffer), got = bytes_of(chip_, buffer);
  for (std::size_t at = 0; at < wanted.size(); at += each) {
    if (canonical(format, &wanted[at]) == canonical(format, &got[at])) continue;
    ++tally.differing;
    if (tally.first.empty()) tally.first = place(launch, argument, at / each) + when;
    return false;
  }
  return true;
}

void Replay::compare_class_b(const manifest::Launch& launch, Tally& tally) {
  const auto& text = contraction_[static_cast<std::size_t>(launch.kernel)];
  if (!text) throw std::runtime_error("a class B kernel's text is not understood");
  for (const SumResult& result : text->sums)  // exact sums alone tell where elements come from
    if (!text->is_gathered) hold_to_bound(launch, *text, result, tally);
  for (const std::size_t row : text->rows) {
    const std::vector<float> wanted = values_of(cpu_, launch.arguments[row]),
                             got = values_of(chip_, launch.arguments[row]);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (canonical(Element::f32, reinterpret_cast<const std::byte*>(&wanted[i])) ==
          canonical(Element::f32, reinterpret_cast<const std::byte*>(&got[i])))
        continue;
      ++tally.differing;
      if (tally.first.empty()) tally.first = place(launch, row, i) + ", a sum of lhs";
      break;
    }
  }
}

std::size_t Replay::value_of(const std::string& product) const {
  std::size_t value = 1;
  std::istringstream factors(product);
  for (std::string factor; factors >> factor;) {
    if (factor == "*") continue;
    const auto& names = cpu_.manifest().symbols;
    const auto name =
        std::ranges::find(names, factor.substr(std::min<std::size_t>(7, factor.size())));
    value *= name == names.end()
                 ? std::stoul(factor)
                 : static_cast<std::size_t>(
                       cpu_.plan().symbols()[static_cast<std::size_t>(name - names.begin())]);
  }
  return value;
}

void Replay::hold_to_bound(const manifest::Launch& launch, const ContractionText& text,
                           const SumResult& result, Tally& tally) {
  const std::vector<float> lhs = values_of(cpu_, launch.arguments[text.lhs]),
                           rhs = values_of(cpu_, launch.arguments[text.rhs]),
                           stored = values_of(chip_, launch.arguments[result.argument]);
  const std::size_t depth = value_of(text.depth), columns = value_of(text.columns);
  const std::size_t pitch = result.pitch != 0 ? result.pitch : columns;
  const std::size_t all_rows = stored.size() / pitch;
  const std::size_t rows = text.element_rows.empty() ? all_rows : value_of(text.element_rows);
  std::vector<float> a(depth), b(depth);
  const std::size_t stride = all_rows * columns / kBoundedPerResult + 1;
  for (std::size_t i = 0; i < all_rows * columns; i += stride) {
    const std::size_t element = i / columns / rows;  // of a batch
    const std::size_t row = i / columns % rows, column = i % columns;
    const float* left = lhs.data() + element * rows * depth;
    const float* right = rhs.data() + element * depth * columns;
    for (std::size_t k = 0; k < depth; ++k) {
      a[k] = left[text.transpose_lhs ? k * rows + row : row * depth + k];
      b[k] = right[text.transpose_rhs ? column * depth + k : k * columns + column];
    }
    ++tally.bounded;
    const Sums sums = !chip_.plan().target() ? Sums::flushed
                      : !text.promotes       ? Sums::toward_zero
                      : *text.promotes       ? Sums::promoted
                                             : Sums::kept;
    const ClassB bound = class_b(a, b, result.format, sums);
    const float got = stored[i / columns * pitch + result.offset + column];
    if (bound.holds(got)) continue;
    ++tally.outside;
    if (tally.first.empty())
      tally.first = place(launch, result.argument, i) + ": " + std::to_string(got) +
                    " is not from " + std::to_string(bound.low) + " to " +
                    std::to_string(bound.high);
  }
}

}  // namespace halftone::tests
