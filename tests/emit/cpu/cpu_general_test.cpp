// SPDX-License-Identifier: Apache-2.0
// The CPU's code of general.mlir: general accesses and contractions of a batch, to the bit.
#include "general.hpp"
#include "native.hpp"

using namespace native;

namespace {

template <class T>
std::unique_ptr<Memory<T>> memory_of(const std::vector<T>& values, Place place) {
  auto memory = std::make_unique<Memory<T>>(values.size(), place);
  for (std::size_t i = 0; i < values.size(); ++i) (*memory)[i] = values[i];
  return memory;
}

}  // namespace

TEST_CASE("every kernel computes its elements and touches nothing else") {
  each_case({1, 5, 48}, [](const Case& c) {
    general::each_kernel(
        static_cast<std::size_t>(c.batch),
        [&](const std::string& name, const general::Values& expected, const auto&... operands) {
          CAPTURE(name);
          Floats result(expected.size(), c.place);
          const auto memories = std::make_tuple(memory_of(operands, c.place)...);
          std::vector<const void*> arguments;
          std::apply([&](const auto&... memory) { (arguments.push_back(memory->pointer()), ...); },
                     memories);
          arguments.push_back(result.pointer());
          run(c.variant, name, arguments, c.batch);
          check(result, expected);
        });
  });
}
