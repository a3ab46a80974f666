// SPDX-License-Identifier: Apache-2.0
// JSON lines and Prometheus's text: what is in them, and what becomes of files that are there.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "halftone/run_sinks.hpp"
#include "halftone/stages.hpp"
#include "halftone/value_statistics.hpp"
#include "made_up_run.hpp"
#include "message_of.hpp"

using halftone::IfExists, halftone::json_lines, halftone::prometheus_text;
using halftone::tests::bytes_of_file, halftone::tests::ScratchFolder, halftone::tests::write_file;

namespace {

const std::string kFacts =
    R"({"kind":"run","schema":1,"halftone_version":"0.1.0","name":"first","model":"made_up",)"
    R"("rules":["everywhere : store f16 compute f16","where class loss : compute f32"],)"
    R"("losses":["error"],"loss_scale":"dynamic","device":"cpu",)"
    R"("hardware":"cpu: a \"made-up\" <processor> & 2 threads","variant":"x86-64-v3","threads":2,)"
    R"("sizes":{"batch":32},"seed":7,"started":1.75e+09,"first_step":0,"first_skipped_steps":0,)"
    R"("parameter_tensors":2,"parameters":1234,"trained_parameters":1230,"memory":[)"
    R"({"role":"parameters","format":"f32","tensors":1,"bytes":8192},)"
    R"({"role":"activation","format":"f16","tensors":3,"bytes":4096},)"
    R"({"role":"workspace","format":"","tensors":0,"bytes":1024}],"buffers":[)"
    R"({"name":"x","format":"f32","bytes":256},{"name":"parameters","format":"f32","bytes":8192},)"
    R"({"name":"fc","format":"f16","bytes":4096}],"kernels":[)"
    R"({"phase":"forward","kernel":"fc_forward","skeleton":"contraction",)"
    R"("fused":"fc:contract + fc:cast","reads":[0,1],"writes":[2]},)"
    R"({"phase":"loss_backward","kernel":"error_backward","skeleton":"row",)"
    R"("fused":"error:gradient","reads":[2],"writes":[2]}],"casts":[)"
    R"({"value":"fc","role":"activation","from":"f32","to":"f16","kernel":"fc_forward",)"
    R"("own_launch":false,"rule":"everywhere : store f16 compute f16"}]})"
    "\n";

const std::string kStep =
    R"({"kind":"step","step":20,"steps":10,"skipped":1,"skipped_steps":1,)"
    R"("losses":{"error":0.25},"grad_norm":0.5,"loss_scale":65536,"learning_rate":0.001,)"
    R"("peak_bytes":13312,"ms_per_step":10,"rows_per_second":3200,"seconds":0.2,)"
    R"("time":1750000000.2,"metrics":{"held-out\u000a\u0001 accuracy":0.75}})"
    "\n";

halftone::LogEntry with_metric() {
  halftone::LogEntry entry = made_up::entry(20, 0.25f, 1);
  entry.metrics = {{"held-out\n\x01 accuracy", 0.75}};
  return entry;
}

/// Facts, an entry and the end, written by a sink.
void write_run(const std::string& file, IfExists if_exists) {
  const auto sink = json_lines(file, if_exists);
  sink->begin(made_up::facts());
  sink->write(with_metric());
  sink->end();
}

/// Files may have so many bytes while this lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("facts, entries and the end are a line of JSON each") {
  const ScratchFolder scratch;
  write_run(scratch / "run.jsonl", IfExists::refuse);
  CHECK(bytes_of_file(scratch / "run.jsonl") == kFacts + kStep + "{\"kind\":\"end\"}\n");
}

TEST_CASE("the gradients of layers are a list, in the order of the run's line") {
  const ScratchFolder scratch;
  halftone::RunFacts facts = made_up::facts();
  facts.gradient_layers = {"fc", "head"};
  halftone::LogEntry entry = made_up::entry(20, 0.25f);
  entry.layer_gradients = {0.5, std::nullopt};
  const auto sink = json_lines(scratch / "run.jsonl");
  sink->begin(facts);
  sink->write(entry);
  const std::string text = bytes_of_file(scratch / "run.jsonl");
  CHECK(text.find(",\"gradient_layers\":[\"fc\",\"head\"]}\n") != text.npos);
  CHECK(text.ends_with(",\"layer_gradients\":[0.5,null]}\n"));
}

namespace {

halftone::ValueSample sample() {
  halftone::ValueStatistics value{
      .layer = "fc", .op = "cast", .pass = "forward", .role = "activation", .elements = 8};
  value.zeros = 3;
  value.least = 0.25;
  value.greatest = 1.0;
  value.first_exponent = -2;
  value.exponents = {1, 0, 3};
  value.format = "f16";
  value.rule = "everywhere : store f16";
  value.error = 0.125;
  value.flushed = 1;
  value.saturated = 2;
  value.first_exponent_before = -30;
  value.exponents_before = {1};
  halftone::ValueSample sample{.step = 20, .stage = "full", .loss_scale = 8.0f, .seconds = 0.5};
  sample.values = {value, value};
  sample.values[1].layer = "head";
  sample.values[1].flushed = 3;
  return sample;
}

}  // namespace

TEST_CASE("a picture is a line, with its file as it is named from the log's folder") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "run");
  const auto sink = json_lines(scratch / "run/log.jsonl");
  sink->picture({.step = 20, .name = "samples \"a\"", .file = scratch / "run/seen/a.png"});
  sink->picture({.step = 30, .name = "b", .file = scratch / "b.png"});
  CHECK(bytes_of_file(scratch / "run/log.jsonl") ==
        R"({"kind":"picture","step":20,"name":"samples \"a\"","file":"seen/a.png"})"
        "\n"
        R"({"kind":"picture","step":30,"name":"b","file":"../b.png"})"
        "\n");
}

TEST_CASE("samples of values and stages that were entered are a line each") {
  const ScratchFolder scratch;
  const auto sink = json_lines(scratch / "run.jsonl");
  halftone::ValueSample one = sample();
  one.values.pop_back();
  sink->values(one);
  sink->switched({.step = 20, .from = "f16", .to = "f32", .why = "a \"reason\""});
  CHECK(bytes_of_file(scratch / "run.jsonl") ==
        R"({"kind":"values","step":20,"stage":"full","loss_scale":8,"seconds":0.5,"values":[)"
        R"({"layer":"fc","op":"cast","pass":"forward","role":"activation","elements":8,"zeros":3,)"
        R"("infinite":0,"not_a_number":0,"least":0.25,"greatest":1,"first_exponent":-2,)"
        R"("exponents":[1,0,3],"format":"f16","rule":"everywhere : store f16","error":0.125,)"
        R"("flushed":1,"overflowed":0,"saturated":2,"first_exponent_before":-30,)"
        R"("exponents_before":[1]}]})"
        "\n"
        R"({"kind":"switch","step":20,"from":"f16","to":"f32","why":"a \"reason\""})"
        "\n");
}

TEST_CASE("Prometheus gets the worst of the latest sample") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.prom";
  const auto sink = prometheus_text(file);
  sink->begin(made_up::facts());
  sink->values(sample());
  sink->write(with_metric());
  const std::string text = bytes_of_file(file);
  const std::string labels = "{model=\"made_up\",run=\"first\"} ";
  CHECK(text.find("\nhalftone_most_overflowed" + labels + "0.25\n") != text.npos);
  // Of head 3 of the 8 - (3 - 3) that were not 0, of fc 1 of 8 - (3 - 1).
  CHECK(text.find("\nhalftone_most_became_0" + labels + "0.375\n") != text.npos);
  CHECK(text.find("\nhalftone_greatest_rounding_error" + labels + "0.125\n") != text.npos);
}

TEST_CASE("what is no number is a word") {
  const ScratchFolder scratch;
  const auto sink = json_lines(scratch / "run.jsonl");
  for (const float value :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()})
    sink->write(made_up::entry(1, value));
  const std::string text = bytes_of_file(scratch / "run.jsonl");
  for (const char* word :
       {"{\"error\":\"Infinity\"}", "{\"error\":\"-Infinity\"}", "{\"error\":\"NaN\"}"})
    CHECK(text.find(word) != text.npos);
}

TEST_CASE("a log that is there is refused, goes on or is replaced") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl", once = kFacts + kStep + "{\"kind\":\"end\"}\n";
  write_run(file, IfExists::append);
  CHECK(message_of([&] { write_run(file, IfExists::refuse); }) ==
        "log: file '" + file +
            "' is there already; name another one, or say IfExists::append or IfExists::replace");
  CHECK(bytes_of_file(file) == once);
  write_run(file, IfExists::append);
  CHECK(bytes_of_file(file) == once + once);
  write_run(file, IfExists::replace);
  CHECK(bytes_of_file(file) == once);
}

TEST_CASE("a run that goes on behind a line that was cut off begins a line of its own") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl", torn = kFacts + kStep.substr(0, 30);
  write_file(file, torn);
  write_run(file, IfExists::append);
  CHECK(bytes_of_file(file) == torn + "\n" + kFacts + kStep + "{\"kind\":\"end\"}\n");
}

TEST_CASE("a line that the disk has no room for is an error, and the next one is whole") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  const auto sink = json_lines(file);
  sink->begin(made_up::facts());
  {
    const FileLimit limit(kFacts.size() + 50);
    CHECK(message_of([&] { sink->write(with_metric()); }) ==
          "log: file '" + file +
              "' cannot be written: File too large; check the path and its permissions");
  }
  sink->write(with_metric());
  CHECK(bytes_of_file(file) == kFacts + kStep.substr(0, 50) + "\n" + kStep);
}

TEST_CASE("one log at a time writes to a file") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.jsonl";
  const auto sink = json_lines(file);
  for (const IfExists if_exists : {IfExists::append, IfExists::replace}) {
    CHECK(message_of([&] { (void)json_lines(file, if_exists); }) ==
          "log: file '" + file + "' is being written by another log; give each a file of its own");
  }
  sink->begin(made_up::facts());
  CHECK(bytes_of_file(file) == kFacts);
}

TEST_CASE("places where no log can be are refused") {
  const ScratchFolder scratch;
  CHECK(message_of([&] { (void)json_lines(scratch / "no/run.jsonl"); }) ==
        "log: file '" + scratch.path() +
            "/no/run.jsonl' cannot be opened: No such file or directory; make its folder first");
  CHECK(message_of([&] { (void)json_lines("/dev/null", IfExists::append); }) ==
        "log: file '/dev/null' is no regular file; name a file");
}

TEST_CASE("Prometheus gets the latest entry and the latest of every metric") {
  const ScratchFolder scratch;
  const std::string file = scratch / "run.prom";
  const auto sink =
      prometheus_text(file, {.at_most_every = std::chrono::hours(1), .labels = {{"host", "a\\b"}}});
  sink->begin(made_up::facts("a \"run\""));
  sink->write(with_metric());
  const std::string first = bytes_of_file(file);
  halftone::LogEntry last = made_up::entry(30, std::numeric_limits<float>::infinity(), 2);
  last.ms_per_step.reset();
  last.rows_per_second.reset();
  sink->write(last);
  CHECK(bytes_of_file(file) == first);  // so soon nothing is written again
  sink->end();
  const std::string labels = "model=\"made_up\",run=\"a \\\"run\\\"\",host=\"a\\\\b\"";
  CHECK(bytes_of_file(file) ==
        "# HELP halftone_steps_total Updates asked for, skipped ones included.\n"
        "# TYPE halftone_steps_total counter\n"
        "halftone_steps_total{" +
            labels +
            "} 30\n"
            "# HELP halftone_skipped_steps_total Updates that a gradient which is not finite "
            "stopped.\n"
            "# TYPE halftone_skipped_steps_total counter\n"
            "halftone_skipped_steps_total{" +
            labels +
            "} 2\n"
            "# HELP halftone_loss A loss of the last logged step.\n"
            "# TYPE halftone_loss gauge\n"
            "halftone_loss{" +
            labels +
            ",name=\"error\"} +Inf\n"
            "# HELP halftone_metric A metric of the program's own, the latest.\n"
            "# TYPE halftone_metric gauge\n"
            "halftone_metric{" +
            labels +
            ",name=\"held-out\\n\x01 accuracy\"} 0.75\n"
            "# HELP halftone_gradient_norm Of the last logged step, before clipping.\n"
            "# TYPE halftone_gradient_norm gauge\n"
            "halftone_gradient_norm{" +
            labels +
            "} 0.5\n"
            "# HELP halftone_loss_scale Of the next step.\n"
            "# TYPE halftone_loss_scale gauge\n"
            "halftone_loss_scale{" +
            labels +
            "} 65536\n"
            "# HELP halftone_learning_rate Of the last step.\n"
            "# TYPE halftone_learning_rate gauge\n"
            "halftone_learning_rate{" +
            labels +
            "} 0.001\n"
            "# HELP halftone_peak_bytes Device memory obtained.\n"
            "# TYPE halftone_peak_bytes gauge\n"
            "halftone_peak_bytes{" +
            labels +
            "} 13312\n"
            "# HELP halftone_step_seconds From one step to the next.\n"
            "# TYPE halftone_step_seconds gauge\n"
            "halftone_step_seconds{" +
            labels +
            "} 0.01\n"
            "# HELP halftone_rows_per_second Rows of input trained on.\n"
            "# TYPE halftone_rows_per_second gauge\n"
            "halftone_rows_per_second{" +
            labels +
            "} 3200\n"
            "# HELP halftone_last_step_timestamp_seconds When it was logged.\n"
            "# TYPE halftone_last_step_timestamp_seconds gauge\n"
            "halftone_last_step_timestamp_seconds{" +
            labels + "} 1750000000.3\n");
  CHECK(std::filesystem::exists(file + ".saving") == false);
}

TEST_CASE("labels that Prometheus would not take are refused") {
  for (const char* name : {"", "1a", "a-b", "__a", "model", "name"}) {
    CAPTURE(name);
    const std::string message = message_of([&] {
      (void)prometheus_text("run.prom", {.labels = {{name, "v"}}});
    });
    CHECK(message.starts_with("log: label '" + std::string(name) + "' is "));
    CHECK(message.ends_with("; give letters, digits and _, and none of model, run and name"));
  }
}
