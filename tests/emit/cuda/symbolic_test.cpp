// SPDX-License-Identifier: Apache-2.0
// The texts of symbolic.mlir on the host, whose rows are as long as a symbol says, to the bit.
#include "symbolic.hpp"

#include "emulation.hpp"

using namespace emulation;

extern "C" {
void halftone_addressed();
void halftone_rowless();
void halftone_read_by_maps();
void halftone_normalised();
void halftone_narrowed();
void halftone_picked_loss();
void halftone_column_sums();
void halftone_scores();
void halftone_turned_plain();
void halftone_attention_scores();
void halftone_attention_values();
}

namespace {

const std::map<std::string, void (*)()> kEntries = {
    {"addressed", halftone_addressed},
    {"rowless", halftone_rowless},
    {"read_by_maps", halftone_read_by_maps},
    {"normalised", halftone_normalised},
    {"narrowed", halftone_narrowed},
    {"picked_loss", halftone_picked_loss},
    {"column_sums", halftone_column_sums},
    {"scores", halftone_scores},
    {"turned_plain", halftone_turned_plain},
    {"attention_scores", halftone_attention_scores},
    {"attention_values", halftone_attention_values},
};

template <class T>
struct Filled : Buffer<T> {
  explicit Filled(const std::vector<T>& values) : Buffer<T>(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) (*this)[i] = values[i];
  }
};

/// Runs a kernel of one or two results and compares them.
struct Runs {
  long long length;
  bool reversed;

  template <class... T>
  void operator()(const std::string& name, const std::vector<symbolic::Values>& expected,
                  const std::vector<T>&... operands) const {
    CAPTURE(name);
    CAPTURE(length);
    std::tuple<Filled<T>...> memories(operands...);
    std::vector<std::unique_ptr<Buffer<float>>> results;
    for (const symbolic::Values& result : expected)
      results.push_back(std::make_unique<Buffer<float>>(result.size()));
    std::apply(
        [&](auto&... memory) {
          using One = void (*)(const T*..., float*, long long);
          using Two = void (*)(const T*..., float*, float*, long long);
          const auto entry = kEntries.at(name);
          if (results.size() == 1)
            run(name.c_str(), reinterpret_cast<One>(entry), reversed, length, memory.get()...,
                results[0]->get());
          else
            run(name.c_str(), reinterpret_cast<Two>(entry), reversed, length, memory.get()...,
                results[0]->get(), results[1]->get());
        },
        memories);
    for (std::size_t i = 0; i < results.size(); ++i) check_equal(results[i]->values(), expected[i]);
  }
};

template <class Test>
void each_length(std::initializer_list<long long> lengths, Test test) {
  for (const long long length : lengths)
    for (const bool reversed : {false, true})
      test(static_cast<std::size_t>(length), Runs{length, reversed});
}

}  // namespace

TEST_CASE("rows of any length are reduced by the row tree N2") {
  each_length(
      {1, 7, 31, 33, 1023, 1024, 1025, 2049, 40000, (1 << 20) + 1025},
      [](std::size_t length, const Runs& runs) { symbolic::each_row_kernel(length, runs); });
}

TEST_CASE("products have as many columns, and sums as many terms, as a symbol says") {
  each_length({1, 7, 31, 33, 130}, [](std::size_t length, const Runs& runs) {
    symbolic::each_contraction(length, runs);
  });
}

TEST_CASE("as many columns as a symbol says are summed by N3") {
  each_length({1, 7, 31, 33, 1025}, [](std::size_t length, const Runs& runs) {
    symbolic::each_column_kernel(length, runs);
  });
}

TEST_CASE("elements of rows of any length") {
  each_length({1, 7, 31, 33, 1023, 1025, 2049}, [](std::size_t length, const Runs& runs) {
    symbolic::each_elementwise(length, runs);
  });
}
