// SPDX-License-Identifier: Apache-2.0
// Memory budgets, from the rule to the trainer (P67): fewer bytes, the same bits, and as many bytes
// as are said beforehand.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../laws/pair.hpp"
#include "../laws/tested_variant.hpp"
#include "../random_specs/compiled_model.hpp"
#include "fake_driver.hpp"
#include "halftone/description/validate.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/memory.hpp"

using namespace halftone;
using namespace halftone::tests;

namespace {

/// Residual blocks with all that remembers: norms, functions, masks that are drawn, sums that go
/// on.
std::string block(int number, const std::string& x) {
  const std::string n = std::to_string(number);
  return "parameter %norm" + n + ".weight : [12] init constant(1) no_decay\n" + "parameter %up" +
         n + ".weight : [40, 12] init uniform(-0.3, 0.3)\n" + "parameter %up" + n +
         ".bias : [40] init uniform(-0.3, 0.3)\n" + "parameter %down" + n +
         ".weight : [12, 40] init uniform(-0.16, 0.16)\n" + "%norm" + n + " = rms_norm(x: " + x +
         ", weight: %norm" + n + ".weight) {epsilon: 1e-05} : [batch, time, 12]\n" + "%up" + n +
         " = linear(x: %norm" + n + ", weight: %up" + n + ".weight, bias: %up" + n +
         ".bias) : [batch, time, 40]\n" + "%act" + n + " = gelu(x: %up" + n +
         ") {approximation: erf} : [batch, time, 40]\n" + "%drop" + n + " = dropout(x: %act" + n +
         ") {rate: 0.25} : [batch, time, 40]\n" + "%down" + n + " = linear(x: %drop" + n +
         ", weight: %down" + n + ".weight) : [batch, time, 12]\n" + "%sum" + n + " = add(a: " + x +
         ", b: %down" + n + ") : [batch, time, 12]\n";
}

description::Description model(const std::string& rules, int blocks = 4) {
  std::string text =
      "halftone description 1\nmodel \"blocks\"\ninput %x : f32[batch, time, 12]\n"
      "input %target : f32[batch, time, 12]\n";
  std::string x = "%x";
  for (int i = 0; i < blocks; ++i) {
    text += block(i, x);
    x = "%sum" + std::to_string(i);
  }
  text += "%error = mse(x: " + x + ", target: %target) : []\noutput \"y\" = " + x +
          "\nloss %error weight 1\n" + rules +
          "optimizer adamw learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay "
          "0.01\n";
  auto parsed = description::parse(text);
  if (const auto* error = std::get_if<description::ParseError>(&parsed)) FAIL(error->str("blocks"));
  auto description = std::get<description::Description>(std::move(parsed));
  const auto violation = description::validate(description);
  if (violation) FAIL(violation->message);
  return description;
}

const std::string kHalf = "rule everywhere : store bf16 compute bf16\n";
std::string share(const std::string& of) {
  return kHalf + "rule everywhere : memory_budget share " + of + "\n";
}

/// Each once.
const CompiledModel& compiled_under(const std::string& rules) {
  static std::map<std::string, std::unique_ptr<CompiledModel>> known;
  std::unique_ptr<CompiledModel>& compiled = known[rules];
  if (!compiled) compiled = std::make_unique<CompiledModel>(model(rules), tested_variant);
  return *compiled;
}

const manifest::Program& training(const manifest::Manifest& of) {
  return *std::ranges::find(of.programs, "training", &manifest::Program::name);
}

/// Of the slots of the training program that activations share, each as large as its largest, at
/// these sizes of batch and time, or at those that are assumed.
std::int64_t bytes_of(const CompiledModel& compiled, std::vector<std::int64_t> symbols = {}) {
  const Artifact artifact = Artifact::linked(compiled.image());
  const manifest::Manifest& manifest = artifact.manifest();
  if (symbols.empty()) symbols = manifest.assumed;
  std::int64_t bytes = 0;
  for (const manifest::Slot& slot : training(manifest).slots) {
    std::int64_t largest = 0;
    for (const std::int32_t tenant : slot.tenants) {
      const auto& buffer = training(manifest).buffers[static_cast<std::size_t>(tenant)];
      if (buffer.role != manifest::Role::activation) continue;
      std::int64_t bits = encoding::traits(buffer.encoding.element).bits;
      for (const manifest::Dimension& dimension : buffer.shape) {
        bits *= dimension.extent;
        if (dimension.symbol >= 0) bits *= symbols[static_cast<std::size_t>(dimension.symbol)];
      }
      largest = std::max(largest, (bits + 7) / 8);
    }
    bytes += (largest + 63) / 64 * 64;
  }
  return bytes;
}

std::string refusal_of(const std::string& rules) {
  try {
    const CompiledModel compiled(model(rules), tested_variant);
  } catch (const Refused& refused) {
    return refused.sentence;
  }
  return "none";
}

class CountingMemory final : public MemorySource {
 public:
  void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept override {
    held_bytes += bytes;
    return host_memory()->allocate(bytes, alignment);
  }
  void release(void* address, std::int64_t bytes) noexcept override {
    held_bytes -= bytes;
    host_memory()->release(address, bytes);
  }
  std::int64_t held_bytes = 0;
};

}  // namespace

TEST_CASE(
    "a budget is met, the smaller the fewer bytes, and nothing is computed again without need") {
  const std::int64_t whole = bytes_of(compiled_under(kHalf));
  std::int64_t last = whole;
  for (const std::string of : {"1", "0.8", "0.5"}) {
    CAPTURE(of);
    const CompiledModel& compiled = compiled_under(share(of));
    const std::int64_t bytes = bytes_of(compiled);
    CHECK(static_cast<double>(bytes) <= std::stod(of) * static_cast<double>(whole));
    CHECK(bytes <= last);
    CHECK((of == "1") == (bytes == whole));
    last = bytes;
    const auto decisions = Artifact::linked(compiled.image()).manifest().decisions;
    const auto count = [&](const std::string& field) {
      return std::ranges::count(decisions, field, &manifest::Decision::field);
    };
    const auto budget = std::ranges::find(decisions, "memory_budget", &manifest::Decision::field);
    REQUIRE(budget != decisions.end());
    CHECK(budget->rule == 1);
    CHECK(budget->setting.starts_with(std::to_string(bytes) + " of " + std::to_string(whole) +
                                      " bytes at batch=256, time=256, "));
    CHECK((budget->setting.find(", 0 operations again") != std::string::npos) == (of == "1"));
    CHECK(count("memory_budget") == 1);
    CHECK((count("recompute") > 0) == (of != "1"));
  }
}

TEST_CASE("at other sizes than those that are assumed it is about the same share") {
  const CompiledModel &whole = compiled_under(kHalf), &half = compiled_under(share("0.5"));
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{8, 33}, {1, 1024}}) {
    const auto of =
        static_cast<double>(bytes_of(half, sizes)) / static_cast<double>(bytes_of(whole, sizes));
    CHECK(of < 0.52);
  }
}

TEST_CASE("a budget in bytes is the same budget") {
  const std::int64_t whole = bytes_of(compiled_under(kHalf));
  const std::int64_t half = bytes_of(compiled_under(share("0.5")));
  const std::string rule =
      kHalf + "rule everywhere : memory_budget bytes " + std::to_string(whole / 2) + "\n";
  CHECK(bytes_of(compiled_under(rule)) == half);
}

TEST_CASE("a budget that cannot be met is refused with the smallest that can, which is met") {
  const std::string sentence = refusal_of(share("0.01"));
  CAPTURE(sentence);
  CHECK(
      sentence.starts_with("the rule 'everywhere : memory_budget share 0.01' leaves activations "));
  const std::int64_t whole = bytes_of(compiled_under(kHalf));
  CHECK(sentence.find(" of the " + std::to_string(whole) + " bytes that they take without it at") !=
        sentence.npos);
  const std::string before = ": write a share of ", after = " or more (P67)";
  const std::size_t from = sentence.find(before);
  REQUIRE(from != sentence.npos);
  REQUIRE(sentence.ends_with(after));
  const std::size_t begin = from + before.size();
  const std::string least = sentence.substr(begin, sentence.size() - after.size() - begin);
  CHECK(refusal_of(share(least)) == "none");
  const double below = std::stod(least) - 0.002;
  CHECK(refusal_of(share(std::to_string(below))) != "none");

  const std::string in_bytes = refusal_of(kHalf + "rule everywhere : memory_budget bytes 64\n");
  CHECK(in_bytes.find(" bytes or more (P67)") != in_bytes.npos);
}

TEST_CASE("bits are those of the reference, which knows no budget, under any") {
  for (const std::string of : {"0.7", "0.5"}) {
    Pair pair(model(share(of)), compiled_under(share(of)).image(), tested_variant, 5);
    for (int step = 0; step < 2; ++step) {
      CAPTURE(of);
      CAPTURE(step);
      pair.draw();
      const auto forward = pair.reference.forward(pair.state, pair.inputs);
      const auto gradients = pair.reference.backward(forward);
      pair.trainer.step(pair.named_inputs());
      for (const std::string& name : pair.trainer.parameter_names()) {
        const auto& expected = gradients[static_cast<std::size_t>(pair.reference.find(name))];
        CAPTURE(name);
        CHECK(first_difference(pair.trainer.gradient(name), expected) == -1);
      }
      pair.state = pair.reference.update(pair.state, gradients).state;
    }
  }
}

TEST_CASE("a trainer takes what is said before it takes anything, on the CPU and on a driver") {
  const auto description = model(share("0.6"));
  const CompiledModel compiled(description, tested_variant, {"sm_80"});
  const Artifact artifact = Artifact::linked(compiled.image());
  for (const auto& [batch, time] : {std::pair{1, 1}, {3, 7}, {8, 33}}) {
    CAPTURE(batch);
    CAPTURE(time);
    const std::vector<Binding> bindings{{"batch", batch}, {"time", time}};
    const auto values = std::vector<float>(static_cast<std::size_t>(batch * time * 12), 0.5f);
    const std::vector<NamedValues> inputs{{"x", std::span<const float>(values)},
                                          {"target", std::span<const float>(values)}};
    const auto symbols = std::vector<std::int64_t>{batch, time};
    const auto planned = manifest::plan_arena(training(artifact.manifest()), symbols);

    const auto memory = std::make_shared<CountingMemory>();
    Trainer on_cpu(artifact, Device::cpu(tested_variant).with_memory(memory),
                   {.model = "", .bindings = bindings});
    const auto log = std::make_shared<fake::Log>();
    Trainer on_driver(artifact, fake::device(log, {.idle = true}),
                      {.model = "", .bindings = bindings});
    const auto agree = [&] {
      CHECK(on_cpu.stats().peak_bytes_predicted == memory->held_bytes);
      CHECK(on_cpu.stats().peak_bytes_measured == memory->held_bytes);
      CHECK(on_driver.stats().peak_bytes_predicted == log->held_bytes);
      CHECK(on_driver.stats().peak_bytes_measured == log->held_bytes);
    };
    agree();
    CHECK(memory->held_bytes >= planned.bytes);
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      on_cpu.accumulate(inputs);
      on_driver.accumulate(inputs);
      agree();
    }
    CHECK(memory->held_bytes >= planned.bytes + planned.accumulated_bytes);
    on_cpu.step(inputs);
    agree();
  }
}
