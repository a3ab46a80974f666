// SPDX-License-Identifier: Apache-2.0
// The C++ of docs/records.md: it compiles, and does what the typed API does.
#include "records_page.hpp"

#include <doctest/doctest.h>

#include <boost/hana/for_each.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models.hpp"
#include "snippets.hpp"

namespace {

std::vector<Batch> made_up_batches() {
  std::vector<Batch> batches(10, {std::vector<float>(64 * 16), std::vector<std::int32_t>(64)});
  for (std::size_t row = 0; row < 640; ++row) {
    Batch& batch = batches[row / 64];
    batch.features[row % 64 * 16 + row % 5] = 1.0f;
    batch.letter[row % 64] = static_cast<std::int32_t>(row % 5);
  }
  return batches;
}

}  // namespace

TEST_CASE("every piece of C++ in the page stands word for word in a header that is compiled") {
  const std::string compiled = halftone::tests::read_text(PAGE_HEADER);
  const auto pieces = halftone::tests::snippets(halftone::tests::read_text(PAGE));
  CHECK(pieces.size() == 2);
  for (const std::string& piece : pieces) {
    CAPTURE(piece);
    CHECK(compiled.find(piece) != compiled.npos);
  }
}

TEST_CASE("the page's program has the typed API's bits") {
  const std::vector<Batch> batches = made_up_batches();
  const auto device = halftone::Device::best(models::letters::artifact());
  models::letters::Trainer trainer(device, {.batch = 64, .seed = 1});
  trainer.set_learning_rate(0.01f);
  for (const Batch& batch : batches) trainer.step(batch.features, batch.letter);
  models::letters::Predictor predictor(device, {.batch = 64});
  predictor.copy_parameters(trainer);
  const auto logits = predictor.predict(batches.front().features).logits;
  CHECK(train(batches, {0.01f}).logits == std::vector(logits.begin(), logits.end()));
  CHECK(train(batches, {0.02f}).logits != std::vector(logits.begin(), logits.end()));
  CHECK(elements<models::letters::Signature>(batches.front()) == 64 * 16 + 64);
}
