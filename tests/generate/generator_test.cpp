// SPDX-License-Identifier: Apache-2.0
// G8 to G12: logits of prefill and steps are those of the full forward pass over each sequence, to
// the bit, which the laws compare with the reference.
#include "halftone/generator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "halftone/trainer.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kVocabulary = 29;

Artifact plain(std::string_view name) { return Artifact::linked(*find_artifact(name).image); }
Artifact decoding(const LinkedArtifact& row) { return Artifact::linked(*row.image); }

Predictor predictor_of(std::string_view name, std::int64_t time) {
  const Binding bindings[] = {{"batch", 1}, {"time", time}};
  return {plain(name), Device::cpu(), {.model = {}, .bindings = bindings, .seed = 7}};
}

Generator generator_of(const LinkedArtifact& row, const GeneratorSizes& sizes) {
  Generator generator(decoding(row), Device::cpu(), sizes);
  generator.copy_parameters(predictor_of(row.name, 1));
  return generator;
}

/// What the full forward pass over the tokens leaves behind the last of them.
std::vector<float> full(std::string_view name, const Tokens& tokens) {
  Predictor predictor = predictor_of(name, static_cast<std::int64_t>(tokens.size()));
  const std::vector<std::uint8_t> bytes(tokens.begin(), tokens.end());
  NamedValues input{.name = "token", .values = std::span<const std::int32_t>(tokens)};
  if (name.starts_with("turned")) input.values = std::span<const std::uint8_t>(bytes);
  predictor.predict(std::span(&input, 1));
  const auto logits = predictor.output("logits").last(kVocabulary);
  return {logits.begin(), logits.end()};
}

/// Numbers of distinct bits that are those expected.
bool is_same(std::span<const float> logits, std::size_t sequence,
             const std::vector<float>& expected) {
  const auto row = logits.subspan(sequence * kVocabulary, kVocabulary);
  return std::ranges::equal(row, expected, [](float a, float b) {
    return std::isfinite(a) && std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  });
}

std::int32_t token_of(std::size_t sequence, std::size_t time) {
  return static_cast<std::int32_t>((sequence * 11 + time * 7 + time * time * 3) % kVocabulary);
}
std::vector<Tokens> prompts_of(const std::vector<std::size_t>& lengths) {
  std::vector<Tokens> prompts(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (std::size_t t = 0; t < lengths[i]; ++t) prompts[i].push_back(token_of(i, t));
  }
  return prompts;
}

std::int32_t likeliest(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("prefill and steps give the logits of the full forward pass to the bit") {
  for (const LinkedArtifact& row : kDecoding) {
    CAPTURE(std::string(row.name));
    for (const std::int64_t chunk : {1, 4, 64}) {
      CAPTURE(chunk);
      Generator generator = generator_of(row, {.sequences = 3, .capacity = 20, .chunk = chunk});
      std::vector<Tokens> sequences = prompts_of({5, 1, 9});
      std::span<const float> logits = generator.prefill(sequences);
      for (std::size_t step = 0;; ++step) {
        CAPTURE(step);
        REQUIRE(logits.size() == 3 * kVocabulary);
        for (std::size_t i = 0; i < 3; ++i) {
          CAPTURE(i);
          CHECK(is_same(logits, i, full(row.name, sequences[i])));
        }
        if (step == 5) break;
        std::vector<std::int32_t> next;
        for (std::size_t i = 0; i < 3; ++i) {
          next.push_back(token_of(i + 5, step));
          sequences[i].push_back(next.back());
        }
        logits = generator.step(next);
      }
      CHECK(generator.length(2) == 14);
    }
  }
}

TEST_CASE("caches may be longer than a chunk of the row tree, and full to their last row") {
  const LinkedArtifact& row = kDecoding[2];  // without learned positions
  REQUIRE(std::string(row.name) == "turned");
  const std::vector<Tokens> prompts = prompts_of({6, 3}), longer = prompts_of({1060, 3});
  Generator large = generator_of(row, {.sequences = 2, .capacity = 2100, .chunk = 5});
  CHECK(is_same(large.prefill(prompts), 0, full(row.name, prompts[0])));
  CHECK(is_same(large.prefill(longer), 0, full(row.name, longer[0])));
  CHECK(is_same(large.prefill(prompts), 1, full(row.name, prompts[1])));
  Generator small = generator_of(row, {.sequences = 2, .capacity = 6, .chunk = 5});
  CHECK(is_same(small.prefill(prompts), 0, full(row.name, prompts[0])));
}

TEST_CASE("caches that grow in a prompt and in a step keep what they hold") {
  for (const LinkedArtifact& row : kDecoding) {
    if (!std::string(row.name).starts_with("turned")) continue;  // learned positions end at 24
    CAPTURE(std::string(row.name));
    // Of 75, 150 and 300 rows.
    Generator generator = generator_of(row, {.sequences = 4, .capacity = 301, .chunk = 32});
    std::vector<Tokens> sequences = prompts_of({140, 5, 149, 70});
    std::span<const float> logits = generator.prefill(sequences);
    for (std::size_t step = 0;; ++step) {
      CAPTURE(step);
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        CAPTURE(i);
        CHECK(is_same(logits, i, full(row.name, sequences[i])));
      }
      if (step == 4) break;
      std::vector<std::int32_t> next;
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        next.push_back(token_of(i + 5, step));
        sequences[i].push_back(next.back());
      }
      logits = generator.step(next);
    }
    const std::vector<Tokens> few = prompts_of({3, 8});
    CHECK(is_same(generator.prefill(few), 1, full(row.name, few[1])));
  }
}

TEST_CASE("a sequence that is given no token stays, and prefill forgets what was") {
  const LinkedArtifact& row = kDecoding[0];
  Generator generator = generator_of(row, {.sequences = 2, .capacity = 12, .chunk = 3});
  std::vector<Tokens> sequences = prompts_of({7, 4});
  (void)generator.prefill(sequences);
  const std::vector<float> before = full(row.name, sequences[0]);
  for (std::int32_t token : {3, 8}) {
    const std::vector<std::int32_t> next{Generator::kNone, token};
    sequences[1].push_back(token);
    const auto logits = generator.step(next);
    CHECK(is_same(logits, 0, before));
    CHECK(is_same(logits, 1, full(row.name, sequences[1])));
  }
  sequences[0].push_back(5);
  sequences[1].push_back(6);
  const auto logits = generator.step(std::vector<std::int32_t>{5, 6});
  CHECK(is_same(logits, 0, full(row.name, sequences[0])));
  CHECK(is_same(logits, 1, full(row.name, sequences[1])));
  const std::vector<Tokens> one{{17, 2}};  // and fewer sequences than there may be
  CHECK(is_same(generator.prefill(one), 0, full(row.name, one[0])));
}

TEST_CASE("generate takes the likeliest token of the full forward pass each time") {
  const LinkedArtifact& row = kDecoding[2];
  Generator generator = generator_of(row, {.sequences = 2, .capacity = 12, .chunk = 4});
  const std::vector<Tokens> prompts = prompts_of({6, 2});
  const auto generated =
      generator.generate(prompts, {.sampling = {.temperature = 0.0}, .tokens = 5});
  std::vector<Tokens> expected(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Tokens all = prompts[i];
    for (int t = 0; t < 5; ++t) {
      expected[i].push_back(likeliest(full(row.name, all)));
      all.push_back(expected[i].back());
    }
  }
  CHECK(generated == expected);
  // The token that stops is a sequence's last.
  const std::int32_t stop = expected[0][2];
  const auto stopped =
      generator.generate(prompts, {.sampling = {.temperature = 0.0}, .tokens = 5, .stop = stop});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto end = std::ranges::find(expected[i], stop);
    CHECK(stopped[i] == Tokens(expected[i].begin(), end == expected[i].end() ? end : end + 1));
  }
}

TEST_CASE("a seed gives the same tokens, each drawn from the full forward pass") {
  const LinkedArtifact& row = kDecoding[0];
  Generator generator = generator_of(row, {.sequences = 2, .capacity = 12, .chunk = 4});
  const std::vector<Tokens> prompts = prompts_of({3, 5});
  const Sampling sampling{.temperature = 1.5, .top_k = 20, .top_p = 0.95, .seed = 42};
  const auto generated = generator.generate(prompts, {.sampling = sampling, .tokens = 6});
  for (std::size_t i = 0; i < 2; ++i) {
    Tokens all = prompts[i];
    for (std::size_t t = 0; t < 6; ++t) {
      all.push_back(sample(full(row.name, all), sampling, t, static_cast<std::uint32_t>(i)));
    }
    CHECK(generated[i] == Tokens(all.end() - 6, all.end()));
  }
  Sampling other = sampling;
  other.seed = 43;
  CHECK(generator.generate(prompts, {.sampling = other, .tokens = 6}) != generated);
}

TEST_CASE("what does not fit a generator is refused in one sentence, and changes nothing") {
  const LinkedArtifact& row = kDecoding[0];
  Generator generator = generator_of(row, {.sequences = 2, .capacity = 6, .chunk = 4});
  const std::vector<std::int32_t> two{1, 2};
  CHECK(refusal([&] { (void)generator.step(two); }) ==
        "step: the tokens are 2, but there are 0 sequences; call prefill() first");
  std::vector<Tokens> sequences = prompts_of({5, 2});
  (void)generator.prefill(sequences);
  CHECK(refusal([&] { (void)generator.prefill(prompts_of({7})); }) ==
        "prefill: sequence 0 would have 7 tokens, but the generator has a capacity of 6; make it "
        "with a larger GeneratorSizes::capacity, or give fewer");
  CHECK(refusal([&] {
          (void)generator.prefill(prompts_of({1, 1, 1}));
        }) ==
        "prefill: the prompts are 3, but the generator takes 1 to 2; make it with more "
        "GeneratorSizes::sequences, or give fewer");
  CHECK(refusal([&] {
          (void)generator.prefill(prompts_of({2, 0}));
        }) == "prefill: sequence 1 has no token; give it one to begin with");
  CHECK(refusal([&] {
          (void)generator.prefill(std::vector<Tokens>{{1, -4}});
        }) ==
        "prefill: sequence 0 was given token -4; tokens count from 0; Generator::kNone is for "
        "step()");
  CHECK(refusal([&] {
          (void)generator.generate(sequences, {.sampling = {}, .tokens = 3});
        }).starts_with("generate: sequence 0 of 5 tokens and 3 to come is longer than"));
  CHECK(refusal([&] { (void)generator.step(std::vector<std::int32_t>{1}); }) ==
        "step: the tokens are 1, but there are 2 sequences; give one for each, Generator::kNone "
        "for none");
  CHECK(refusal([&] { (void)generator.length(2); }).starts_with("length: sequence 2 is none of 2"));
  const auto logits = generator.step(two);
  for (std::size_t i = 0; i < 2; ++i) {
    sequences[i].push_back(two[i]);
    CHECK(is_same(logits, i, full(row.name, sequences[i])));
  }
  CHECK(refusal([&] {
          (void)generator.step(two);
        }).starts_with("step: sequence 0 would have 7 tokens, but the generator has a capacity"));
  CHECK(refusal([&] { Generator(plain("learned"), Device::cpu(), {}); }) ==
        "generator: model 'learned' has no program that decodes; make its artifact with halftonec "
        "--decode");
  CHECK(refusal([&] {
          const Binding bindings[] = {{"batch", 1}, {"time", 1}, {"capacity", 1}};
          Predictor(decoding(row), Device::cpu(), {.model = {}, .bindings = bindings});
        }).find("has no program for inference") != std::string::npos);
}

TEST_CASE("D65: sizes beyond the rows of learned positions are refused wherever they are bound") {
  const auto bind = [](std::int64_t time) {
    return std::vector<Binding>{{"batch", 2}, {"time", time}};
  };
  const std::string is_25 =
      "is 25, but layer 'places' has 24 times, the rows of parameter 'places.weight'; take 24 or "
      "less, or give the layer more times";
  const std::vector<Binding> most = bind(24), more = bind(25);
  const Artifact whole = plain("learned");
  Trainer(whole, Device::cpu(), {.model = {}, .bindings = most});
  CHECK(refusal([&] { Trainer(whole, Device::cpu(), {.model = {}, .bindings = more}); }) ==
        "trainer: symbol 'time' " + is_25);
  Predictor(whole, Device::cpu(), {.model = {}, .bindings = most});
  CHECK(refusal([&] { Predictor(whole, Device::cpu(), {.model = {}, .bindings = more}); }) ==
        "predictor: symbol 'time' " + is_25);
  const Artifact decoder = decoding(kDecoding[0]);
  Generator(decoder, Device::cpu(), {.capacity = 24, .chunk = 64});
  CHECK(refusal([&] { Generator(decoder, Device::cpu(), {.capacity = 25, .chunk = 4}); }) ==
        "generator: symbol 'capacity' " + is_25);
}

TEST_CASE("parameters come from a trainer, whole or by name, and averages where there are some") {
  const LinkedArtifact& row = kDecoding[0];
  const Binding bindings[] = {{"batch", 1}, {"time", 3}};
  const Setup setup{.model = {}, .bindings = bindings, .seed = 11};
  const Trainer trainer(plain(row.name), Device::cpu(), setup);
  Predictor predictor(plain(row.name), Device::cpu(), setup);  // with the same first parameters
  const std::vector<Tokens> prompts = prompts_of({3});
  const NamedValues input{.name = "token", .values = std::span<const std::int32_t>(prompts[0])};
  predictor.predict(std::span(&input, 1));
  const auto last = predictor.output("logits").last(kVocabulary);
  const std::vector<float> expected(last.begin(), last.end());
  const GeneratorSizes sizes{.sequences = 1, .capacity = 12, .chunk = 4};
  Generator whole = generator_of(row, sizes), by_name = generator_of(row, sizes);
  CHECK_FALSE(is_same(whole.prefill(prompts), 0, expected));
  whole.copy_parameters(trainer);
  CHECK(is_same(whole.prefill(prompts), 0, expected));
  CHECK(by_name.parameter_names() == trainer.parameter_names());
  for (const std::string& name : trainer.parameter_names())
    by_name.set_parameter(name, trainer.parameter(name));
  CHECK(is_same(by_name.prefill(prompts), 0, expected));
  CHECK(by_name.length(0) == 3);
  CHECK(by_name.vocabulary() == kVocabulary);
  CHECK_FALSE(by_name.variant().empty());
  CHECK(by_name.peak_bytes_predicted() > 0);
  CHECK(refusal([&] { (void)by_name.length(1); }) ==
        "length: sequence 1 is none of 1; ask for those of the latest prefill()");
  CHECK(refusal([&] { by_name.copy_averages(trainer); }) ==
        "copy_averages: the trainer keeps no averages; give HALFTONE_MODEL average(0.999), say");
  const Generator moved = std::move(by_name);
  CHECK(moved.length(0) == 3);
  CHECK(refusal([&] { (void)by_name.vocabulary(); }) ==  // NOLINT: that is the point
        "vocabulary: the generator was moved from; use the one that it was moved to");
}

TEST_CASE("a generator packs f32 weights for the steps of one sequence, and no bit depends on it") {
  const LinkedArtifact& row = kDecoding[0];
  std::int64_t bytes[2] = {};
  std::vector<float> others[2];
  for (const Packed packed : {Packed::never, Packed::automatic}) {
    Generator generator(decoding(row), Device::cpu().with_packed(packed),
                        {.sequences = 1, .capacity = 24, .chunk = 24});
    bytes[packed == Packed::automatic] = generator.peak_bytes_predicted();
    generator.copy_parameters(predictor_of(row.name, 1));
    std::vector<Tokens> prompts = prompts_of({18});
    CHECK(is_same(generator.prefill(prompts), 0, full(row.name, prompts[0])));
    for (const std::int32_t next : {3, 5}) {
      prompts[0].push_back(next);
      CHECK(is_same(generator.step(std::vector{next}), 0, full(row.name, prompts[0])));
    }
    // Packed once more for other parameters.
    const Binding bindings[] = {{"batch", 1}, {"time", 1}};
    generator.copy_parameters(
        Predictor(plain(row.name), Device::cpu(), {.model = {}, .bindings = bindings, .seed = 8}));
    const auto stepped = generator.step(std::vector{std::int32_t{1}});
    others[packed == Packed::automatic].assign(stepped.begin(), stepped.end());
  }
  CHECK((others[0] == others[1]));
  CHECK(bytes[1] > bytes[0]);
}

}  // namespace halftone::tests
