// SPDX-License-Identifier: Apache-2.0
// `halftone bisect`, as its user runs it: an artifact, a file of recorded rows, a page.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "../runtime/files/scratch_folder.hpp"
#include "../tool/run_tool.hpp"
#include "planted_data.hpp"

namespace halftone::tests {
namespace {

std::string bytes_of(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]};
}

/// A safetensors file, as its format says: the header's length, the header, the tensors.
void write_rows(const std::string& path, const std::string& labels,
                const std::string& shape = "[1024,8]") {
  const PlantedRows rows = planted_rows(1024);
  const std::string x = bytes_of(rows.x), classes = bytes_of(rows.classes);
  const std::string header = R"({"x":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,)" +
                             std::to_string(x.size()) + R"(]},")" + labels +
                             R"(":{"dtype":"I32","shape":[1024],"data_offsets":[)" +
                             std::to_string(x.size()) + "," +
                             std::to_string(x.size() + classes.size()) + "]}}";
  const std::uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << x << classes;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

struct Task {
  ScratchFolder scratch;
  std::string data = scratch / "rows.safetensors";

  Task() { write_rows(data, "class"); }

  [[nodiscard]] Outcome run(const std::string& more,
                            const std::string& object = PLANTED_OBJECT) const {
    return run_tool("bisect '" + object + "' --data '" + data + "' --folder '" +
                    (scratch / "variants") +
                    "' --halftonec '" HALFTONEC "' --linker '" LINKER
                    "' --steps 30 --seeds 3 --most-seeds 3 --check-seeds 2 --plain " +
                    more);
  }
};

TEST_CASE("the command names the culprit, and writes a page, the figures and the remedy") {
  const Task task;
  const Outcome outcome = task.run("--symbols batch=64");
  INFO(outcome.errors);
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(has(outcome.output, "model planted, 4 rules on trial\nreference, all in f32: loss "));
  CHECK(has(outcome.output, "to blame: rule 3: where layer \"{fc1,boost,mix,head}\" : store f16"));
  CHECK(has(outcome.errors, "halftone: all rules: not finite from 3 of 3 seeds, worse\n"));
  const std::string page = read(task.scratch / "variants/bisect.html");
  CHECK(has(page, "<h1>Rules of planted</h1>"));
  CHECK(has(page, "to blame: rule 3: "));
  CHECK(has(page, "<figcaption>Loss, first seed</figcaption>"));
  CHECK(has(page, "Values under all rules"));
  CHECK(has(read(task.scratch / "variants/remedy.rules"),
            "rule everywhere : store bf16 compute bf16\n"));
  const auto json = nlohmann::json::parse(read(task.scratch / "variants/bisect.json"));
  CHECK(json.at("schema") == 1);
  CHECK(json.at("verdict") == "blamed");
  CHECK(json.at("blamed").at(0).at("rule") == 3);

  // The page can be made again of the figures, and is the same.
  const std::string again = task.scratch / "again.html";
  CHECK(
      run_tool("report '" + (task.scratch / "variants/bisect.json") + "' --output '" + again + "'")
          .status == 0);
  CHECK(read(again) == page);
}

TEST_CASE("rules of a file are the reference") {
  const Task task;
  const std::string rules = task.scratch / "reference.rules";
  std::ofstream(rules) << "# as it was\n\n  rule everywhere : store bf16 compute bf16\r\n";
  const Outcome outcome = task.run("--symbols batch=64 --reference '" + rules + "'");
  INFO(outcome.errors);
  CHECK(has(outcome.output, "reference, 1 rule of its own: loss "));
  CHECK(has(outcome.output, "to blame: rule 3: "));
}

/// The planted model with two stages, the culprit being a rule of the second alone.
std::string staged_object(const ScratchFolder& scratch) {
  std::string text = read(PLANTED_TEXT);
  const auto put = [&](const std::string& words, const std::string& before) {
    const std::size_t at = text.find(before);
    REQUIRE(at != text.npos);
    text.insert(at, words);
  };
  put("stages \"good\" \"bad\"\n", "rule everywhere");
  put(" during \"bad\"", " : store f16");
  std::ofstream(scratch / "staged.halftone") << text;
  const std::string command = "'" HALFTONEC "' '" + (scratch / "staged.halftone") +
                              "' --targets cpu --without-diagnosis --object '" +
                              (scratch / "staged.o") + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  return scratch / "staged.o";
}

TEST_CASE("of a model with stages rules are to blame in the stages that a run is in") {
  const Task task;
  const std::string object = staged_object(task.scratch);
  const auto said = [&](const std::string& stages) {
    const Outcome outcome = task.run("--symbols batch=64 " + stages, object);
    INFO(outcome.errors);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string culprit =
      "to blame: rule 3: where layer \"{fc1,boost,mix,head}\" during \"bad\" : store f16";
  CHECK(has(said("--stages good=10,bad=1"), culprit));
  CHECK(has(said("--stages good=2 --cycle good=3,bad=3"), culprit));
  CHECK(has(said("--stages good=30,bad=1"), "no rule is to blame"));

  const auto refused = [&](const std::string& stages, const std::string& of) {
    const Outcome outcome = task.run("--symbols batch=64 " + stages, of);
    CHECK(outcome.status == 2);
    return outcome.errors;
  };
  CHECK(refused("", object) ==
        "halftone: model 'planted' has the stages 'good', 'bad'; say how long a run is in each: "
        "--stages 'good=100,...' (docs/bisect.md)\n");
  CHECK(refused("--stages good=10,worse=20", object) ==
        "halftone: model 'planted' has no stage 'worse'; its stages are 'good', 'bad'\n");
  CHECK(refused("--stages good=10", PLANTED_OBJECT) ==
        "halftone: model 'planted' has no stage 'good'; it declares none, so leave --stages and "
        "--cycle out\n");
  CHECK(refused("--cycle bad", object) ==
        "halftone: --cycle: 'bad' is not a stage and its number of steps; write NAME=STEPS, as in "
        "warmup=500,full=100\n");
}

TEST_CASE("what is missing is said in a sentence") {
  const Task task;
  const auto said = [&](const std::string& more) {
    const Outcome outcome = task.run(more);
    CHECK(outcome.status == 2);
    return outcome.errors;
  };
  CHECK(
      said("--symbols time=8") ==
      "halftone: --symbols: 'time=8' binds no symbol of model 'planted'; write NAME=NUMBER with a "
      "symbol of batch\n");
  CHECK(said("--symbols batch=64 --reference /no/such.rules") ==
        "halftone: there is no file of rules '/no/such.rules'; name one, or leave it out\n");
  CHECK(has(said("--symbols batch=64 --reference /tmp"), "'/tmp'"));
  CHECK(said("--symbols batch=64 --loss erorr") ==
        "halftone: --loss: model 'planted' has no loss 'erorr'; its losses are 'error'\n");
  CHECK(said("--symbols batch=1025") ==
        "halftone: --symbols: batch is 1025, but the data have 1024 rows; give so many at most\n");
  const std::string rules = task.scratch / "odd.rules";
  std::ofstream(rules) << "everywhere : store bf16\n";
  CHECK(said("--symbols batch=64 --reference '" + rules + "'") ==
        "halftone: the file of rules '" + rules +
            "' has the line 'everywhere : store bf16', which is no rule; write 'rule everywhere : "
            "...'\n");
  std::ofstream(rules) << "# nothing\n";
  CHECK(said("--symbols batch=64 --reference '" + rules + "'") ==
        "halftone: the file of rules '" + rules +
            "' states none; leave --reference out for a reference all in f32\n");
  CHECK(has(said(""), "--symbols"));
  CHECK(has(said("--symbols batch=64 --data /no/rows.safetensors"), "--data"));
  write_rows(task.data, "class", "[1024,2,4]");
  CHECK(said("--symbols batch=64") ==
        "halftone: the tensor 'x' of the data has shape [rows, 2, 4], but the model's input is "
        "[rows, 8]; record it so\n");
  write_rows(task.data, "letter");
  CHECK(has(said("--symbols batch=64"), "class"));
}

}  // namespace
}  // namespace halftone::tests
