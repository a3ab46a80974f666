// SPDX-License-Identifier: Apache-2.0
// Which kernels run once per chunk of rows, by docs/decisions/0024: the product of the logits, the
// loss of a row, its gradient, and the contractions with that.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "run_tool.hpp"

namespace halftone::tests {

TEST_CASE("D74: explain says which kernels run in chunks of rows") {
  using Kernels = std::multiset<std::string>;
  std::map<std::string, Kernels> chunked;  // what they fused, by program
  const nlohmann::json json = json_of("explain " TOOL_ARTIFACTS "/lm.o");
  for (const nlohmann::json& program : json["programs"]) {
    for (const nlohmann::json& phase : program["phases"]) {
      for (const nlohmann::json& kernel : phase["kernels"]) {
        if (kernel["chunk_rows"].is_null()) continue;
        CHECK(phase["phase"] == "loss");
        CHECK(kernel["chunk_rows"] == 7);
        chunked[program["name"]].insert(kernel["fused"]);
      }
    }
  }
  CHECK(chunked.size() == 2);
  CHECK(chunked["inference"] == Kernels{"head:linear", "xent:cross_entropy"});
  CHECK(chunked["training"] == Kernels{"head:linear",
                                       "xent:cross_entropy + xent:cross_entropy_grad",
                                       "head:contract", "head:contract"});
  const std::string text = run_tool("explain --all " TOOL_ARTIFACTS "/lm.o").output;
  CHECK(text.find("by chunk_rows 7") != text.npos);
}

}  // namespace halftone::tests
