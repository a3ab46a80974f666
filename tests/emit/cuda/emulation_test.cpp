// SPDX-License-Identifier: Apache-2.0
// Kernel texts against the specification, to the bit: the text that a GPU would run, on the host.
#include "emulation.hpp"

#include "halftone/kernels/reduce.cuh"
#include "reference.hpp"

using namespace emulation;
using reference::Values;

extern "C" {
void halftone_scale(const float*, const float*, float*, long long);
void halftone_scalars(const float*, float*, int*, long long);
void halftone_join(const float*, const float*, const float*, const float*, float*, long long);
void halftone_slice(const float*, float*, long long);
void halftone_ones(float*, long long);
void halftone_norm(const float*, const float*, const float*, float*, float*, float*, long long);
void halftone_wide(const float*, const float*, float*, float*, long long);
void halftone_long_rows(const float*, float*, float*, long long);
void halftone_loss(const float*, const int*, const float*, float*, float*, long long);
void halftone_column_sums(const float*, const float*, float*, float*, float*, long long);
void halftone_segments(const int*, const float*, float*, long long);
void halftone_total(const float*, const float*, float*, float*, float*, long long);
void halftone_flat_rows(const float*, const float*, float*, float*, float*, long long);
void halftone_flat_columns(const float*, const float*, float*, float*, long long);
void halftone_dense(const float*, const float*, const float*, const float*, float*, long long);
void halftone_plain(const float*, const float*, float*, long long);
void halftone_weight_gradient(const float*, const float*, float*, float*, long long);
void halftone_twice_transposed(const float*, const float*, float*, long long);
void halftone_large_tile(const float*, const float*, float*, long long);
}

namespace {

Buffer<float>& filled(Buffer<float>& buffer, unsigned int seed) {
  fill(buffer, seed);
  return buffer;
}

/// Element (i, j) of [.., columns], or of its transpose.
Values line(const Buffer<float>& matrix, std::size_t i, std::size_t columns) {
  const Values all = matrix.values();
  return Values(all.begin() + i * columns, all.begin() + (i + 1) * columns);
}
Values file(const Buffer<float>& matrix, std::size_t j, std::size_t columns) {
  Values result;
  const Values all = matrix.values();
  for (std::size_t i = j; i < all.size(); i += columns) result.push_back(all[i]);
  return result;
}

}  // namespace

TEST_CASE("pointwise kernels store into fresh memory or in their operand's place") {
  each_order({1, 4, 211}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 5), s(1), y(batch * 5);
    filled(x, 1)[0] = INFINITY;
    s[0] = 1.7f;
    Values expected;
    for (float a : x.values()) expected.push_back(std::fma(a, 1.7f, 0.1f));
    run("scale", halftone_scale, reversed, batch, x.get(), s.get(), y.get());
    check_equal(y.values(), expected);
    run("scale", halftone_scale, reversed, batch, x.get(), s.get(), x.get());
    check_equal(x.values(), expected);
  });
}

TEST_CASE("every scalar operation means in CUDA what it means in the region") {
  const std::size_t batch = 9;
  Buffer<float> x(batch * 7), g(batch * 7);
  Buffer<int> codes(batch * 7);
  filled(x, 2)[1] = NAN;
  x[2] = -INFINITY;
  x[3] = 1e-42f;
  Values expected;
  std::vector<int> expected_codes;
  for (std::size_t e = 0; e < x.size(); ++e) {
    const float a = x[e];
    const bool ordered = !std::isnan(a), small = !(a >= 0.1f);
    const float product = (-(std::sqrt(std::fabs(a)) / 0.1f) - -0.0f) * a;
    const float f =
        ordered ? (product + 1.401298464324817e-45f) + static_cast<float>(batch * 7) : NAN;
    const std::uint32_t code = std::bit_cast<std::uint32_t>(a);
    const std::uint32_t right = code >> 5 | (code >> 31 ? 0xf8000000u : 0u);  // with the sign
    const std::uint32_t plus = ((code << 5) ^ right) * (code >> 5) - 0x80000000u + code;
    const auto narrow = static_cast<std::uint32_t>((e * 6364136223846793005ull) >> 33);
    const std::uint32_t chosen = code < 0x80000000u ? narrow : plus & (code >> 5);
    const bool odd = (small || ordered) != small, lesser = static_cast<int>(code) < 5;
    expected_codes.push_back(static_cast<int>(lesser && odd ? plus : chosen));
    expected.push_back(f + static_cast<float>(static_cast<int>(narrow)));
  }
  run("scalars", halftone_scalars, false, batch, x.get(), g.get(), codes.get());
  check_equal(g.values(), expected);
  check_equal(codes.values(), expected_codes);
}

TEST_CASE("windows read zero outside of their tensor, columns and rows repeat") {
  each_order({1, 130}, [](std::size_t batch, bool reversed) {
    Buffer<float> a(batch * 4), b(batch * 6), c(10), d(batch), y(batch * 10), part(batch * 4);
    filled(a, 3), filled(b, 4), filled(c, 5), filled(d, 6);
    Values expected, expected_part;
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < 10; ++j)
        expected.push_back((j < 4 ? a[i * 4 + j] : b[i * 6 + j - 4]) * d[i] + c[j]);
    run("join", halftone_join, reversed, batch, a.get(), b.get(), c.get(), d.get(), y.get());
    check_equal(y.values(), expected);
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < 4; ++j) expected_part.push_back(y[i * 10 + j + 3]);
    run("slice", halftone_slice, reversed, batch, y.get(), part.get());
    check_equal(part.values(), expected_part);
  });
  Buffer<float> one(1);
  run("ones", halftone_ones, false, 3, one.get());
  CHECK(one[0] == 1.0f);
}

TEST_CASE("a row kernel reduces in stages by N2 and stores one value per row") {
  each_order({1, 37}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 35), w(35), b(35), y(batch * 35), mean(batch), rstd(batch);
    filled(x, 7), filled(w, 8), filled(b, 9);
    Values expected, means, rstds;
    for (std::size_t i = 0; i < batch; ++i) {
      Values row = line(x, i, 35), squares;
      means.push_back(reference::row_sum(row) / 35.0f);
      for (float& v : row) v -= means.back(), squares.push_back(v * v);
      rstds.push_back(1.0f / std::sqrt(reference::row_sum(squares) / 35.0f + 1.0e-5f));
      for (std::size_t j = 0; j < 35; ++j)
        expected.push_back(std::fma(row[j] * rstds.back(), w[j], b[j]));
    }
    run("norm", halftone_norm, reversed, batch, x.get(), w.get(), b.get(), y.get(), mean.get(),
        rstd.get());
    check_equal(y.values(), expected);
    check_equal(mean.values(), means);
    check_equal(rstd.values(), rstds);
  });
}

TEST_CASE(
    "rows that do not fit into registers are loaded again, and a maximum of zeros keeps the sign "
    "that N5 gives it") {
  each_order({1, 19}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 700), z(batch * 700), y(batch * 700), maxima(batch);
    filled(x, 10), filled(z, 11);
    for (std::size_t e = 0; e < batch / 2 * 700; ++e) x[e] = std::signbit(x[e]) ? -0.0f : 0.0f;
    x[batch * 700 - 333] = NAN;
    Values expected, expected_maxima;
    for (std::size_t i = 0; i < batch; ++i) {
      const Values a = line(x, i, 700);
      Values b = line(z, i, 700), products;
      b.insert(b.begin(), 4, 0.0f);  // the window starts four columns before the tensor
      for (std::size_t j = 0; j < 700; ++j) products.push_back(a[j] * b[j]);
      expected_maxima.push_back(reference::row_max(a));
      const float m = reference::row_sum(products) + expected_maxima.back();
      for (std::size_t j = 0; j < 700; ++j)
        expected.push_back(a[j] == expected_maxima.back() ? expected_maxima.back() : m + b[j]);
    }
    run("wide", halftone_wide, reversed, batch, x.get(), z.get(), y.get(), maxima.get());
    check_equal(y.values(), expected);
    check_equal(maxima.values(), expected_maxima);
  });
}

TEST_CASE("long rows are trees over chunks, and NaN reaches their results") {
  each_order({1, 3}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 2500), y(batch * 2500), second(batch);
    filled(x, 12);
    if (batch > 1) x[2500 + 1111] = NAN;
    Values expected, expected_second;
    for (std::size_t i = 0; i < batch; ++i) {
      Values row = line(x, i, 2500);
      const float max = reference::row_max(row), sum = reference::row_sum(row);
      for (float& v : row) v = (v - max) * sum;
      expected_second.push_back(reference::row_sum(row));
      for (float v : row) expected.push_back(v + expected_second.back());
    }
    run("long_rows", halftone_long_rows, reversed, batch, x.get(), y.get(), second.get());
    check_equal(y.values(), expected);
    check_equal(second.values(), expected_second);
  });
}

TEST_CASE("one term per row is summed by N4, run after run") {
  each_order({1, 37, 2100}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 10), s(1), loss(1), workspace(batch);
    Buffer<int> label(batch);
    filled(x, 13);
    s[0] = 0.7f;
    Values terms;
    for (std::size_t i = 0; i < batch; ++i) {
      label[i] = static_cast<int>(i * 7 % 11);  // 10 names no column
      const Values row = line(x, i, 10);
      Values only(10, 0.0f);
      if (label[i] < 10) only[label[i]] = row[label[i]];
      terms.push_back(reference::row_max(row) - reference::row_sum(only));
    }
    const float expected = reference::row_sum(terms) / static_cast<float>(batch) * 0.7f;
    for (int repeat = 0; repeat < 2; ++repeat) {
      loss[0] = NAN;
      run("loss", halftone_loss, reversed, batch, x.get(), label.get(), s.get(), loss.get(),
          workspace.get());
      check_equal(loss.values(), {expected});
    }
  });
}

TEST_CASE("column sums follow N3 and full results are stored beside them") {
  each_order({1, 128, 129, 2300}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 37), r(batch), products(37), sums(37), full(batch * 37);
    filled(x, 14), filled(r, 15);
    Values expected_full, expected_products, expected_sums;
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < 37; ++j) expected_full.push_back(x[i * 37 + j] * r[i]);
    run("column_sums", halftone_column_sums, reversed, batch, x.get(), r.get(), products.get(),
        sums.get(), full.get());
    check_equal(full.values(), expected_full);
    for (std::size_t j = 0; j < 37; ++j) {
      expected_products.push_back(reference::column_sum(file(full, j, 37)));
      expected_sums.push_back(reference::column_sum(file(x, j, 37)));
    }
    check_equal(products.values(), expected_products);
    check_equal(sums.values(), expected_sums);
  });
}

TEST_CASE("a segment is one chain over the rows that name it, in their order") {
  each_order({1, 255, 256, 1500}, [](std::size_t batch, bool reversed) {
    Buffer<int> rows(batch);
    Buffer<float> x(batch * 37), sums(70 * 37);
    filled(x, 30)[0] = -0.0f;
    // Both ends, some outside, and one that every other row names.
    constexpr int kFar[] = {-1, 70, 95, std::numeric_limits<int>::min(), 2147483647};
    for (std::size_t i = 0; i < batch; ++i)
      rows[i] = static_cast<int>(i % 2 == 1 ? 69 : i % 7 == 0 ? kFar[i / 7 % 5] : i * 5 % 61);
    Values expected(70 * 37, 0.0f);
    for (std::size_t i = 0; i < batch; ++i) {
      for (std::size_t j = 0; j < 37; ++j) {
        const float a = x[i * 37 + j];
        const auto at = static_cast<std::size_t>(rows[i]) * 37 + j;
        if (rows[i] >= 0 && rows[i] < 70) expected[at] = expected[at] + a;
      }
    }
    run("segments", halftone_segments, reversed, batch, rows.get(), x.get(), sums.get());
    check_equal(sums.values(), expected);
  });
}

TEST_CASE("flat sums follow N4 over elements in row-major order") {
  each_order({1, 146, 147, 5003}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 7), s(1), sum(1), scaled(1), workspace(ceil_div(batch * 7, 1024));
    filled(x, 16);
    s[0] = 0.3f;
    Values squares, products;
    for (float v : x.values()) squares.push_back(v * v);
    run("total", halftone_total, reversed, batch, x.get(), s.get(), sum.get(), scaled.get(),
        workspace.get());
    check_equal(sum.values(), {reference::row_sum(squares)});
    check_equal(scaled.values(), {reference::row_sum(squares) * 0.3f});

    Buffer<float> r(batch), full(batch * 7);
    filled(r, 17);
    for (std::size_t e = 0; e < batch * 7; ++e) products.push_back(x[e] * r[e / 7]);
    run("flat_rows", halftone_flat_rows, reversed, batch, x.get(), r.get(), full.get(), sum.get(),
        workspace.get());
    check_equal(full.values(), products);
    check_equal(sum.values(), {reference::row_sum(products)});

    Buffer<float> z(batch * 8), c(8), long_workspace(ceil_div(batch * 8, 1024));
    filled(z, 18), filled(c, 19);
    products.clear();
    for (std::size_t e = 0; e < batch * 8; ++e) products.push_back(z[e] * c[e % 8]);
    run("flat_columns", halftone_flat_columns, reversed, batch, z.get(), c.get(), sum.get(),
        long_workspace.get());
    check_equal(sum.values(), {reference::row_sum(products)});
  });
}

TEST_CASE("a block's tree has as many levels as its values need") {
  for (std::size_t count : {1u, 1025u, (1u << 20) + 4099u}) {
    CAPTURE(count);
    Buffer<float> x(count);
    filled(x, 20);
    float sum = NAN;
    emulated::launch(1, 64, false, [&] {
      const float result =
          halftone::kernels::block::tree_sum<64>(x.get(), static_cast<long long>(count));
      if (threadIdx.x == 0) sum = result;
    });
    check_equal<float>({sum}, {reference::row_sum(x.values())});
  }
}

TEST_CASE("contractions are chains with k ascending under every transposition and tile") {
  each_order({1, 70}, [](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 29), w(37 * 29), v(29 * 37), b(37), r(batch), y(batch * 37),
        z(batch * 37);
    filled(x, 21), filled(w, 22), filled(v, 23), filled(b, 24), filled(r, 25);
    Values dense, plain;
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < 37; ++j) {
        const float sum = reference::contraction(line(x, i, 29), line(w, j, 29)) + b[j];
        dense.push_back((sum > 0 ? sum : 0.0f) * r[i]);
        plain.push_back(reference::contraction(line(x, i, 29), file(v, j, 37)));
      }
    run("dense", halftone_dense, reversed, batch, x.get(), w.get(), b.get(), r.get(), y.get());
    check_equal(y.values(), dense);
    run("plain", halftone_plain, reversed, batch, x.get(), v.get(), z.get());
    check_equal(z.values(), plain);
  });
  Buffer<float> a(37 * 40), b(10 * 37), y(40 * 10);
  filled(a, 26), filled(b, 27);
  Values twice;
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      twice.push_back(reference::contraction(file(a, i, 40), line(b, j, 37)) +
                      reference::column_sum(file(a, i, 40)));
  run("twice_transposed", halftone_twice_transposed, false, 1, a.get(), b.get(), y.get());
  check_equal(y.values(), twice);
}

TEST_CASE("a weight's gradient brings the sum of lhs by N3 along") {
  each_order({1, 128, 300}, [](std::size_t batch, bool reversed) {
    Buffer<float> g(batch * 37), x(batch * 29), weight(37 * 29), bias(37);
    filled(g, 28), filled(x, 29);
    Values expected, expected_bias;
    for (std::size_t i = 0; i < 37; ++i) {
      expected_bias.push_back(reference::column_sum(file(g, i, 37)));
      for (std::size_t j = 0; j < 29; ++j)
        expected.push_back(reference::contraction(file(g, i, 37), file(x, j, 29)));
    }
    run("weight_gradient", halftone_weight_gradient, reversed, batch, g.get(), x.get(),
        weight.get(), bias.get());
    check_equal(weight.values(), expected);
    check_equal(bias.values(), expected_bias);
  });
}

TEST_CASE("large tiles cover results that fill them only in part") {
  Buffer<float> x(130 * 37), w(132 * 37), y(130 * 132);
  filled(x, 30), filled(w, 31);
  Values expected;
  for (std::size_t i = 0; i < 130; ++i)
    for (std::size_t j = 0; j < 132; ++j)
      expected.push_back(reference::contraction(line(x, i, 37), line(w, j, 37)));
  run("large_tile", halftone_large_tile, false, 130, x.get(), w.get(), y.get());
  check_equal(y.values(), expected);
}

TEST_CASE("masked products do not turn a sum of minus zero into zero") {
  Buffer<float> x(29), w(29 * 37), y(37);  // 29 products leave three of a tile's depth masked
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-30f;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = -1e-30f;
  run("plain", halftone_plain, false, 1, x.get(), w.get(), y.get());
  check_equal(y.values(), Values(37, -0.0f));
}
