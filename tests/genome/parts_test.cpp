// SPDX-License-Identifier: Apache-2.0
// The parts of the example on genomes: places, Markov chains, scores, likeness of sequences, and
// rules that fall back.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <halftone/npy.hpp>
#include <string>
#include <vector>

#include "markov.hpp"
#include "places.hpp"
#include "sampling.hpp"
#include "scores.hpp"
#include "sizes.hpp"
#include "tasks.hpp"
#include "training.hpp"

namespace {

/// A folder of its own, with texts to learn from and to be judged by.
struct Texts {
  explicit Texts(const std::string& name)
      : folder(std::filesystem::temp_directory_path() / ("halftone_genome_" + name)) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const char* part : {"lambda_training.tok", "lambda_held_out.tok"}) {
      std::ofstream out(folder / part, std::ios::binary);
      for (int i = 0; i < 4 * kRead; ++i) out.put("ACGGT"[i % 5]).put('\0');
    }
  }
  ~Texts() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

}  // namespace

TEST_CASE("places tell their share of the way and where a codon is") {
  const std::vector<float> numbers = place_numbers(400);
  REQUIRE(numbers.size() == 400 * kPlaceNumbers);
  for (std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{399}}) {
    const float* of = &numbers[place * kPlaceNumbers];
    CHECK(of[0] == doctest::Approx(static_cast<double>(place) / 400));
    CHECK(of[1] ==
          doctest::Approx(std::cos(2 * M_PI * static_cast<double>(place) / 3)).epsilon(1e-5));
    CHECK(of[8] ==
          doctest::Approx(std::sin(2 * M_PI * static_cast<double>(place) / 192)).epsilon(1e-5));
  }
}

TEST_CASE("windows fall, the later channels' the faster, and never to nothing") {
  const std::vector<float> values = windows(100);
  REQUIRE(values.size() == 100 * kWidth);
  const auto at = [&](std::size_t place, std::size_t channel) {
    return static_cast<double>(values[place * kWidth + channel]);
  };
  CHECK(at(0, 5) == doctest::Approx(1.01));
  CHECK(at(50, 0) == doctest::Approx(std::exp(-1.0) + 0.01));
  CHECK(at(50, kWidth - 1) == doctest::Approx(0.01));
  for (std::size_t channel = 1; channel < kWidth; ++channel)
    CHECK(at(10, channel) < at(10, channel - 1));
}

TEST_CASE("a Markov chain counts what comes behind a context") {
  Markov chain(1, 1.0);
  chain.count("ACACAG\nAG");  // behind A: C, C, G, G; behind C: A, A
  CHECK(chain.probability("A", 'C') == doctest::Approx(3.0 / 8));
  CHECK(chain.probability("GGTA", 'G') == doctest::Approx(3.0 / 8));
  CHECK(chain.probability("A", 'T') == doctest::Approx(1.0 / 8));
  CHECK(chain.probability("C", 'A') == doctest::Approx(3.0 / 6));
  CHECK(chain.probability("G", 'A') == doctest::Approx(1.0 / 4));  // a line ends it
  CHECK(chain.bits_per_base("ACA", 1) == doctest::Approx((std::log2(8.0 / 3) + 1) / 2));
}

TEST_CASE("the order of a Markov chain is that of the text") {
  std::string text;
  std::uint32_t state = 1;
  // A base is mostly that of three places before, turned by one.
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::string_view bases = "ACGT";
    const std::size_t before = i < 3 ? 0 : bases.find(text[static_cast<std::size_t>(i - 3)]);
    text.push_back(bases[(state >> 28) < 13 ? (before + 1) % 4 : (state >> 20) % 4]);
  }
  const Markov chain = best_markov(text + "\n" + std::string(50000, 'A'));
  CHECK(chain.order() == 3);
  CHECK(chain.probability("AAA", 'A') > 0.9);  // all lines are counted
}

TEST_CASE("scores are those of the confusion") {
  Confusion told(3);
  for (int i = 0; i < 3; ++i) told.add(0, 0);
  told.add(0, 1);
  told.add(1, 1);
  told.add(1, 0);
  CHECK(told.total() == 6);
  CHECK(told.labels_of(0) == 4);
  CHECK(told.accuracy() == doctest::Approx(4.0 / 6));
  CHECK(told.majority() == doctest::Approx(4.0 / 6));
  CHECK(told.f1(0) == doctest::Approx(2 * 3.0 / (4 + 4)));
  CHECK(told.f1(1) == doctest::Approx(2 * 1.0 / (2 + 2)));
  CHECK(told.f1(2) == 0.0);
  CHECK(told.mean_f1() == doctest::Approx((0.75 + 0.5) / 2));  // of classes that occur
}

TEST_CASE("sequences are alike where runs of bases are") {
  CHECK(gc_content("GCAT") == doctest::Approx(0.5));
  CHECK(kmer_distance("ACACACACA", "ACACACACA", 2) == doctest::Approx(0));
  CHECK(kmer_distance("AAAA", "CCCC", 2) == doctest::Approx(1));
  CHECK(kmer_distance("AAAC", "AAAA", 2) == doctest::Approx(1.0 / 3));
  CHECK(kmer_distance("AAAA", "AAAC", 2) == doctest::Approx(1.0 / 3));
}

TEST_CASE("a chain's samples are drawn as it counts") {
  Markov chain(1, 1e-9);
  chain.count("ACGTACGTA");
  CHECK(sample(chain, 9, "A", 1) == "ACGTACGTA");
  Markov any(0, 1);
  CHECK(sample(any, 40, "A", 1) == sample(any, 40, "A", 1));
  CHECK(sample(any, 40, "A", 1) != sample(any, 40, "A", 2));
}

TEST_CASE("a base is drawn as the model has it behind the one before") {
  const Task& of = task("generation");
  auto predictor = predictor_of(of.rules.front().artifact, halftone::Device::cpu(), of.length, 1);
  // Blocks add nothing, and a base makes the next letter of ACGT far likelier than all others.
  for (const std::string block : {"h/0/", "h/1/"})
    for (const char* end : {"out.weight", "out.bias", "narrow.weight", "narrow.bias"})
      predictor.set_parameter(block + end,
                              std::vector<float>(predictor.parameter(block + end).size(), 0.0f));
  std::vector<float> embed(std::size_t{kBytes} * kWidth), head(std::size_t{kBytes} * kWidth);
  const std::string bases = "ACGT";
  for (std::size_t i = 0; i < bases.size(); ++i) {
    embed[static_cast<std::size_t>(bases[i]) * kWidth + i] = 1;
    head[static_cast<std::size_t>(bases[(i + 1) % 4]) * kWidth + i] = 10;
  }
  predictor.set_parameter("embed.weight", embed);
  predictor.set_parameter("head.weight", head);
  CHECK(sample(predictor, 1, 12, "G", 1).front() == "GTACGTACGTAC");
}

TEST_CASE("bits of a base are those among the four bases") {
  const Texts texts("bits");
  const Task& of = task("adaptation");
  auto predictor = predictor_of(of.rules.back().artifact, halftone::Device::cpu(), of.length, 2);
  std::vector<float> bias(kBytes);
  bias['A'] = std::log(2.0f);  // twice as likely as another base
  bias['N'] = 3;               // no base
  predictor.set_parameter("head.weight", std::vector<float>(std::size_t{kBytes} * kWidth));
  predictor.set_parameter("head.bias", bias);
  halftone::Loader rows(rows_of(of, texts.folder, of.judged), {.batch = 2, .shuffle = false});
  double bits = 0;
  const int asked = static_cast<int>(rows.rows()) * kRead;
  for (int i = 1; i <= asked; ++i) bits += std::log2(i % 5 == 0 ? 2.5 : 5.0);
  CHECK(bits_per_base(predictor, rows) == doctest::Approx(bits / asked).epsilon(1e-5));
}

TEST_CASE("a base is drawn without a look at what is behind it") {
  const auto device = halftone::Device::cpu();
  const Task& of = task("generation");
  auto predictor = predictor_of(of.rules.front().artifact, device, of.length, 2);
  const auto texts = sample(predictor, 2, 40, "ACGT", 1);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].size() == 40);
  CHECK(texts[0].starts_with("ACGT"));
  CHECK(texts[0] != texts[1]);
  CHECK(sample(predictor, 2, 30, "ACGT", 1)[1] == texts[1].substr(0, 30));
}

TEST_CASE("adaptation falls back to the next rules where f16 overflows") {
  const Texts texts("falls_back");
  const auto device = halftone::Device::cpu();
  const Task& of = task("adaptation");
  const auto weights = texts.folder / "large.safetensors";
  {
    auto trainer = trainer_of(of.rules.back().artifact, device, of.length, 1, 1);
    std::vector<float> values(trainer.parameter("h/0/narrow.bias").size(), 1e5f);
    trainer.set_parameter("h/0/narrow.bias", values);
    trainer.save_weights(weights);
  }
  Plan plan{.folder = texts.folder, .steps = 24, .batch = 1, .progress = false};
  plan.first_weights = weights;
  const Run run = train(of, device, plan);
  CHECK(run.rules == "bf16");
  CHECK(run.why_not_before.starts_with("f16 failed, since 20 steps in a row were skipped: "));
  CHECK(run.statistics.steps == 24);
  CHECK(run.statistics.skipped_steps == kFailed);
  CHECK(run.scale_updates >= 10);  // from 1024 to the floor
  CHECK(trained_rules(texts.folder, of, false)->name == "bf16");
  CHECK(std::filesystem::exists(texts.folder / "adaptation_bf16.jsonl"));

  plan.steps = 26;
  const Run later = train(of, device, plan);
  CHECK(later.rules == "bf16");
  CHECK(later.first_step == 24);
}
