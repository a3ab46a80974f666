// SPDX-License-Identifier: Apache-2.0
// Texts of kernels over f16, bf16 and tf32 against docs/spec/precision.md, to the bit.
#include "emulation.hpp"
#include "formats.hpp"
#include "halftone/kernels/convert.cuh"
#include "reference.hpp"

using namespace emulation;
using halftone::kernels::bf16;
using halftone::kernels::f16;
using reference::Values;

namespace emulation {
inline std::uint32_t bits(f16 value) { return value.code; }
inline std::uint32_t bits(bf16 value) { return value.code; }

}  // namespace emulation

extern "C" {
void halftone_casts(const float*, f16*, f16*, bf16*, bf16*, float*, float*, float*, long long);
void halftone_constants(f16*, bf16*, float*, f16*, float*, long long);
void halftone_narrow_join(const f16*, const bf16*, const bf16*, const f16*, const int*, f16*,
                          long long);
void halftone_narrow_norm(const f16*, const bf16*, f16*, float*, bf16*, long long);
void halftone_narrow_long_rows(const bf16*, bf16*, long long);
void halftone_narrow_loss(const bf16*, const int*, const bf16*, float*, f16*, float*, long long);
void halftone_narrow_columns(const f16*, const bf16*, float*, float*, long long);
void halftone_narrow_total(const f16*, float*, float*, long long);
void halftone_narrow_flat_rows(const f16*, const bf16*, bf16*, float*, float*, long long);
void halftone_narrow_dense(const f16*, const bf16*, const f16*, f16*, long long);
void halftone_narrow_plain(const float*, const f16*, float*, long long);
void halftone_narrow_gradient(const bf16*, const float*, float*, bf16*, long long);
void halftone_narrow_twice(const float*, const float*, float*, long long);
void halftone_narrow_large_tile(const f16*, const f16*, bf16*, long long);
}

namespace {

/// What a buffer of the format holds, as numbers and as stored bits.
std::uint32_t stored(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint32_t stored(f16 x) { return x.code; }
std::uint32_t stored(bf16 x) { return x.code; }
float wide(float x) { return x; }
float wide(f16 x) { return static_cast<float>(oracle::f16().read(x.code)); }
float wide(bf16 x) { return static_cast<float>(oracle::bf16().read(x.code)); }

template <class T>
Values wide(const Buffer<T>& buffer) {
  Values values;
  for (T element : buffer.values()) values.push_back(wide(element));
  return values;
}

/// Fills with numbers of several magnitudes, subnormals and zeros of both signs among them.
void fill_narrow(Buffer<f16>& buffer, unsigned int seed) {
  Buffer<float> floats(buffer.size());
  fill(floats, seed);
  for (std::size_t i = 0; i < buffer.size(); ++i)
    buffer[i].code = static_cast<unsigned short>(
        oracle::f16().round(i % 11 == 7 ? floats[i] * 0x1p-15f : floats[i]));
}
void fill_narrow(Buffer<bf16>& buffer, unsigned int seed) {
  Buffer<float> floats(buffer.size());
  fill(floats, seed);
  for (std::size_t i = 0; i < buffer.size(); ++i)
    buffer[i].code = static_cast<unsigned short>(oracle::bf16().round(floats[i]));
}
void fill_tf32(Buffer<float>& buffer, unsigned int seed) {
  fill(buffer, seed);
  for (std::size_t i = 0; i < buffer.size(); ++i)
    buffer[i] = std::bit_cast<float>(oracle::tf32().round(buffer[i]));
}

/// Compares a stored tensor with the f32 values that were to be rounded into it.
template <class T>
void check_rounded(const Buffer<T>& computed, const Values& exact, const oracle::Format& format,
                   bool toward_zero = false) {
  REQUIRE(computed.size() == exact.size());
  const std::vector<T> elements = computed.values();
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const std::uint32_t expected = format.round(exact[i], toward_zero);
    if (stored(elements[i]) == expected) continue;
    CAPTURE(i);
    CAPTURE(exact[i]);
    CHECK(stored(elements[i]) == expected);
    return;
  }
}

Values row_of(const Values& matrix, std::size_t i, std::size_t columns) {
  return Values(matrix.begin() + i * columns, matrix.begin() + (i + 1) * columns);
}
Values column_of(const Values& matrix, std::size_t j, std::size_t columns) {
  Values result;
  for (std::size_t i = j; i < matrix.size(); i += columns) result.push_back(matrix[i]);
  return result;
}

}  // namespace

TEST_CASE("casts round as the rule says and are read back exactly") {
  const std::vector<float> special = {NAN,      -INFINITY,      65519.996f, -65520.0f,
                                      0x1p-25f, 0x1.8p-24f,     3e38f,      1e-40f,
                                      -0.0f,    1.0f + 0x1p-11f};
  each_order({1, 8, 87}, [&](std::size_t batch, bool reversed) {
    Buffer<float> x(batch * 6), t(batch * 6), tz(batch * 6), sum(batch * 6);
    Buffer<f16> h(batch * 6), hz(batch * 6);
    Buffer<bf16> b(batch * 6), bz(batch * 6);
    fill(x, 1);
    for (std::size_t i = 0; i < std::min(special.size(), x.size()); ++i) x[i] = special[i];
    run("casts", halftone_casts, reversed, batch, x.get(), h.get(), hz.get(), b.get(), bz.get(),
        t.get(), tz.get(), sum.get());
    const Values exact = x.values();
    check_rounded(h, exact, oracle::f16());
    check_rounded(hz, exact, oracle::f16(), true);
    check_rounded(b, exact, oracle::bf16());
    check_rounded(bz, exact, oracle::bf16(), true);
    check_rounded(t, exact, oracle::tf32());
    check_rounded(tz, exact, oracle::tf32(), true);
    Values sums;
    for (float v : exact) {
      const auto back = [&](const oracle::Format& format) {
        return static_cast<float>(format.read(format.round(v)));
      };
      sums.push_back(back(oracle::f16()) + back(oracle::bf16()) + back(oracle::tf32()));
    }
    check_equal(sum.values(), sums);
  });
}

TEST_CASE("folded constants keep their codes, and a NaN is F3's") {
  Buffer<f16> h(1), hn(1);
  Buffer<bf16> b(1);
  Buffer<float> t(1), tn(1);
  run("constants", halftone_constants, false, 1, h.get(), b.get(), t.get(), hn.get(), tn.get());
  CHECK(h[0].code == oracle::f16().round(0.1f));
  CHECK(b[0].code == oracle::bf16().round(-INFINITY));
  CHECK(stored(t[0]) == oracle::tf32().round(0.1f));
  CHECK(hn[0].code == 0x7fff);
  CHECK(stored(tn[0]) == 0x7fffffffu);
}

TEST_CASE("narrow windows, columns and rows stand beside labels") {
  each_order({1, 130}, [](std::size_t batch, bool reversed) {
    Buffer<f16> a(batch * 4), d(batch), y(batch * 10);
    Buffer<bf16> b(batch * 6), c(10);
    Buffer<int> label(batch);
    fill_narrow(a, 2), fill_narrow(b, 3), fill_narrow(c, 4), fill_narrow(d, 5);
    Values exact;
    for (std::size_t i = 0; i < batch; ++i) {
      label[i] = static_cast<int>(i % 12);
      for (std::size_t j = 0; j < 10; ++j) {
        const float part = j < 4 ? wide(a[i * 4 + j]) : wide(b[i * 6 + j - 4]);
        const float value = part * wide(d[i]) + wide(c[j]);
        exact.push_back(static_cast<int>(j) == label[i] ? 0.0f : value);
      }
    }
    run("narrow_join", halftone_narrow_join, reversed, batch, a.get(), b.get(), c.get(), d.get(),
        label.get(), y.get());
    check_rounded(y, exact, oracle::f16());
  });
}

TEST_CASE("row kernels reduce widened elements in f32") {
  each_order({1, 37}, [](std::size_t batch, bool reversed) {
    Buffer<f16> x(batch * 36), y(batch * 36);
    Buffer<bf16> w(36), maxima(batch);
    Buffer<float> sums(batch);
    fill_narrow(x, 6), fill_narrow(w, 7);
    Values exact, exact_maxima, expected_sums;
    for (std::size_t i = 0; i < batch; ++i) {
      Values row = row_of(wide(x), i, 36);
      expected_sums.push_back(reference::row_sum(row));
      for (float& v : row) v -= expected_sums.back();
      exact_maxima.push_back(reference::row_max(row));
      for (std::size_t j = 0; j < 36; ++j) exact.push_back(row[j] * wide(w[j]));
    }
    run("narrow_norm", halftone_narrow_norm, reversed, batch, x.get(), w.get(), y.get(), sums.get(),
        maxima.get());
    check_rounded(y, exact, oracle::f16(), true);
    check_rounded(maxima, exact_maxima, oracle::bf16());
    check_equal(sums.values(), expected_sums);
  });
  each_order({1, 3}, [](std::size_t batch, bool reversed) {
    Buffer<bf16> x(batch * 2500), y(batch * 2500);
    fill_narrow(x, 8);
    Values exact;
    for (std::size_t i = 0; i < batch; ++i) {
      const Values row = row_of(wide(x), i, 2500);
      for (float v : row) exact.push_back(v - reference::row_sum(row));
    }
    run("narrow_long_rows", halftone_narrow_long_rows, reversed, batch, x.get(), y.get());
    check_rounded(y, exact, oracle::bf16());
  });
}

TEST_CASE("a finish reads narrow scalars and rounds its results") {
  each_order({1, 37}, [](std::size_t batch, bool reversed) {
    Buffer<bf16> x(batch * 10), s(1);
    Buffer<int> label(batch);
    Buffer<float> loss(1), workspace(batch);
    Buffer<f16> rounded(1);
    fill_narrow(x, 9), fill_narrow(s, 10);
    Values terms;
    for (std::size_t i = 0; i < batch; ++i) {
      label[i] = static_cast<int>(i * 7 % 10);
      Values only(10, 0.0f);
      only[label[i]] = wide(x[i * 10 + label[i]]);
      terms.push_back(reference::row_sum(only));
    }
    run("narrow_loss", halftone_narrow_loss, reversed, batch, x.get(), label.get(), s.get(),
        loss.get(), rounded.get(), workspace.get());
    const float expected = reference::row_sum(terms) * wide(s[0]);
    check_equal(loss.values(), {expected});
    check_rounded(rounded, {expected}, oracle::f16());
  });
}

TEST_CASE("column and flat sums add f32 terms of narrow elements") {
  each_order({1, 129, 300}, [](std::size_t batch, bool reversed) {
    Buffer<f16> x(batch * 37), z(batch * 7), q(batch * 8);
    Buffer<bf16> r(batch), full(batch * 7);
    Buffer<float> sums(37), products(batch * 37), sum(1), workspace(ceil_div(batch * 8, 1024));
    fill_narrow(x, 11), fill_narrow(z, 12), fill_narrow(q, 13), fill_narrow(r, 14);
    Values exact, expected;
    for (std::size_t e = 0; e < batch * 37; ++e) exact.push_back(wide(x[e]) * wide(r[e / 37]));
    for (std::size_t j = 0; j < 37; ++j)
      expected.push_back(reference::column_sum(column_of(exact, j, 37)));
    run("narrow_columns", halftone_narrow_columns, reversed, batch, x.get(), r.get(), sums.get(),
        products.get());
    check_equal(sums.values(), expected);
    check_rounded(products, exact, oracle::tf32());

    exact.clear(), expected.clear();
    for (std::size_t e = 0; e < batch * 7; ++e) {
      exact.push_back(wide(z[e]) * wide(r[e / 7]));
      expected.push_back(
          static_cast<float>(oracle::bf16().read(oracle::bf16().round(exact.back()))));
    }
    run("narrow_flat_rows", halftone_narrow_flat_rows, reversed, batch, z.get(), r.get(),
        full.get(), sum.get(), workspace.get());
    check_rounded(full, exact, oracle::bf16());
    check_equal(sum.values(), {reference::row_sum(expected)});

    Values squares;
    for (float v : wide(q)) squares.push_back(v * v);
    run("narrow_total", halftone_narrow_total, reversed, batch, q.get(), sum.get(),
        workspace.get());
    check_equal(sum.values(), {reference::row_sum(squares)});
  });
}

TEST_CASE("contractions of any two formats are chains over widened elements") {
  each_order({1, 70}, [](std::size_t batch, bool reversed) {
    Buffer<f16> x(batch * 36), bias(37), v(29 * 37), y(batch * 37);
    Buffer<bf16> w(37 * 36);
    Buffer<float> t(batch * 29), z(batch * 37);
    fill_narrow(x, 15), fill_narrow(bias, 16), fill_narrow(v, 17), fill_narrow(w, 18);
    fill_tf32(t, 19);
    Values exact, plain;
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < 37; ++j) {
        exact.push_back(reference::contraction(row_of(wide(x), i, 36), row_of(wide(w), j, 36)) +
                        wide(bias[j]));
        plain.push_back(reference::contraction(row_of(wide(t), i, 29), column_of(wide(v), j, 37)));
      }
    run("narrow_dense", halftone_narrow_dense, reversed, batch, x.get(), w.get(), bias.get(),
        y.get());
    check_rounded(y, exact, oracle::f16());
    run("narrow_plain", halftone_narrow_plain, reversed, batch, t.get(), v.get(), z.get());
    check_equal(z.values(), plain);
  });
  Buffer<float> a(37 * 40), b(10 * 37), y(40 * 10);
  fill(a, 20), fill_tf32(b, 21);
  Values twice;
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      twice.push_back(reference::contraction(column_of(wide(a), i, 40), row_of(wide(b), j, 37)));
  run("narrow_twice", halftone_narrow_twice, false, 1, a.get(), b.get(), y.get());
  check_rounded(y, twice, oracle::tf32());
}

TEST_CASE("a narrow weight gradient's bias is rounded after its f32 sum") {
  each_order({1, 128, 300}, [](std::size_t batch, bool reversed) {
    Buffer<bf16> g(batch * 36), bias(36);
    Buffer<float> x(batch * 37), weight(36 * 37);
    fill_narrow(g, 22), fill(x, 23);
    Values expected, exact_bias;
    for (std::size_t i = 0; i < 36; ++i) {
      exact_bias.push_back(reference::column_sum(column_of(wide(g), i, 36)));
      for (std::size_t j = 0; j < 37; ++j)
        expected.push_back(
            reference::contraction(column_of(wide(g), i, 36), column_of(x.values(), j, 37)));
    }
    run("narrow_gradient", halftone_narrow_gradient, reversed, batch, g.get(), x.get(),
        weight.get(), bias.get());
    check_equal(weight.values(), expected);
    check_rounded(bias, exact_bias, oracle::bf16(), true);
  });
}

TEST_CASE("large tiles of narrow operands cover results that fill them only in part") {
  Buffer<f16> x(130 * 37), w(132 * 37);
  Buffer<bf16> y(130 * 132);
  fill_narrow(x, 24), fill_narrow(w, 25);
  const Values left = wide(x), right = wide(w);
  Values exact;
  for (std::size_t i = 0; i < 130; ++i)
    for (std::size_t j = 0; j < 132; ++j)
      exact.push_back(reference::contraction(row_of(left, i, 37), row_of(right, j, 37)));
  run("narrow_large_tile", halftone_narrow_large_tile, false, 130, x.get(), w.get(), y.get());
  check_rounded(y, exact, oracle::bf16());
}

TEST_CASE("masked products of narrow operands keep a sum of minus zero") {
  Buffer<f16> x(36), bias(37), y(37);  // 36 products leave twelve of a tile's depth masked
  Buffer<bf16> w(37 * 36), g(29 * 36), column(36);
  Buffer<float> e(29 * 37), weight(36 * 37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i].code = 0x0001;
  for (std::size_t i = 0; i < w.size(); ++i) w[i].code = 0x8001;
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i].code = 0x8000;
  run("narrow_dense", halftone_narrow_dense, false, 1, x.get(), w.get(), bias.get(), y.get());
  check_rounded(y, Values(37, -0.0f), oracle::f16());
  for (std::size_t i = 0; i < g.size(); ++i) g[i].code = 0x0001;
  for (std::size_t i = 0; i < e.size(); ++i) e[i] = -0x1p-149f;
  run("narrow_gradient", halftone_narrow_gradient, false, 29, g.get(), e.get(), weight.get(),
      column.get());
  check_equal(weight.values(), Values(36 * 37, -0.0f));
}
