// SPDX-License-Identifier: Apache-2.0
// D116: padding by elements of x and shares of it, along symbols: one artifact at several lengths,
// on simulated chips beside the CPU, and that beside the reference, to the bit.
#include <doctest/doctest.h>

#include <string>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/pair.hpp"
#include "laws/steps.hpp"
#include "message_of.hpp"
#include "simulation.hpp"

namespace halftone::tests {

TEST_CASE("padding and shares of symbols have the reference's bits at every length, on chips too") {
  for (const char* chip : {"sm_75", "sm_80"})
    for (const std::int64_t side : {3, 4, 7}) {
      CAPTURE(std::string(chip));
      CAPTURE(side);
      Pair pair(load_model("sides_padded"), *find_artifact("sides_padded").image, "x86-64-v3",
                reference::Symbols{{"batch", 2}, {"side", side}});
      Trainer trainer(pair.artifact, simulated(chip), pair.setup(1));
      for (int step = 0; step < 2; ++step) {
        CAPTURE(step);
        pair.draw();
        trainer.step(pair.named_inputs());
        check_step(pair);
        CHECK(bits(trainer.loss("error")) == bits(pair.trainer.loss("error")));
        for (const std::string& name : trainer.parameter_names()) {
          CAPTURE(name);
          CHECK(first_difference(trainer.parameter(name), pair.trainer.parameter(name)) == -1);
        }
      }
    }
}

TEST_CASE("D116: a symbol that is too small or too large for a layer is refused in one sentence") {
  const auto bind = [](std::int64_t side) {
    return message_of([&] {
      Pair pair(load_model("sides_padded"), *find_artifact("sides_padded").image, "x86-64-v3",
                reference::Symbols{{"batch", 2}, {"side", side}});
    });
  };
  CHECK(bind(3) == "no error");
  CHECK(bind(1) ==
        "trainer: symbol 'side' is 1, but layer 'wide.pad' has a padding of 2 at a dimension of "
        "2*side, reflect; take 2 or more");
  CHECK(bind(2) ==
        "trainer: symbol 'side' is 2, but layer 'shares' makes 3 windows of side places, each of 1 "
        "to 8 elements along it; take 3 or more");
  CHECK(bind(8) ==
        "trainer: symbol 'side' is 8, but layer 'most' makes 2 windows of 2*side + 1 places, each "
        "of 1 to 8 elements along it; take 7 or less");
}

}  // namespace halftone::tests
