// SPDX-License-Identifier: Apache-2.0
#include "halftone/generator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../predictor_state.hpp"
#include "../text.hpp"
#include "../trainer_state.hpp"
#include "generator_state.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

using manifest::Manifest, manifest::Program;

const Program& decoding_of(const Artifact& artifact) {
  const auto& programs = artifact.manifest().programs;
  const auto found = std::ranges::find(programs, manifest::kDecode, &Program::name);
  if (found != programs.end()) return *found;
  throw Error({.operation = "generator",
               .object = named("model", artifact.manifest().model),
               .cause = "has no program that decodes",
               .hint = "make its artifact with halftonec --decode"});
}

/// The one input that the model itself has.
const manifest::Buffer& tokens_of(const Program& program) {
  return *std::ranges::find_if(program.buffers, [](const manifest::Buffer& buffer) {
    return buffer.role == manifest::Role::input && buffer.name != manifest::kStart &&
           buffer.name != manifest::kCount;
  });
}

std::array<std::size_t, 2> symbols_of(const Program& program) {
  const auto& shape = tokens_of(program).shape;
  return {static_cast<std::size_t>(shape[0].symbol), static_cast<std::size_t>(shape[1].symbol)};
}

/// Sequences, tokens of a pass and, all others, rows of the caches.
std::vector<Binding> bindings_of(const Artifact& artifact, const GeneratorSizes& sizes) {
  const auto [batch, time] = symbols_of(decoding_of(artifact));
  std::vector<Binding> bindings;
  const auto& symbols = artifact.manifest().symbols;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::int64_t size = i == batch  ? sizes.sequences
                              : i == time ? std::min(sizes.chunk, sizes.capacity)
                                          : sizes.capacity;
    bindings.push_back({symbols[i], size});
  }
  return bindings;
}

/// Logits are the output of that name, or the only one.
std::size_t logits_of(const ProgramPlan& plan) {
  const auto& outputs = plan.manifest().outputs;
  const auto named_so = std::ranges::find(outputs, "logits", &manifest::Output::name);
  if (named_so != outputs.end()) return *plan.find(named_so->buffer);
  if (outputs.size() == 1) return *plan.find(outputs.front().buffer);
  std::vector<std::string> names;
  for (const auto& output : outputs) names.push_back(output.name);
  throw Error({.operation = "generator",
               .object = named("model", plan.manifest().model),
               .cause = "has outputs " + listed(names) + ", of which none is 'logits'",
               .hint = "call the output that tokens are chosen by 'logits'"});
}

DecodeLayout layout_of(const ProgramPlan& plan) {
  const auto [batch, time] = symbols_of(plan.program());
  return {.tokens = *plan.find(tokens_of(plan.program()).name),
          .start = *plan.find(manifest::kStart),
          .count = *plan.find(manifest::kCount),
          .logits = logits_of(plan),
          .batch = batch,
          .time = time,
          .rows = plan.symbols().size() - 1};
}

/// Integers of whatever size an input is delivered in, the lowest byte first.
void put(std::span<std::byte> to, std::size_t at, std::int64_t bits, std::int64_t value) {
  const auto bytes = static_cast<std::size_t>(bits / 8);
  std::memcpy(to.data() + at * bytes, &value, bytes);
}

std::string tokens_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " token" : " tokens");
}

[[noreturn]] void refuse(const char* operation, std::size_t sequence, std::string cause,
                         std::string hint) {
  throw Error({.operation = operation,
               .object = "sequence " + std::to_string(sequence),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

}  // namespace

Generator::State::State(const Artifact& artifact, const Device& device,
                        const GeneratorSizes& wanted)
    : sizes(wanted),
      program("generator", artifact, device, decoding_of(artifact).name,
              {.model = {}, .bindings = bindings_of(artifact, wanted)}),
      layout(layout_of(program.plan())),
      caches(program.plan(), layout.rows),
      vocabulary(program.plan().extents(layout.logits).back()) {
  sizes.chunk = std::min(sizes.chunk, sizes.capacity);
}

void Generator::State::check(const char* operation, std::span<const std::int64_t> before,
                             std::span<const Tokens> tokens) const {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto length = before[i] + static_cast<std::int64_t>(tokens[i].size());
    if (length > sizes.capacity) {
      refuse(operation, i,
             "would have " + tokens_text(length) + ", but the generator has a capacity of " +
                 std::to_string(sizes.capacity),
             "make it with a larger GeneratorSizes::capacity, or give fewer");
    }
    const auto wrong = std::ranges::find_if(tokens[i], [](std::int32_t t) { return t < 0; });
    if (wrong != tokens[i].end()) {
      refuse(operation, i, "was given token " + std::to_string(*wrong),
             "tokens count from 0; Generator::kNone is for step()");
    }
  }
}

void Generator::State::read(std::span<const Tokens> tokens, std::int64_t time) {
  std::vector<std::int64_t> symbols(program.plan().symbols().begin(),
                                    program.plan().symbols().end());
  symbols[layout.batch] = static_cast<std::int64_t>(tokens.size());
  symbols[layout.time] = time;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    longest = std::max(longest, lengths[i] + static_cast<std::int64_t>(tokens[i].size()));
  }
  try {
    caches.make_room(program.execution(), longest);
  } catch (...) {
    lengths.clear();  // rows lie neither here nor there; step() asks for a prefill()
    throw;
  }
  symbols[layout.rows] = caches.rows();
  program.use_symbols(symbols);
  const auto bits_of = [&](std::size_t buffer) {
    return encoding::traits(program.plan().buffer(buffer).encoding.element).bits;
  };
  const auto width = static_cast<std::size_t>(time);
  const std::span<std::byte> all = program.execution().staged(layout.tokens);
  const std::span<std::byte> start = program.execution().staged(layout.start);
  const std::span<std::byte> count = program.execution().staged(layout.count);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t t = 0; t < width; ++t) {
      put(all, i * width + t, bits_of(layout.tokens), t < tokens[i].size() ? tokens[i][t] : 0);
    }
    put(start, i, bits_of(layout.start), lengths[i]);
    put(count, i, bits_of(layout.count), static_cast<std::int64_t>(tokens[i].size()));
  }
  program.run({manifest::Phase::forward});
  const std::span<const float> rows = program.floats("step", layout.logits);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    lengths[i] += static_cast<std::int64_t>(tokens[i].size());
    const auto size = static_cast<std::size_t>(vocabulary);
    std::ranges::copy(rows.subspan(i * size, size),
                      logits.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
}

std::span<const float> Generator::State::prefill(const char* operation,
                                                 std::span<const Tokens> prompts) {
  if (prompts.empty() || static_cast<std::int64_t>(prompts.size()) > sizes.sequences) {
    throw Error({.operation = operation,
                 .object = "the prompts",
                 .cause = "are " + std::to_string(prompts.size()) +
                          ", but the generator takes 1 to " + std::to_string(sizes.sequences),
                 .hint = "make it with more GeneratorSizes::sequences, or give fewer"});
  }
  const std::vector<std::int64_t> none(prompts.size(), 0);
  check(operation, none, prompts);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i].empty()) refuse(operation, i, "has no token", "give it one to begin with");
    longest = std::max(longest, prompts[i].size());
  }
  try {
    lengths = none;
    logits.assign(prompts.size() * static_cast<std::size_t>(vocabulary), 0.0f);
    read_prompts(prompts, longest);
  } catch (...) {
    lengths.clear();  // part of a prompt is none to go on from
    throw;
  }
  return logits;
}

void Generator::State::read_prompts(std::span<const Tokens> prompts, std::size_t longest) {
  const auto chunk = static_cast<std::size_t>(sizes.chunk);
  caches.begin(program.execution(), static_cast<std::int64_t>(prompts.size()),
               static_cast<std::int64_t>(std::min(chunk, longest)));
  for (std::size_t begin = 0; begin < longest; begin += chunk) {
    std::vector<Tokens> parts;
    for (const Tokens& prompt : prompts) {
      const auto part = std::span(prompt).subspan(std::min(begin, prompt.size()));
      const auto first = part.first(std::min(chunk, part.size()));
      parts.emplace_back(first.begin(), first.end());
    }
    read(parts, static_cast<std::int64_t>(std::min(chunk, longest - begin)));
  }
}

std::span<const float> Generator::State::step(const char* operation,
                                              std::span<const std::int32_t> tokens) {
  if (tokens.size() != lengths.size() || lengths.empty()) {
    throw Error({.operation = operation,
                 .object = "the tokens",
                 .cause = "are " + std::to_string(tokens.size()) + ", but there are " +
                          std::to_string(lengths.size()) + " sequences",
                 .hint = lengths.empty() ? "call prefill() first"
                                         : "give one for each, Generator::kNone for none"});
  }
  std::vector<Tokens> parts;
  for (std::int32_t token : tokens) parts.push_back(token == kNone ? Tokens{} : Tokens{token});
  check(operation, lengths, parts);
  read(parts, 1);
  return logits;
}

std::span<const float> Generator::State::logits_of(std::size_t sequence) const {
  const auto size = static_cast<std::size_t>(vocabulary);
  return std::span(logits).subspan(sequence * size, size);
}

Generator::Generator(const Artifact& artifact, const Device& device, const GeneratorSizes& sizes)
    : state_(std::make_unique<State>(artifact, device, sizes)) {}

Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

InUse<Generator::State> Generator::use(const char* operation) const {
  return {state_.get(), operation, "the generator"};
}

const Generator::State& Generator::held(const char* operation) const {
  return require_held(state_.get(), operation, "the generator");
}

void Generator::copy_parameters(const Trainer& trainer) {
  use("copy_parameters")->program.copy_parameters(trainer.use("copy_parameters")->program);
}

void Generator::copy_parameters(const Predictor& predictor) {
  use("copy_parameters")->program.copy_parameters(predictor.use("copy_parameters")->program);
}

void Generator::copy_averages(const Trainer& trainer) {
  use("copy_averages")->program.copy_averages(trainer.use("copy_averages")->program);
}

std::vector<std::string> Generator::parameter_names() const {
  return held("parameter_names").program.parameter_names();
}

void Generator::set_parameter(std::string_view name, std::span<const float> values) {
  use("set_parameter")->program.set_parameter(name, values);
}

std::span<const float> Generator::prefill(std::span<const Tokens> prompts) {
  return use("prefill")->prefill("prefill", prompts);
}

std::span<const float> Generator::step(std::span<const std::int32_t> tokens) {
  return use("step")->step("step", tokens);
}

std::int64_t Generator::length(std::size_t sequence) const {
  const State& state = held("length");
  if (sequence < state.lengths.size()) return state.lengths[sequence];
  refuse("length", sequence, "is none of " + std::to_string(state.lengths.size()),
         "ask for those of the latest prefill()");
}

std::int64_t Generator::vocabulary() const { return held("vocabulary").vocabulary; }

std::vector<Tokens> Generator::generate(std::span<const Tokens> prompts,
                                        const GenerateOptions& options) {
  const auto state = use("generate");
  halftone::check(options.sampling, "generate");
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto all = static_cast<std::int64_t>(prompts[i].size()) + options.tokens;
    if (all - 1 <= state->sizes.capacity) continue;  // the last token is read by none
    refuse("generate", i,
           "of " + tokens_text(static_cast<std::int64_t>(prompts[i].size())) + " and " +
               std::to_string(options.tokens) + " to come is longer than the capacity of " +
               std::to_string(state->sizes.capacity),
           "make the generator with a larger GeneratorSizes::capacity, or ask for fewer");
  }
  std::vector<Tokens> generated(prompts.size());
  if (options.tokens < 1) return generated;
  (void)state->prefill("generate", prompts);
  std::vector<std::int32_t> next(prompts.size());
  for (std::int64_t t = 0; t < options.tokens; ++t) {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      if (t > 0 && next[i] == kNone) continue;
      const std::int32_t token =
          sample(state->logits_of(i), options.sampling, static_cast<std::uint64_t>(t),
                 static_cast<std::uint32_t>(i));
      generated[i].push_back(token);
      next[i] = token == options.stop ? kNone : token;
    }
    const bool ends = std::ranges::all_of(next, [](std::int32_t n) { return n == kNone; });
    if (ends || t + 1 == options.tokens) break;
    (void)state->step("generate", next);
  }
  return generated;
}

std::string Generator::variant() const { return use("variant")->program.execution().variant(); }

std::int64_t Generator::peak_bytes_predicted() const {
  return use("peak_bytes_predicted")->program.execution().bytes_predicted();
}

}  // namespace halftone
