// SPDX-License-Identifier: Apache-2.0
// Files that are not what the tool is for: each is refused in one sentence, none is believed.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "artifact_file.hpp"
#include "file_of_bytes.hpp"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/seal.hpp"
#include "line_artifact.hpp"
#include "no_more_files.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

Bytes whole() { return manifest::encode(hand_made::manifest()); }

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string refusal_of(const std::string& path) {
  const Outcome outcome = run_tool("explain '" + path + "'");
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  return outcome.errors;
}

Bytes altered(std::size_t at) {
  Bytes bytes = whole();
  bytes[at] ^= std::byte{1};
  return bytes;
}

}  // namespace

TEST_CASE("a manifest is found wherever it lies in a file") {
  const Bytes noise = bytes_of(
      "HTMANIF\nHTMANIF\n, and other text \x7f"
      "ELF");
  for (const Bytes& bytes : {whole(), noise + whole(), whole() + noise, noise + whole() + noise}) {
    const tools::Found found = tools::find_manifests(bytes);
    REQUIRE(found.manifests.size() == 1);
    CHECK(found.damaged.empty());
    CHECK(found.manifests.front() == hand_made::manifest());
  }
  const tools::Found twice = tools::find_manifests(whole() + whole());
  CHECK(twice.manifests.size() == 1);
}

TEST_CASE("a file that cannot be opened is refused with the reason and what to do about it") {
  const File file(whole());
  const auto refusal = [&]() -> std::string {
    const NoMoreFiles limit;
    try {
      (void)tools::read_file(file.path());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }();
  CHECK(refusal ==
        "'" + file.path() +
            "' cannot be read: Too many open files; close files, or allow more open ones "
            "(ulimit -n)");
}

TEST_CASE("what bisect cannot train by rows of data is refused before anything is compiled") {
  const std::string header = R"({"features":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                             R"("target":{"dtype":"F32","shape":[2,2],"data_offsets":[24,40]}})";
  const auto length = static_cast<std::uint64_t>(header.size());
  Bytes data(sizeof length);
  std::memcpy(data.data(), &length, sizeof length);
  const File rows(data + bytes_of(header) + Bytes(40));
  const auto refusal = [&](const manifest::Manifest& model) {
    const File artifact(manifest::encode(model));
    const Outcome outcome =
        run_tool("bisect '" + artifact.path() + "' --symbols batch=2 --data '" + rows.path() + "'");
    CHECK(outcome.status == 2);
    return outcome.errors;
  };
  manifest::Manifest several = hand_made::manifest();
  for (manifest::Program& program : several.programs)
    for (manifest::Buffer& buffer : program.buffers)
      if (buffer.name == "features") buffer.shape.front().extent = 4;
  CHECK(refusal(several) ==
        "halftone: the model's input 'features' has 4 rows for each of a batch, of which data have "
        "one; write a callback (docs/bisect.md)\n");
  manifest::Manifest untrained = hand_made::manifest();
  std::erase_if(untrained.programs,
                [](const manifest::Program& program) { return program.name != "inference"; });
  CHECK(refusal(untrained) ==
        "halftone: the artifact of model 'line' has no program that trains; name one of a model "
        "with losses, made without --decode\n");
}

TEST_CASE("a sealed file is believed whole or not at all") {
  const Bytes content = bytes_of("code, ") + whole() + bytes_of(" and texts");
  const Bytes sealed = content + manifest::seal_of(content);
  CHECK(run_tool("explain '" + File(sealed).path() + "'").status == 0);
  struct {
    const char* what;
    std::size_t at;
  } cases[] = {{"code", 2},
               {"texts", content.size() - 3},
               {"the seal's length", content.size() + 16},
               {"the seal's checksum", sealed.size() - 1}};
  for (const auto& c : cases) {
    CAPTURE(c.what);
    Bytes bytes = sealed;
    bytes[c.at] ^= std::byte{1};
    const File file(bytes);
    CHECK(refusal_of(file.path()) ==
          "halftone: '" + file.path() +
              "': the file was altered: its checksum does not match; make the artifact again with "
              "halftonec\n");
  }
}

TEST_CASE("files without a sound artifact are refused, each with its reason") {
  Bytes later = whole();
  later[8] = std::byte{manifest::kVersion + 1};
  Bytes half = whole();
  half.resize(half.size() / 2);
  struct {
    const char* what;
    Bytes bytes;
    const char* says;
  } cases[] = {
      {"empty", {}, "there is no artifact in '"},
      {"text", bytes_of("just some text"), "there is no artifact in '"},
      {"the magic word alone", bytes_of("HTMANIF\n"), "there is no artifact in '"},
      {"half", half, "the manifest is truncated: "},
      {"one bit of the payload", altered(whole().size() - 1), "the manifest was altered: "},
      {"one bit of the checksum", altered(20), "the manifest was altered: "},
      {"a good one beside an altered one", whole() + altered(60), "the manifest was altered: "},
      {"another version", later, "is needed; use the halftone of the halftonec that made it"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    const File file(c.bytes);
    const std::string says = refusal_of(file.path());
    CHECK(says.find(c.says) != std::string::npos);
    CHECK(says.find(file.path()) != std::string::npos);
    CHECK(std::count(says.begin(), says.end(), '\n') == 1);
  }
  CHECK(refusal_of("/no/such/file") ==
        "halftone: there is no file '/no/such/file'; name what halftonec --object wrote\n");
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(refusal_of(folder) == "halftone: '" + folder + "' is a folder or a device; name a file\n");
  CHECK(refusal_of(HALFTONE_TOOL).find("there is no artifact in '") != std::string::npos);
}

TEST_CASE("bytes that were altered anywhere are never believed") {
  const Bytes sound = whole();
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = sound;
    const std::size_t at = random() % bytes.size();
    bytes[at] ^= static_cast<std::byte>(1 + random() % 255);
    CAPTURE(at);
    CHECK(tools::find_manifests(bytes).manifests.empty());
    bytes = sound;
    bytes.resize(random() % bytes.size());
    CHECK(tools::find_manifests(bytes).manifests.empty());
  }
}

TEST_CASE("sizes that overflow are an error, not a number") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest::Value square;
  square.name = square.layer = "square";
  square.shape = {{1, 0}, {1, 0}};  // batch x batch
  manifest.programs.front().values.push_back(square);
  const File file(manifest::encode(manifest));
  const Outcome fits = run_tool("explain " + file.path() + " --symbols batch=1000000000");
  CHECK(fits.status == 0);
  CHECK(fits.output.find("4000000000000000000") != std::string::npos);
  const Outcome outcome = run_tool("explain " + file.path() + " --symbols batch=4000000000");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors == "halftone: a size exceeds 2^63 bytes; bind smaller symbols\n");
  const Outcome largest =
      run_tool("explain " + file.path() + " --symbols batch=9223372036854775807");
  CHECK(largest.status == 2);
  CHECK(largest.errors ==
        "halftone: --symbols: buffer 'features' of training exceeds 2^62 bytes; bind smaller "
        "sizes\n");
  const Outcome sum = run_tool("explain " + file.path() + " --symbols batch=200000000000000000");
  CHECK(sum.status == 2);
  CHECK(sum.errors ==
        "halftone: --symbols: the memory of training exceeds 2^62 bytes; bind smaller sizes\n");
}

TEST_CASE("names of any length and any bytes stand whole in the text, and fit into the object") {
  manifest::Manifest manifest = hand_made::manifest();
  const std::string name = "head" + std::string(300, 'x') +
                           "\xff"
                           "tail";
  manifest.programs.front().values.emplace_back().name = name;
  const File file(manifest::encode(manifest));
  const Outcome outcome = run_tool("explain " + file.path());
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("\n  " + name + "  f32\n") != std::string::npos);
  CHECK(json_of("explain " + file.path())["model"] == manifest.model);
}

TEST_CASE("what layers let a symbol be is said, and what is proposed to bind it to is that") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest.limits = {{0, 24, "places", "places.weight"}, {0, 30, "frame", "", 3, "cuts 2"}};
  const File file(manifest::encode(manifest));
  CHECK(json_of("explain " + file.path())["bounds"] == nlohmann::json{{"batch", {3, 24}}});
  const std::string text = run_tool("explain " + file.path()).output;
  CHECK(text.find("symbols: batch is not bound (from 3 to 24)\n") != std::string::npos);
  CHECK(text.find("--symbols batch=24\n") != std::string::npos);
  manifest.limits = {{0, std::int64_t{1} << 62, "frame", "", 40, "cuts 39"}};
  const File open(manifest::encode(manifest));
  CHECK(json_of("explain " + open.path())["bounds"] == nlohmann::json{{"batch", {40, nullptr}}});
  CHECK(run_tool("explain " + open.path()).output.find("--symbols batch=40\n") !=
        std::string::npos);
}

TEST_CASE("what an artifact does not have is refused with what it has") {
  manifest::Manifest manifest = hand_made::manifest();
  manifest.limits = {{0, 24, "places", "places.weight"}};
  const File file(manifest::encode(manifest));
  struct {
    std::string arguments, says;
  } cases[] = {
      {"explain " + file.path() + " --symbols batch=25",
       "--symbols: batch is 25, but layer 'places' has 24 times, the rows of parameter "
       "'places.weight'; bind 24 or less"},
      {"explain " + file.path() + " --symbols length=3", "binds no symbol of model"},
      {"explain " + file.path() + " --symbols batch", "write NAME=NUMBER"},
      {"explain " + file.path() + " --symbols batch=0", "write a whole number above 0"},
      {"explain " + file.path() + " --symbols batch=3x", "write a whole number above 0"},
      {"explain " + file.path() + " --symbols batch=3,batch=3", "batch is bound twice"},
      {"explain " + file.path() + " --model other", "holds no artifact of model 'other'"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.arguments);
    const Outcome outcome = run_tool(c.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find(c.says) != std::string::npos);
  }
}

}  // namespace halftone::tests
