// SPDX-License-Identifier: Apache-2.0
// The code of every skeleton of kernels.mlir.in against the specification, to the bit.
#include "native.hpp"
#include "reference.hpp"

using namespace native;
using reference::Values;

namespace {

const std::vector<std::int64_t> kColumns{1, 7, 10, 16, 33, 64, 1029, 3000};
const std::vector<std::int64_t> kBatches{1, 5, 48, 100};

/// Random values of [rows, columns].
struct Matrix : Floats {
  Matrix(std::int64_t rows, std::int64_t columns, const Case& c, unsigned seed)
      : Floats(static_cast<std::size_t>(rows * columns), c.place), rows(rows), columns(columns) {
    fill(*this, static_cast<std::size_t>(rows * columns), seed, c.specials);
  }
  float at(std::int64_t i, std::int64_t j) {
    return (*this)[static_cast<std::size_t>(i * columns + j)];
  }
  Values row(std::int64_t i) {
    Values result;
    for (std::int64_t j = 0; j < columns; ++j) result.push_back(at(i, j));
    return result;
  }
  Values column(std::int64_t j) {
    Values result;
    for (std::int64_t i = 0; i < rows; ++i) result.push_back(at(i, j));
    return result;
  }
  std::int64_t rows, columns;
};

struct Result : Floats {
  Result(std::int64_t count, const Case& c) : Floats(static_cast<std::size_t>(count), c.place) {}
};

/// Every fourth row becomes zeros of both signs, whose maximum depends on the order of comparisons.
void fill_with_zeros(Matrix& x) {
  for (std::int64_t i = 1; i < x.rows; i += 4)
    for (std::int64_t j = 0; j < x.columns; ++j)
      x[static_cast<std::size_t>(i * x.columns + j)] = j * 7 % 11 < 5 ? -0.0f : 0.0f;
}

/// Labels, one in eight beyond the columns.
void fill_labels(Integers& labels, std::int64_t count, std::int64_t columns) {
  for (std::int64_t i = 0; i < count; ++i)
    labels[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(i % 8 == 7 ? columns + 3 : (i * 5) % columns);
}

std::int32_t code_of(float value) {
  std::int32_t code;
  std::memcpy(&code, &value, sizeof(code));
  return code;
}

template <class Test>
void each_column_count(const std::vector<std::int64_t>& counts, Test test) {
  for (const std::int64_t n : counts) {
    CAPTURE(n);
    each_case(kBatches, [&](const Case& c) { test(n, c); });
  }
}

}  // namespace

TEST_CASE("a flattened pointwise kernel rounds every operation by itself") {
  each_column_count(kColumns, [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1), s(1, 1, c, 2);
    Result r(c.batch * n, c);
    Integers hashes(static_cast<std::size_t>(c.batch * n), c.place);
    run(c.variant, "scalars_" + std::to_string(n),
        {x.pointer(), s.pointer(), r.pointer(), hashes.pointer()}, c.batch);
    Values expected;
    std::vector<std::int32_t> expected_hashes;
    const float b = s.at(0, 0), count = static_cast<float>(c.batch * n);
    for (std::int64_t e = 0; e < c.batch * n; ++e) {
      const float a = x[static_cast<std::size_t>(e)];
      const float quotient = std::sqrt(std::fabs(a)) / (b / count);
      const float product = a * b, separate = product + 0.1f;
      const float difference = separate - std::fma(a, b, 0.1f);
      expected.push_back(a < 0.1f ? difference + -quotient : separate);
      const auto hash = static_cast<std::uint64_t>(e) * 6364136223846793005ull;
      expected_hashes.push_back(static_cast<std::int32_t>(
          static_cast<std::uint32_t>(hash >> 33) ^ (static_cast<std::uint32_t>(code_of(a)) << 13)));
    }
    check(r, expected);
    if (!c.specials) check(hashes, expected_hashes);  // a NaN's code is its own
  });
}

TEST_CASE("a pointwise kernel reads windows, columns and rows") {
  each_column_count(kColumns, [](std::int64_t n, const Case& c) {
    Matrix narrow(c.batch, 5, c, 1), wide(c.batch, 3003, c, 2), column(1, n, c, 3),
        row(c.batch, 1, c, 4);
    Integers labels(static_cast<std::size_t>(c.batch), c.place);
    fill_labels(labels, c.batch, n);
    Result r(c.batch * n, c);
    run(c.variant, "accesses_" + std::to_string(n),
        {narrow.pointer(), narrow.pointer(), wide.pointer(), column.pointer(), row.pointer(),
         labels.pointer(), r.pointer()},
        c.batch);
    Values expected;
    for (std::int64_t i = 0; i < c.batch; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float a = j >= 2 && j < 7 ? narrow.at(i, j - 2) : 0.0f, d = row.at(i, 0);
        const float part = labels[static_cast<std::size_t>(i)] == j ? d : wide.at(i, j + 3);
        const float right = j + 1 < 5 ? narrow.at(i, j + 1) : 0.0f;
        const float scaled = ((a - right) + part) * d;
        expected.push_back(scaled + column.at(0, j));
      }
    check(r, expected);
  });
}

TEST_CASE("a row kernel reduces by the row tree N2, one reduction from another") {
  each_column_count(kColumns, [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1), w(1, n, c, 2);
    if (c.specials) fill_with_zeros(x);
    Result r(c.batch * n, c), roots(c.batch, c), maxima(c.batch, c);
    run(c.variant, "norm_" + std::to_string(n),
        {x.pointer(), w.pointer(), r.pointer(), roots.pointer(), maxima.pointer()}, c.batch);
    Values expected, expected_roots, expected_maxima;
    for (std::int64_t i = 0; i < c.batch; ++i) {
      const float mean = reference::row_sum(x.row(i)) / static_cast<float>(n),
                  max = reference::row_max(x.row(i));
      Values d, squares;
      for (const float a : x.row(i)) {
        d.push_back(a - mean);
        squares.push_back(d.back() * d.back());
      }
      const float root = std::sqrt(reference::row_sum(squares));
      expected_roots.push_back(root);
      expected_maxima.push_back(max);
      for (std::int64_t j = 0; j < n; ++j)
        expected.push_back(std::fma(d[static_cast<std::size_t>(j)] / root, w.at(0, j), max));
    }
    check(r, expected);
    check(roots, expected_roots);
    check(maxima, expected_maxima);
  });
}

TEST_CASE("a row kernel's finish sums one value per row by the flat tree N4") {
  const auto test = [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1), s(1, 1, c, 2);
    Integers labels(static_cast<std::size_t>(c.batch), c.place);
    fill_labels(labels, c.batch, n);
    Result r(1, c), workspace(c.batch, c);
    run(c.variant, "loss_" + std::to_string(n),
        {x.pointer(), labels.pointer(), s.pointer(), r.pointer(), workspace.pointer()}, c.batch);
    Values terms;
    for (std::int64_t i = 0; i < c.batch; ++i) {
      Values only;
      for (std::int64_t j = 0; j < n; ++j)
        only.push_back(labels[static_cast<std::size_t>(i)] == j ? x.at(i, j) : 0.0f);
      terms.push_back(reference::row_max(x.row(i)) - reference::row_sum(only));
    }
    const float mean = reference::row_sum(terms) / static_cast<float>(c.batch);
    check(r, Values{mean * s.at(0, 0)});
  };
  each_column_count(kColumns, test);
  each_case({1024, 1025, 2500}, [&](const Case& c) { test(10, c); });
}

TEST_CASE("a column kernel sums over rows by the column tree N3") {
  const auto test = [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1), row(c.batch, 1, c, 2);
    Result products(n, c), stored(c.batch * n, c), sums(n, c);
    run(c.variant, "columns_" + std::to_string(n),
        {x.pointer(), row.pointer(), products.pointer(), stored.pointer(), sums.pointer()},
        c.batch);
    Values expected_products, expected_stored, expected_sums;
    for (std::int64_t i = 0; i < c.batch; ++i)
      for (std::int64_t j = 0; j < n; ++j) expected_stored.push_back(x.at(i, j) * row.at(i, 0));
    for (std::int64_t j = 0; j < n; ++j) {
      Values terms;
      for (std::int64_t i = 0; i < c.batch; ++i)
        terms.push_back(expected_stored[static_cast<std::size_t>(i * n + j)]);
      expected_products.push_back(reference::column_sum(terms));
      expected_sums.push_back(reference::column_sum(x.column(j)));
    }
    check(products, expected_products);
    check(stored, expected_stored);
    check(sums, expected_sums);
  };
  each_column_count(kColumns, test);
  each_case({128, 129, 700}, [&](const Case& c) { test(33, c); });
}

TEST_CASE("a column kernel of a batch sums the rows of each of its elements") {
  constexpr std::int64_t kRows = 130;
  const auto test = [](std::int64_t n, const Case& c) {
    Matrix x(c.batch * kRows, n, c, 1);
    Result sums(c.batch * n, c), stored(c.batch * kRows * n, c);
    run(c.variant, "batched_columns_" + std::to_string(n),
        {x.pointer(), sums.pointer(), stored.pointer()}, c.batch);
    Values expected_stored, expected_sums;
    for (std::int64_t i = 0; i < c.batch * kRows; ++i)
      for (std::int64_t j = 0; j < n; ++j) expected_stored.push_back(x.at(i, j) * x.at(i, j));
    for (std::int64_t element = 0; element < c.batch; ++element)
      for (std::int64_t j = 0; j < n; ++j) {
        Values terms;
        for (std::int64_t i = element * kRows; i < (element + 1) * kRows; ++i)
          terms.push_back(expected_stored[static_cast<std::size_t>(i * n + j)]);
        expected_sums.push_back(reference::column_sum(terms));
      }
    check(stored, expected_stored);
    check(sums, expected_sums);
  };
  for (const std::int64_t n : {1, 33, 300}) each_case({1, 5}, [&](const Case& c) { test(n, c); });
}

TEST_CASE("a segment kernel adds rows to those that they name, in their order") {
  const auto test = [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1);
    Integers rows(static_cast<std::size_t>(c.batch), c.place);
    constexpr std::int32_t kRows[] = {18, 0, 18, 5, -1, 19, 18, 7, 2147483647, 8};
    for (std::int64_t i = 0; i < c.batch; ++i)
      rows[static_cast<std::size_t>(i)] = kRows[i % 10] - (i == 4 ? 2147483647 : 0);
    Result sums(19 * n, c);
    run(c.variant, "segments_" + std::to_string(n), {rows.pointer(), x.pointer(), sums.pointer()},
        c.batch);
    Values expected(static_cast<std::size_t>(19 * n), 0.0f);
    for (std::int64_t i = 0; i < c.batch; ++i) {
      const std::int32_t row = rows[static_cast<std::size_t>(i)];
      if (row < 0 || row >= 19 || row == 5) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        float& sum = expected[static_cast<std::size_t>(row * n + j)];
        sum = sum + (x.at(i, j) + x.at(i, j));
      }
    }
    check(sums, expected);
  };
  each_column_count(kColumns, test);
}

TEST_CASE("a flat kernel sums all elements by the flat tree N4") {
  const auto test = [](std::int64_t n, const Case& c) {
    Matrix x(c.batch, n, c, 1), s(1, 1, c, 2);
    const std::int64_t chunks = (c.batch * n + 1023) / 1024;
    Result scaled(c.batch * n, c), sum(1, c), product(1, c), workspace(chunks, c);
    run(c.variant, "total_" + std::to_string(n),
        {x.pointer(), s.pointer(), scaled.pointer(), sum.pointer(), product.pointer(),
         workspace.pointer()},
        c.batch);
    Values expected, squares;
    for (const float a : x.values()) {
      expected.push_back(a * s.at(0, 0));
      squares.push_back(a * a);
    }
    const float total = reference::row_sum(squares);
    check(scaled, expected);
    check(sum, Values{total});
    check(product, Values{total * s.at(0, 0)});
  };
  each_column_count(kColumns, test);
  each_case({399}, [&](const Case& c) { test(3000, c); });  // more than 1024 chunks
}

TEST_CASE("a contraction with a transposed rhs is one chain N1 per result, then its body") {
  for (const std::int64_t k : {1, 64, 300}) {
    CAPTURE(k);
    each_column_count({1, 10, 16, 20, 33, 64, 144}, [&](std::int64_t n, const Case& c) {
      Matrix x(c.batch, k, c, 1), w(n, k, c, 2), bias(1, n, c, 3), skip(c.batch, n, c, 4),
          row(c.batch, 1, c, 5);
      Result plain(c.batch * n, c), r(c.batch * n, c);
      run(c.variant, "dense_" + std::to_string(n) + "_" + std::to_string(k),
          {x.pointer(), w.pointer(), bias.pointer(), skip.pointer(), row.pointer(), plain.pointer(),
           r.pointer()},
          c.batch);
      Values expected_plain, expected;
      for (std::int64_t i = 0; i < c.batch; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const float y = reference::contraction(x.row(i), w.row(j)) + bias.at(0, j);
          const float scaled = (y > 0.0f ? y : 0.0f) * row.at(i, 0);
          expected_plain.push_back(y);
          expected.push_back(scaled + skip.at(i, j));
        }
      check(plain, expected_plain);
      check(r, expected);
    });
  }
}

TEST_CASE("a contraction sums its lhs per row by the column tree N3") {
  for (const std::int64_t k : {1, 64, 300}) {
    CAPTURE(k);
    each_column_count({1, 10, 16, 20, 33, 64, 144}, [&](std::int64_t n, const Case& c) {
      Matrix x(c.batch, k, c, 1), w(k, n, c, 2);
      Result r(c.batch * n, c), sums(c.batch, c);
      run(c.variant, "plain_" + std::to_string(n) + "_" + std::to_string(k),
          {x.pointer(), w.pointer(), r.pointer(), sums.pointer()}, c.batch);
      Values expected, expected_sums;
      for (std::int64_t i = 0; i < c.batch; ++i) {
        expected_sums.push_back(reference::column_sum(x.row(i)));
        for (std::int64_t j = 0; j < n; ++j)
          expected.push_back(reference::contraction(x.row(i), w.column(j)));
      }
      check(r, expected);
      check(sums, expected_sums);
    });
  }
}

TEST_CASE("a contraction's finish takes the largest magnitude of its elements") {
  for (const std::int64_t k : {1, 64, 300}) {
    CAPTURE(k);
    each_column_count({1, 10, 16, 20, 33, 64, 144}, [&](std::int64_t n, const Case& c) {
      Matrix x(c.batch, k, c, 1), w(n, k, c, 2), s(1, 1, c, 3);
      if (!c.specials) s[0] = -3.0f;  // the largest of all is a sum that is negative
      Result r(c.batch * n, c), largest(1, c), scaled(1, c), workspace(1, c);
      workspace[0] = 0.0f;  // as the runtime leaves it
      run(c.variant, "maximum_" + std::to_string(n) + "_" + std::to_string(k),
          {x.pointer(), w.pointer(), s.pointer(), r.pointer(), largest.pointer(), scaled.pointer(),
           workspace.pointer()},
          c.batch);
      Values expected;
      float most = 0.0f;
      for (std::int64_t i = 0; i < c.batch; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const float y = reference::contraction(x.row(i), w.row(j)) + s.at(0, 0);
          expected.push_back(y);
          if (std::isnan(y) || std::fabs(y) > most) most = std::fabs(y);  // and a NaN stays
        }
      check(r, expected);
      check(largest, Values{most});
      check(scaled, Values{most * s.at(0, 0)});
    });
  }
}

TEST_CASE("a weight gradient contracts over the batch and brings the bias gradient") {
  for (const std::int64_t n : {1, 10, 16, 20, 33, 64, 144, 1029})
    each_case({1, 5, 48, 100, 256, 300, 700}, [&](const Case& c) {
      CAPTURE(n);
      Matrix g(c.batch, 50, c, 1), x(c.batch, n, c, 2);
      Result r(50 * n, c), sums(50, c);
      run(c.variant, "weight_gradient_" + std::to_string(n),
          {g.pointer(), x.pointer(), r.pointer(), sums.pointer()}, c.batch);
      Values expected, expected_sums;
      for (std::int64_t i = 0; i < 50; ++i) {
        expected_sums.push_back(reference::column_sum(g.column(i)));
        for (std::int64_t j = 0; j < n; ++j)
          expected.push_back(reference::contraction(g.column(i), x.column(j)));
      }
      check(r, expected);
      check(sums, expected_sums);
    });
}

TEST_CASE("a contraction with both sides transposed and a tile of odd size") {
  for (const std::int64_t k : {1, 64, 300})
    for (const std::int64_t n : {1, 10, 20, 33, 100})
      each_case({1}, [&](const Case& c) {
        CAPTURE(k);
        CAPTURE(n);
        Matrix a(k, 50, c, 1), b(n, k, c, 2);
        Result r(50 * n, c);
        run(c.variant, "twice_transposed_" + std::to_string(n) + "_" + std::to_string(k),
            {a.pointer(), b.pointer(), r.pointer()}, c.batch);
        Values expected;
        for (std::int64_t i = 0; i < 50; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const float sum = reference::contraction(a.column(i), b.row(j));
            expected.push_back(sum + reference::column_sum(a.column(i)));
          }
        check(r, expected);
      });
}

TEST_CASE("the artifact's image carries what it was given") {
  const auto& image = halftone_artifact_emit_cpu;
  CHECK(std::string(image.magic, 8) == "HALFTONE");
  CHECK(image.version == halftone::manifest::kVersion);
  CHECK(image.variant_count == manifest().variants.size());
  CHECK(image.cpu_entry_count > manifest().kernels.size());
  const std::string texts(reinterpret_cast<const char*>(image.texts), image.text_bytes);
  CHECK(texts == "kernel text");
}
