// SPDX-License-Identifier: Apache-2.0
// `halftone bisect`, as its user runs it: an artifact, a file of recorded rows, a page.
#include <doctest/doctest.h>

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

  [[nodiscard]] Outcome run(const std::string& more) const {
    return run_tool("bisect '" PLANTED_OBJECT "' --data '" + data + "' --folder '" +
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
