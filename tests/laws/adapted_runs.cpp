// SPDX-License-Identifier: Apache-2.0
// What becomes of a run that adapts its stages (P96): its log repeats it, its checkpoints and fit()
// go on with it, all to the bit.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "adaptation_pair.hpp"
#include "halftone/error.hpp"
#include "halftone/fit.hpp"
#include "halftone/run_sinks.hpp"
#include "message_of.hpp"

namespace halftone::tests {
namespace {

std::string file_name(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("halftone_adaptation_" + std::string(name) + std::to_string(getpid())))
      .string();
}

std::vector<std::uint32_t> parameters_of(Trainer& trainer) {
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names())
    for (const float value : trainer.parameter(name)) all.push_back(bits(value));
  return all;
}

}  // namespace

TEST_CASE("the log of a run that adapted gives its stages, and with them its bits") {
  const std::string file = file_name("log");
  std::vector<std::uint32_t> adapted;
  std::vector<std::string> stages;
  const auto factor = [](int step) { return step < 4 ? 1.0f : kFaint; };
  {
    Pair pair = pair_in("f8");
    Adaptation adaptation(by_layer(2));
    RunLog log(pair.trainer, {.every = 5});
    log.add(json_lines(file, IfExists::replace));
    for (int step = 0; step < 11; ++step) {
      draw(pair, factor(step));
      stages.push_back(pair.trainer.stage());
      pair.trainer.step(pair.named_inputs());
      log.step(pair.trainer);
      adaptation.after_step(pair.trainer, &log);
    }
    log.finish(pair.trainer);
    adapted = parameters_of(pair.trainer);
  }
  CHECK(stages.back() == "f32");
  std::ifstream written(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(written)), {});
  CHECK(text.find("{\"kind\":\"values\",\"step\":6,\"stage\":\"f8\",") != std::string::npos);
  CHECK(text.find("{\"kind\":\"switch\",\"step\":6,\"from\":\"f8\",\"to\":\"f8_but_head\",\"why\":"
                  "\"gradient of head (input_gradient) in f8e4m3 saturate: ") != std::string::npos);
  const StageSchedule schedule = stages_of_log(file);
  Pair again = pair_in("f8"), other = pair_in("f8");
  for (int step = 0; step < 11; ++step) {
    CAPTURE(step);
    CHECK(schedule.at(step) == stages[static_cast<std::size_t>(step)]);
    again.trainer.enter(schedule.at(step));
    draw(again, factor(step));
    again.trainer.step(again.named_inputs());
    draw(other, factor(step));
    other.trainer.step(other.named_inputs());
  }
  CHECK(parameters_of(again.trainer) == adapted);
  CHECK(parameters_of(other.trainer) != adapted);  // that the stages matter
  std::remove(file.c_str());
}

TEST_CASE("samples are of the first step and every so many, or rarer where time is short") {
  const auto steps_of = [](const ValueSamplingOptions& options) {
    Pair pair = pair_in("f8");
    ValueSampling sampling(options);
    std::vector<std::int64_t> steps;
    for (int step = 0; step < 8; ++step) {
      draw(pair);
      pair.trainer.step(pair.named_inputs());
      if (const auto sample = sampling.step(pair.trainer)) steps.push_back(sample->step);
    }
    return steps;
  };
  using Steps = std::vector<std::int64_t>;
  CHECK(steps_of({.every = 3, .share_of_time = 0}) == Steps{1, 4, 7});
  CHECK(steps_of({.every = 3, .share_of_time = 1}) == Steps{1, 4, 7});  // all of the time
  CHECK(steps_of({.every = 0, .share_of_time = 1}) == Steps{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(steps_of({.every = 3, .share_of_time = 1e-12}) == Steps{1});  // years later the next
}

TEST_CASE("what an adaptation counts goes through text, in the middle of a window") {
  Pair pair = pair_in("f8");
  Adaptation first(by_layer(2, 2));
  const auto steps = [&](Adaptation& adaptation, int count) {
    for (int step = 0; step < count; ++step) {
      draw(pair, kFaint);
      pair.trainer.step(pair.named_inputs());
      (void)adaptation.step(pair.trainer);
    }
  };
  steps(first, 3);
  Adaptation again(by_layer(2, 2));
  again.restore(first.state());
  CHECK(again.state() == first.state());
  CHECK(pair.trainer.stage() == "f8");
  steps(again, 1);
  CHECK(pair.trainer.stage() == "f8_but_head");
  for (const char* wrong : {"", "1", "1 0 0 0", "2 0 0 0 0 0", "1 -2 0 0 0 0", "1 0 0 0 0 -1",
                            "1 0 0 0 0 0 0", "1 0 0 0 0 x", "1 0 0 0 0 0 ", " 1 0 0 0 0 0"}) {
    CAPTURE(std::string(wrong));
    CHECK(message_of([&] { again.restore(wrong); }) ==
          "restore an adaptation: state '" + std::string(wrong) +
              "' is none that state() gave with as many moves; give the text as it was saved, and "
              "the same options");
  }
}

TEST_CASE("fit() asks the chooser after every step, and its checkpoints hold what it counts") {
  const std::string file = file_name("fit");
  const auto run = [&](std::vector<std::int64_t> ends) {
    std::vector<std::uint32_t> result;
    for (const std::int64_t end : ends) {
      Pair pair = pair_in("f8");
      std::vector<float> x(20 * 10), wanted(20 * 3);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 17 - 0.5f;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = static_cast<float>(i % 5) * 0x1p-12f;
      Loader loader(Dataset::own({{"x", x}, {"wanted", wanted}}, 20), {.batch = kBatch, .seed = 5});
      Adaptation adaptation(
          {.moves = {{.from = "f8", .to = "f32", .most_error = 0.01, .windows = 2}}, .window = 3});
      std::vector<std::string> stages;
      const auto note = [&](const FitProgress& progress) {
        CHECK((pair.trainer.stage() == "f32") == (progress.steps >= 6));
        return true;
      };
      fit(pair.trainer, loader,
          {.epochs = 100,
           .steps = end,
           .checkpoint = file,
           .chooser = &adaptation,
           .after_step = note});
      result = parameters_of(pair.trainer);
    }
    std::remove(file.c_str());
    return result;
  };
  CHECK(run({9}) == run({2, 5, 9}));
  Pair pair = pair_in("f8");
  Loader loader(
      Dataset::own({{"x", std::vector<float>(60)}, {"wanted", std::vector<float>(18)}}, 6),
      {.batch = kBatch});
  Adaptation adaptation(by_layer(1));
  CHECK(message_of([&] {
          fit(pair.trainer, loader, {.stages = StageSchedule({{"f8", 1}}), .chooser = &adaptation});
        }) == "fit: stages are given beside a chooser, which decides by the run; give one of both");
}

TEST_CASE("files that give no stages are refused") {
  const std::string file = file_name("refused");
  const auto refusal = [&](const std::string& text) {
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
    return message_of([&] { (void)stages_of_log(file); });
  };
  const std::string begin = "read stages of a log: file '" + file + "' ";
  const std::string run = "{\"kind\":\"run\",\"schema\":1,\"first_step\":0}\n";
  const std::string step = "{\"kind\":\"step\",\"step\":1,\"steps\":1,\"stage\":\"a\"}\n";
  CHECK(refusal("") == begin + "is no run log; name a file that json_lines() wrote");
  CHECK(refusal(step) == begin + "is no run log; name a file that json_lines() wrote");
  CHECK(refusal(run) == begin + "has no step; give a log of a run that trained");
  CHECK(refusal("{\"kind\":\"run\",\"first_step\":7}\n" + step) ==
        begin + "begins behind step 7; give a log that goes on behind that of the steps before");
  CHECK(refusal(run + "{\"kind\":\"step\",\"step\":1,\"steps\":1}\n") ==
        begin + "names no stage of step 1; give the log of a model that declares stages");
  for (const char* number : {"1e300", "1.5", "9223372036854775808", "-1", "\"1\""})
    CHECK(refusal(run + "{\"kind\":\"step\",\"step\":" + number + ",\"stage\":\"a\"}\n") ==
          begin + "has a step without a number from 1 on; give the log as it was written");
  // A part that resumed takes the place of the steps behind its first; a line that was cut off
  // counts for nothing.
  const auto at = [](int number, const char* stage) {
    return "{\"kind\":\"step\",\"step\":" + std::to_string(number) + ",\"steps\":1,\"stage\":\"" +
           stage + "\"}\n";
  };
  CHECK(refusal(run + step + at(5, "a") + at(6, "b") + at(9, "b") +
                "{\"kind\":\"run\",\"schema\":1,\"first_step\":7}\n" + at(8, "c") + at(10, "c") +
                "{\"kind\":\"step\",\"step\":11,\"st") == "no error");
  const StageSchedule schedule = stages_of_log(file);
  std::string stages;
  for (int number = 0; number < 12; ++number) stages += schedule.at(number);
  CHECK(stages == "aaaaabbccccc");
  CHECK(refusal(
            "{\"kind\":\"run\",\"first_step\":0}\r\n{\"kind\":\"step\",\"step\":1,\"stage\":\"a\"}"
            "\r\n") == "no error");
  std::remove(file.c_str());
  CHECK(message_of([&] { (void)stages_of_log(file); }).find("cannot be read: ") !=
        std::string::npos);
}

}  // namespace halftone::tests
