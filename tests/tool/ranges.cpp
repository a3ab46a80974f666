// SPDX-License-Identifier: Apache-2.0
// What `halftone ranges` says of files of weights whose every byte is written here.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "file_of_bytes.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

/// A safetensors file of this header (huggingface/safetensors, README.md) and these tensors' bytes.
Bytes file_of(const std::string& header, const Bytes& tensors) {
  const auto length = static_cast<std::uint64_t>(header.size());
  Bytes bytes(sizeof length + header.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, header.data(), header.size());
  return bytes + tensors;
}

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("ranges have the least and largest number and three sums of each tensor") {
  // [2, 2, 3]: rows sum to 6, 15, 4, 9, what is behind the first dimension to 21 and 13, columns to
  // 7, 11 and 16.
  const Bytes weight = bytes_of({1, -2, 3, 4, 5, -6, 0, 1, 3, 2, 3, 4});
  const File file(
      file_of(R"({"fc.weight":{"dtype":"F32","shape":[2,2,3],"data_offsets":[0,48]},)"
              R"("half":{"dtype":"BF16","shape":[2],"data_offsets":[48,52]},)"
              R"("halftone/counters":{"dtype":"I64","shape":[1],"data_offsets":[52,60]}})",
              weight + Bytes{std::byte{0x80}, std::byte{0x3f}, std::byte{0x00}, std::byte{0xc0}} +
                  Bytes(8)));
  // sums are rounded up, by 2^-20 of themselves
  const Outcome outcome = run_tool("ranges " + file.path());
  CHECK(outcome.status == 0);
  CHECK(outcome.output ==
        "fc.weight -6 5 15.000014305114746 21.000020027160645 16.000015258789062\n"
        "half -2 1 3.000002861022949 2.000001907348633 2.000001907348633\n");
  CHECK(outcome.errors.empty());
}

TEST_CASE("files that ranges cannot be told of are refused in a sentence") {
  const File cut(Bytes(3));
  const Outcome damaged = run_tool("ranges " + cut.path());
  CHECK(damaged.status == 2);
  CHECK(damaged.errors.starts_with("halftone: '" + cut.path() + "' "));
  const File empty(file_of("{}", {}));
  CHECK(run_tool("ranges " + empty.path()).errors ==
        "halftone: '" + empty.path() +
            "' has no tensor of floats; name a file of weights or a checkpoint\n");
  const File infinite(file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                              Bytes{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x7f}}));
  CHECK(run_tool("ranges " + infinite.path()).errors ==
        "halftone: '" + infinite.path() +
            "' has numbers in tensor 'w' that are not finite; train from sounder weights\n");
}

TEST_CASE("names that no parameter has are told in comments, which a file of ranges may keep") {
  const Bytes one = bytes_of({1});
  const File file(file_of(R"({"a b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("#c":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                          R"("n\nl":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                          R"("h/1/fc-a.w_0":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
                          one + one + one + one));
  const Outcome outcome = run_tool("ranges " + file.path());
  CHECK(outcome.status == 0);
  CHECK(outcome.output ==
        "# left out: tensor 'a b', as which no parameter is named\n"
        "# left out: tensor '#c', as which no parameter is named\n"
        "# left out: tensor 'n?l', as which no parameter is named\n"
        "h/1/fc-a.w_0 1 1 1.0000009536743164 1.0000009536743164 1.0000009536743164\n");
}

}  // namespace halftone::tests
