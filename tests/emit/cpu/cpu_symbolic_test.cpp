// SPDX-License-Identifier: Apache-2.0
// The CPU's code of symbolic.mlir, whose rows are as long as a symbol says, to the bit.
#include "native.hpp"
#include "symbolic.hpp"

using namespace native;

namespace {

template <class T>
std::unique_ptr<Memory<T>> memory_of(const std::vector<T>& values, Place place) {
  auto memory = std::make_unique<Memory<T>>(values.size(), place);
  for (std::size_t i = 0; i < values.size(); ++i) (*memory)[i] = values[i];
  return memory;
}

/// Runs a kernel under every variant and compares its results.
struct Runs {
  const Case& c;

  template <class... T>
  void operator()(const std::string& name, const std::vector<symbolic::Values>& expected,
                  const std::vector<T>&... operands) const {
    CAPTURE(name);
    const auto memories = std::make_tuple(memory_of(operands, c.place)...);
    std::vector<const void*> arguments;
    std::apply([&](const auto&... memory) { (arguments.push_back(memory->pointer()), ...); },
               memories);
    std::vector<std::unique_ptr<Floats>> results;
    for (const symbolic::Values& result : expected) {
      results.push_back(std::make_unique<Floats>(result.size(), c.place));
      arguments.push_back(results.back()->pointer());
    }
    run(c.variant, name, arguments, c.batch);
    for (std::size_t i = 0; i < results.size(); ++i) check(*results[i], expected[i]);
  }
};

const std::vector<std::int64_t> kLengths{1, 7, 31, 33, 1023, 1025, 2049};

}  // namespace

TEST_CASE("rows of any length are reduced by the row tree N2") {
  each_case(kLengths, [](const Case& c) {
    symbolic::each_row_kernel(static_cast<std::size_t>(c.batch), Runs{c});
  });
  each_case({(1 << 20) + 1025}, [](const Case& c) {  // one more level of the tree
    symbolic::each_row_kernel(static_cast<std::size_t>(c.batch), Runs{c});
  });
}

TEST_CASE("products have as many columns, and sums as many terms, as a symbol says") {
  each_case({1, 7, 31, 33, 130, 300}, [](const Case& c) {
    symbolic::each_contraction(static_cast<std::size_t>(c.batch), Runs{c});
  });
}

TEST_CASE("as many columns as a symbol says are summed by N3") {
  each_case(kLengths, [](const Case& c) {
    symbolic::each_column_kernel(static_cast<std::size_t>(c.batch), Runs{c});
  });
}

TEST_CASE("elements of rows of any length") {
  each_case(kLengths, [](const Case& c) {
    symbolic::each_elementwise(static_cast<std::size_t>(c.batch), Runs{c});
  });
}
