// SPDX-License-Identifier: Apache-2.0
// The code of every skeleton of narrow_kernels.mlir.in against the specification, to the bit.
#include "formats.hpp"
#include "native.hpp"
#include "reference.hpp"

using namespace native;
using formats::bits_of;
using formats::float_of;
using reference::Values;

namespace {

const std::vector<std::int64_t> kColumns{1, 7, 33, 64, 1029};
const std::vector<std::int64_t> kBatches{1, 5, 100};
const formats::Format* const kNarrow[] = {&formats::f16(), &formats::bf16(), &formats::tf32()};

/// Null for f32.
const formats::Format* const kOperands[] = {nullptr, &formats::tf32(), &formats::f16(),
                                            &formats::bf16()};
std::string name_of(const formats::Format* format) { return format ? format->name : "f32"; }

float rounded(const formats::Format* format, float value, bool toward_zero = false) {
  return format ? format->widen(format->round(value, toward_zero)) : value;
}

/// A tensor [rows, columns] of any format, as kernels see it in memory.
class Stored {
 public:
  Stored(const formats::Format* format, std::int64_t rows, std::int64_t columns, const Case& c)
      : rows(rows), columns(columns), format_(format) {
    const auto count = static_cast<std::size_t>(rows * columns);
    if (format != nullptr && format->name != "tf32")
      codes_ = std::make_unique<Memory<std::uint16_t>>(count, c.place);
    else
      words_ = std::make_unique<Floats>(count, c.place);
  }
  /// Random values, with specials where the case wants them.
  Stored(const formats::Format* format, std::int64_t rows, std::int64_t columns, const Case& c,
         unsigned seed)
      : Stored(format, rows, columns, c) {
    const auto count = static_cast<std::size_t>(rows * columns);
    Floats values(count, Place::end);
    fill(values, count, seed, c.specials);
    for (std::size_t i = 0; i < count; ++i) {
      // Among the specials, subnormals of every format.
      const float value = c.specials && values[i] == 1e-40f ? smallest() : values[i];
      set(i, format ? stored_code(value, false) : bits_of(value));
    }
  }

  [[nodiscard]] const void* pointer() const {
    return codes_ ? codes_->pointer() : words_->pointer();
  }
  [[nodiscard]] float at(std::int64_t i, std::int64_t j) const {
    const auto index = static_cast<std::size_t>(i * columns + j);
    return codes_ ? format_->widen((*codes_)[index]) : (*words_)[index];
  }
  [[nodiscard]] Values row(std::int64_t i) const {
    Values result;
    for (std::int64_t j = 0; j < columns; ++j) result.push_back(at(i, j));
    return result;
  }
  [[nodiscard]] Values column(std::int64_t j) const {
    Values result;
    for (std::int64_t i = 0; i < rows; ++i) result.push_back(at(i, j));
    return result;
  }

  /// The stored codes are those of `expected`, rounded; NaN included (F3), but for those of f32.
  void check(const Values& expected, bool toward_zero = false) const {
    REQUIRE(expected.size() == static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::uint32_t wanted =
          format_ ? stored_code(expected[i], toward_zero) : bits(expected[i]);
      const std::uint32_t got = codes_    ? (*codes_)[i]
                                : format_ ? bits_of((*words_)[i])
                                          : bits((*words_)[i]);
      if (got == wanted) continue;
      CAPTURE(i);
      CAPTURE(expected[i]);
      CHECK(got == wanted);
      return;
    }
    CHECK((codes_ ? codes_->neighbours_untouched() : words_->neighbours_untouched()));
  }

  const std::int64_t rows, columns;

 private:
  [[nodiscard]] float smallest() const {
    return format_ && format_->name == "f16" ? 0x1.8p-23f : 1e-40f;
  }
  [[nodiscard]] std::uint32_t stored_code(float value, bool toward_zero) const {
    const std::uint32_t code = format_->round(value, toward_zero);
    if (codes_) return code;
    return code == format_->nan_code() ? 0x7fffffffu : code << 13;
  }
  void set(std::size_t i, std::uint32_t code) {
    if (codes_)
      (*codes_)[i] = static_cast<std::uint16_t>(code);
    else
      (*words_)[i] = float_of(code);
  }

  const formats::Format* format_;
  std::unique_ptr<Memory<std::uint16_t>> codes_;
  std::unique_ptr<Floats> words_;
};

template <class Test>
void each_format_and_column_count(Test test) {
  for (const formats::Format* format : kNarrow)
    for (const std::int64_t n : kColumns) {
      CAPTURE(format->name);
      CAPTURE(n);
      each_case(kBatches, [&](const Case& c) {
        test(format, n, c, "_" + format->name + "_" + std::to_string(n));
      });
    }
}

/// `test(lhs format, rhs format, case, "_lhs_rhs_")`.
template <class Test>
void each_pair(const std::vector<std::int64_t>& batches, Test test) {
  for (const formats::Format* f : kOperands)
    for (const formats::Format* g : kOperands) {
      const std::string names = "_" + name_of(f) + "_" + name_of(g) + "_";
      CAPTURE(names);
      each_case(batches, [&](const Case& c) { test(f, g, c, names); });
    }
}

}  // namespace

TEST_CASE("a flattened pointwise kernel reads, rounds and stores narrow formats") {
  each_format_and_column_count([](const formats::Format* f, std::int64_t n, const Case& c,
                                  const std::string& suffix) {
    Stored x(f, c.batch, n, c, 1), s(f, 1, 1, c, 2);
    Stored exact(nullptr, c.batch, n, c), nearest(f, c.batch, n, c), zero(f, c.batch, n, c);
    run(c.variant, "flat" + suffix,
        {x.pointer(), s.pointer(), exact.pointer(), nearest.pointer(), zero.pointer()}, c.batch);
    Values sums, read;
    for (std::int64_t i = 0; i < c.batch; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float product = x.at(i, j) * s.at(0, 0);
        sums.push_back(product + 0.333333343f);
        read.push_back(rounded(f, sums.back()) + 0.125f);
      }
    exact.check(read);
    nearest.check(sums);
    zero.check(sums, true);
  });
}

TEST_CASE("a pointwise kernel reads windows, columns and rows of narrow formats") {
  each_format_and_column_count(
      [](const formats::Format* f, std::int64_t n, const Case& c, const std::string& suffix) {
        Stored five(f, c.batch, 5, c, 1), wide(f, c.batch, 1032, c, 2), column(f, 1, n, c, 3),
            row(f, c.batch, 1, c, 4);
        Integers labels(static_cast<std::size_t>(c.batch), c.place);
        for (std::int64_t i = 0; i < c.batch; ++i)
          labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((i * 5) % n);
        Stored r(f, c.batch, n, c);
        run(c.variant, "accesses" + suffix,
            {five.pointer(), five.pointer(), wide.pointer(), column.pointer(), row.pointer(),
             labels.pointer(), r.pointer()},
            c.batch);
        Values expected;
        for (std::int64_t i = 0; i < c.batch; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const float a = j >= 2 && j < 7 ? five.at(i, j - 2) : 0.0f, d = row.at(i, 0);
            const float chosen = labels[static_cast<std::size_t>(i)] == j ? d : wide.at(i, j + 3);
            const float right = j + 1 < 5 ? five.at(i, j + 1) : 0.0f;
            const float scaled = ((a - right) + chosen) * d;
            expected.push_back(scaled + column.at(0, j));
          }
        r.check(expected);
      });
}

TEST_CASE("a row kernel reduces narrow formats in f32 and keeps a rounded value per row") {
  each_format_and_column_count(
      [](const formats::Format* f, std::int64_t n, const Case& c, const std::string& suffix) {
        Stored x(f, c.batch, n, c, 1), w(f, 1, n, c, 2), s(f, 1, 1, c, 3);
        Stored r(f, c.batch, n, c), kept(f, c.batch, 1, c), total(f, 1, 1, c);
        Floats workspace(static_cast<std::size_t>(c.batch), c.place);
        run(c.variant, "rows" + suffix,
            {x.pointer(), w.pointer(), s.pointer(), r.pointer(), kept.pointer(), total.pointer(),
             workspace.pointer()},
            c.batch);
        Values expected, sums, maxima;
        for (std::int64_t i = 0; i < c.batch; ++i) {
          sums.push_back(reference::row_sum(x.row(i)));
          maxima.push_back(reference::row_max(x.row(i)));
          const float mean = rounded(f, sums.back(), true);
          for (std::int64_t j = 0; j < n; ++j)
            expected.push_back(std::fma(x.at(i, j) - mean, w.at(0, j), maxima.back()));
        }
        r.check(expected);
        kept.check(sums, true);
        total.check({reference::row_sum(maxima) * s.at(0, 0)});
      });
}

TEST_CASE("a column kernel sums what it stores in a narrow format") {
  each_format_and_column_count(
      [](const formats::Format* f, std::int64_t n, const Case& c, const std::string& suffix) {
        Stored x(f, c.batch, n, c, 1), row(f, c.batch, 1, c, 2);
        Stored sums(nullptr, 1, n, c), stored(f, c.batch, n, c);
        run(c.variant, "columns" + suffix,
            {x.pointer(), row.pointer(), sums.pointer(), stored.pointer()}, c.batch);
        Values products, expected;
        for (std::int64_t i = 0; i < c.batch; ++i)
          for (std::int64_t j = 0; j < n; ++j) products.push_back(x.at(i, j) * row.at(i, 0));
        for (std::int64_t j = 0; j < n; ++j) {
          Values terms;
          for (std::int64_t i = 0; i < c.batch; ++i)
            terms.push_back(rounded(f, products[static_cast<std::size_t>(i * n + j)]));
          expected.push_back(reference::column_sum(terms));
        }
        stored.check(products);
        sums.check(expected);
      });
}

TEST_CASE("a flat kernel sums narrow formats and its finish rounds") {
  each_format_and_column_count(
      [](const formats::Format* f, std::int64_t n, const Case& c, const std::string& suffix) {
        Stored x(f, c.batch, n, c, 1), s(f, 1, 1, c, 2);
        Stored scaled(f, c.batch, n, c), sum(nullptr, 1, 1, c), product(f, 1, 1, c);
        Floats workspace(static_cast<std::size_t>((c.batch * n + 1023) / 1024), c.place);
        run(c.variant, "total" + suffix,
            {x.pointer(), s.pointer(), scaled.pointer(), sum.pointer(), product.pointer(),
             workspace.pointer()},
            c.batch);
        Values expected, squares;
        for (std::int64_t i = 0; i < c.batch; ++i)
          for (const float a : x.row(i)) {
            expected.push_back(a * s.at(0, 0));
            squares.push_back(a * a);
          }
        const float total = reference::row_sum(squares);
        scaled.check(expected, true);
        sum.check({total});
        product.check({total * s.at(0, 0)});
      });
}

TEST_CASE("a contraction of any two formats with a transposed rhs, its body in others") {
  constexpr std::int64_t k = 300;
  for (const std::int64_t n : {10, 33})
    each_pair({1, 5, 100}, [&](const formats::Format* f, const formats::Format* g, const Case& c,
                               const std::string& names) {
      Stored x(f, c.batch, k, c, 1), w(g, n, k, c, 2), bias(&formats::bf16(), 1, n, c, 3),
          skip(&formats::f16(), c.batch, n, c, 4), row(&formats::bf16(), c.batch, 1, c, 5);
      Stored y(&formats::f16(), c.batch, n, c), r(&formats::bf16(), c.batch, n, c);
      run(c.variant, "dense" + names + std::to_string(n) + "_300",
          {x.pointer(), w.pointer(), bias.pointer(), skip.pointer(), row.pointer(), y.pointer(),
           r.pointer()},
          c.batch);
      Values expected_y, expected;
      for (std::int64_t i = 0; i < c.batch; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          expected_y.push_back(reference::contraction(x.row(i), w.row(j)) + bias.at(0, j));
          const float scaled = expected_y.back() * row.at(i, 0);
          expected.push_back(scaled + skip.at(i, j));
        }
      y.check(expected_y);
      r.check(expected, true);
    });
}

TEST_CASE("a contraction of any two formats sums its widened lhs per row") {
  constexpr std::int64_t n = 33;
  for (const std::int64_t k : {7, 300})
    each_pair({1, 5, 100}, [&](const formats::Format* f, const formats::Format* g, const Case& c,
                               const std::string& names) {
      Stored x(f, c.batch, k, c, 1), w(g, k, n, c, 2);
      Stored r(nullptr, c.batch, n, c), sums(&formats::bf16(), c.batch, 1, c);
      run(c.variant, "plain" + names + "33_" + std::to_string(k),
          {x.pointer(), w.pointer(), r.pointer(), sums.pointer()}, c.batch);
      Values expected, expected_sums;
      for (std::int64_t i = 0; i < c.batch; ++i) {
        expected_sums.push_back(reference::column_sum(x.row(i)));
        for (std::int64_t j = 0; j < n; ++j)
          expected.push_back(reference::contraction(x.row(i), w.column(j)));
      }
      r.check(expected);
      sums.check(expected_sums);
    });
}

TEST_CASE("a weight gradient of any two formats, and the bias gradient from the widened lhs") {
  constexpr std::int64_t n = 33;
  each_pair({1, 5, 300}, [&](const formats::Format* f, const formats::Format* g, const Case& c,
                             const std::string& names) {
    Stored gradient(f, c.batch, 50, c, 1), x(g, c.batch, n, c, 2);
    Stored r(nullptr, 50, n, c), sums(nullptr, 50, 1, c);
    run(c.variant, "weight_gradient" + names + "33",
        {gradient.pointer(), x.pointer(), r.pointer(), sums.pointer()}, c.batch);
    Values expected, expected_sums;
    for (std::int64_t i = 0; i < 50; ++i) {
      expected_sums.push_back(reference::column_sum(gradient.column(i)));
      for (std::int64_t j = 0; j < n; ++j)
        expected.push_back(reference::contraction(gradient.column(i), x.column(j)));
    }
    r.check(expected);
    sums.check(expected_sums);
  });
}

TEST_CASE("a contraction of any two formats with both sides transposed and a tile of odd size") {
  constexpr std::int64_t n = 33, k = 300;
  each_pair({1}, [&](const formats::Format* f, const formats::Format* g, const Case& c,
                     const std::string& names) {
    Stored a(f, k, 50, c, 1), b(g, n, k, c, 2);
    Stored r(nullptr, 50, n, c);
    run(c.variant, "twice_transposed" + names + "33_300", {a.pointer(), b.pointer(), r.pointer()},
        c.batch);
    Values expected;
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float sum = reference::contraction(a.column(i), b.row(j));
        expected.push_back(sum + reference::column_sum(a.column(i)));
      }
    r.check(expected);
  });
}
