// SPDX-License-Identifier: Apache-2.0
// What the kernels of general.mlir compute, element by element.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "transforms.hpp"

namespace general {

using Values = std::vector<float>;

/// Whole numbers of [-64, 64), exact in every format, with zeros of both signs.
inline Values drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<float>(static_cast<int>(random() % 128) - 64);
    values.push_back(number == 0 && random() % 2 ? -0.0f : number / 8);
  }
  return values;
}

/// Fractions whose products do not fit 24 bits, so that the order of a sum shows.
inline Values fractions(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Values values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random() >> 8) * 0x1p-22f - 2.0f);
  return values;
}

/// Some before the table's first row, some behind its last one.
inline std::vector<int> tokens(std::size_t batch, std::size_t of_each = 4) {
  std::vector<int> result;
  for (std::size_t i = 0; i < batch * of_each; ++i)
    result.push_back(static_cast<int>(i * 7 % 15) - 2);
  return result;
}

inline std::vector<std::uint16_t> as_bf16(const Values& values) {
  std::vector<std::uint16_t> codes;
  for (float value : values)
    codes.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return codes;
}

/// Calls make(b, i, j) for every element of [first, second, third].
template <class Make>
Values each(std::size_t first, std::size_t second, std::size_t third, Make make) {
  Values result;
  for (std::size_t b = 0; b < first; ++b)
    for (std::size_t i = 0; i < second; ++i)
      for (std::size_t j = 0; j < third; ++j) result.push_back(make(b, i, j));
  return result;
}

/// x: [batch, 3, 5], c: [3]
inline Values transposed(std::size_t batch, const Values& x, const Values& c) {
  return each(batch, 5, 3, [&](std::size_t b, std::size_t i, std::size_t j) {
    return x[b * 15 + j * 5 + i] + c[j];
  });
}

/// x: [batch, 3, 4]
inline Values swapped(std::size_t batch, const Values& x) {
  return each(3, batch, 4,
              [&](std::size_t i, std::size_t b, std::size_t j) { return x[b * 12 + i * 4 + j]; });
}

/// table: [11, 6]
inline Values gathered(std::size_t batch, const Values& table, const std::vector<int>& tokens) {
  return each(batch, 4, 6, [&](std::size_t b, std::size_t t, std::size_t j) {
    const int token = tokens[b * 4 + t];
    return token < 0 || token >= 11 ? 0.0f : table[static_cast<std::size_t>(token) * 6 + j];
  });
}

/// tokens: [batch, 70], g: [batch, 70, 6]; each row of the table its own chain, but row 2
inline Values summed(std::size_t batch, const std::vector<int>& tokens, const Values& g) {
  Values sums(66, 0.0f);
  for (std::size_t i = 0; i < batch * 70; ++i) {
    const int token = tokens[i];
    for (std::size_t j = 0; j < 6 && token >= 0 && token < 11 && token != 2; ++j) {
      float& sum = sums[static_cast<std::size_t>(token) * 6 + j];
      sum = sum + g[i * 6 + j];
    }
  }
  return sums;
}

/// tokens: [batch, 70], h: [batch, 70, 37]; seven rows for each element of the batch
inline Values summed_of_each(std::size_t batch, const std::vector<int>& tokens, const Values& h) {
  Values sums(batch * 7 * 37, 0.0f);
  for (std::size_t i = 0; i < batch * 70; ++i) {
    const int token = tokens[i];
    for (std::size_t j = 0; j < 37 && token >= 0 && token < 7; ++j) {
      float& sum = sums[(i / 70 * 7 + static_cast<std::size_t>(token)) * 37 + j];
      sum = sum + h[i * 37 + j];
    }
  }
  return sums;
}

/// x: [batch, 7, 5]
inline Values shifted(std::size_t batch, const Values& x) {
  return each(batch, 7, 5, [&](std::size_t b, std::size_t t, std::size_t j) {
    return t < 2 ? 0.0f : x[b * 35 + (t - 2) * 5 + j];
  });
}

/// x: [batch, 7, 5], the first of its lines, each where it is
inline Values cropped(std::size_t batch, const Values& x) {
  return each(batch, 4, 5,
              [&](std::size_t b, std::size_t t, std::size_t j) { return x[b * 35 + t * 5 + j]; });
}

/// g: [batch, 4, 5], each of its four lines two apart among nine
inline Values spread(std::size_t batch, const Values& g) {
  return each(batch, 9, 5, [&](std::size_t b, std::size_t t, std::size_t j) {
    return t % 2 == 1 ? g[b * 20 + t / 2 * 5 + j] : 0.0f;
  });
}

/// x: [batch, 9]; choice: [batch, 5], some of it beside x's columns
inline std::vector<int> choice(std::size_t batch) {
  std::vector<int> result;
  for (std::size_t i = 0; i < batch * 5; ++i) result.push_back(static_cast<int>(i * 5 % 13) - 2);
  return result;
}
inline Values picked(std::size_t batch, const Values& x, const std::vector<int>& choice) {
  return each(1, batch, 5, [&](std::size_t, std::size_t b, std::size_t j) {
    const int c = choice[b * 5 + j];
    return c < 0 || c >= 9 ? 0.0f : x[b * 9 + static_cast<std::size_t>(c)];
  });
}

/// x: [batch, 9], every second column from the one before the first, on a chessboard up to the
/// fifth
inline Values strided(std::size_t batch, const Values& x) {
  return each(1, batch, 6, [&](std::size_t, std::size_t b, std::size_t j) {
    return (b + j) % 2 == 0 && j <= 4 && j > 0 ? x[b * 9 + 2 * j - 1] : 0.0f;
  });
}

/// N3: at(row, column)
template <class At>
Values column_sums(std::size_t rows, std::size_t columns, At at) {
  return each(1, 1, columns, [&](std::size_t, std::size_t, std::size_t j) {
    float total = 0.0f;
    for (std::size_t chunk = 0; chunk < rows; chunk += 128) {
      float sum = 0.0f;
      for (std::size_t row = chunk; row < rows && row < chunk + 128; ++row) sum += at(row, j);
      total += sum;
    }
    return total;
  });
}

/// g, x: [batch, 29, 5]
inline Values late_sums(std::size_t batch, const Values& g, const Values& x) {
  return column_sums(batch * 29, 5, [&](std::size_t row, std::size_t j) {
    return g[row * 5 + j] * (row % 29 < 2 ? 0.0f : x[(row - 2) * 5 + j]);
  });
}

/// x: [batch, 29, 5]
inline Values turned_sums(std::size_t batch, const Values& x) {
  return column_sums(batch * 5, 29, [&](std::size_t row, std::size_t j) {
    return x[row / 5 * 145 + j * 5 + row % 5];
  });
}

/// x: [batch, 11, 13, 37], m: [batch, 37]; the rows of each element of the batch by themselves
inline Values sums_of_each(std::size_t batch, const Values& x, const Values& m) {
  constexpr std::size_t kRows = 11 * 13;
  Values sums;
  for (std::size_t b = 0; b < batch; ++b) {
    const Values of_one = column_sums(kRows, 37, [&](std::size_t row, std::size_t j) {
      return x[(b * kRows + row) * 37 + j] - m[b * 37 + j];
    });
    sums.insert(sums.end(), of_one.begin(), of_one.end());
  }
  return sums;
}

inline Values gathered_sums(std::size_t batch, const Values& table,
                            const std::vector<int>& tokens) {
  const Values rows = gathered(batch, table, tokens);
  return column_sums(batch * 4, 6,
                     [&](std::size_t row, std::size_t j) { return rows[row * 6 + j]; });
}

/// x: [4, batch, 6], c: [batch, 3, 4]. All sums are exact, in any order.
inline Values placed(std::size_t batch, const Values& x, const Values& c) {
  const auto beside = [&](std::size_t i, std::size_t b, std::size_t j) {
    return i > 0 && j > 0 && j <= 4 ? c[b * 12 + (i - 1) * 4 + 4 - j] : 0.0f;
  };
  return each(4, batch, 6, [&](std::size_t i, std::size_t b, std::size_t j) {
    const float* row = &x[(i * batch + b) * 6];
    float sum = 0, largest = -INFINITY;
    for (std::size_t at = 0; at < 6; ++at) {
      sum += row[at] + beside(i, b, at);
      largest = std::max(largest, beside(i, b, at));
    }
    const float place = static_cast<float>(b) - static_cast<float>(i);
    return (sum + largest) * place + (row[j] + beside(i, b, j));
  });
}

/// N1 for every element of the batch; at(element, row or column, k).
template <class Lhs, class Rhs>
Values products(std::size_t elements, std::size_t rows, std::size_t columns, std::size_t depth,
                Lhs lhs, Rhs rhs) {
  return each(elements, rows, columns, [&](std::size_t e, std::size_t i, std::size_t j) {
    float sum = 0.0f;
    for (std::size_t k = 0; k < depth; ++k) sum = std::fma(lhs(e, i, k), rhs(e, j, k), sum);
    return sum;
  });
}

/// left: [batch, 3, 37, 10], right: [batch, 3, 10, 21], c: [21], skip: [batch, 3, 37, 21]
inline Values products(std::size_t batch, const Values& left, const Values& right, const Values& c,
                       const Values& skip) {
  Values sums = products(
      batch * 3, 37, 21, 10,
      [&](std::size_t e, std::size_t i, std::size_t k) { return left[e * 370 + i * 10 + k]; },
      [&](std::size_t e, std::size_t j, std::size_t k) { return right[e * 210 + k * 21 + j]; });
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = (sums[i] + c[i % 21]) * skip[i];
  return sums;
}

/// lt: [batch, 12, 9], rt: [batch, 18, 12]
inline Values turned(std::size_t batch, const Values& lt, const Values& rt) {
  return products(
      batch, 9, 18, 12,
      [&](std::size_t e, std::size_t i, std::size_t k) { return lt[e * 108 + k * 9 + i]; },
      [&](std::size_t e, std::size_t j, std::size_t k) { return rt[e * 216 + j * 12 + k]; });
}

/// g: [4, batch, 9], x: [4, batch, 6]
inline Values gradients(std::size_t batch, const Values& g, const Values& x) {
  return products(
      4, 9, 6, batch,
      [&](std::size_t e, std::size_t i, std::size_t k) { return g[(e * batch + k) * 9 + i]; },
      [&](std::size_t e, std::size_t j, std::size_t k) { return x[(e * batch + k) * 6 + j]; });
}

/// x: [4, batch, 9]
inline Values places(std::size_t batch, const Values& x) {
  return each(4, batch, 9, [&](std::size_t i, std::size_t b, std::size_t j) {
    return static_cast<float>((b * 100 + i) * 4 + j % 4) - x[(i * batch + b) * 9 + j];
  });
}

/// x: [batch, 7, 5], of whole eighths
inline Values causal(std::size_t batch, const Values& x) {
  return each(batch, 7, 5, [&](std::size_t b, std::size_t t, std::size_t j) {
    float sum = 0.0f;
    for (std::size_t past = 0; past <= t && past < 5; ++past) sum += x[b * 35 + t * 5 + past];
    return sum + static_cast<float>(t) + x[b * 35 + t * 5 + j];
  });
}

/// Z2 of docs/spec/math.md, of twice x: [batch, 11, 20], to [batch, 2, 16, 2, 16].
inline Values spectrum(std::size_t batch, const Values& x, const Values& turns) {
  halftone::reference::Spectrum<float> of_blocks;
  for (std::size_t m = 0; m < 16; ++m) of_blocks.push_back({turns[m], turns[16 + m]});
  Values result(batch * 2 * 16 * 2 * 16);
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t c = 0; c < 32; ++c) {
      const auto z = halftone::reference::transformed<float>(
          c < 20 ? 11 : 0, [&](std::int64_t t) { return 2 * x[(b * 11 + t) * 20 + c]; }, of_blocks);
      for (std::size_t k = 0; k < 16; ++k) {
        const std::size_t place = ((b * 2 + c / 16) * 16 + k) * 32 + c % 16;
        result[place] = z[k].real, result[place + 16] = z[k].imaginary;
      }
    }
  }
  return result;
}

/// Calls test(name, what the results shall be, operands...) for every kernel.
template <class Test>
void each_kernel(std::size_t batch, const Test& test) {
  const Values x35 = drawn(batch * 15, 1), c3 = drawn(3, 2), x34 = drawn(batch * 12, 3),
               table = drawn(66, 4), x75 = drawn(batch * 35, 5), g45 = drawn(batch * 20, 6);
  test("transposed", transposed(batch, x35, c3), x35, c3);
  test("swapped", swapped(batch, x34), x34);
  test("gathered", gathered(batch, table, tokens(batch)), as_bf16(table), tokens(batch));
  const Values g70 = fractions(batch * 420, 16);
  test("summed", summed(batch, tokens(batch, 70), g70), tokens(batch, 70), g70);
  const Values h70 = fractions(batch * 2590, 21);
  test("summed_of_each", summed_of_each(batch, tokens(batch, 70), h70), tokens(batch, 70), h70);
  test("shifted", shifted(batch, x75), x75);
  test("cropped", cropped(batch, x75), x75);
  test("spread", spread(batch, g45), g45);
  const Values x9 = drawn(batch * 9, 15);
  test("picked", picked(batch, x9, choice(batch)), x9, choice(batch));
  test("strided", strided(batch, x9), x9);
  const Values xt = fractions(batch * 145, 16), gt = fractions(batch * 145, 17);
  test("late_sums", late_sums(batch, gt, xt), gt, xt);
  test("turned_sums", turned_sums(batch, xt), xt);
  const Values xe = fractions(batch * 5291, 19), me = fractions(batch * 37, 20);
  test("sums_of_each", sums_of_each(batch, xe, me), xe, me);
  test("gathered_sums", gathered_sums(batch, table, tokens(batch)), as_bf16(table), tokens(batch));
  const Values x46 = drawn(batch * 24, 18);
  test("placed", placed(batch, x46, x34), x46, x34);
  const Values left = fractions(batch * 1110, 7), right = fractions(batch * 630, 8),
               c21 = fractions(21, 9), skip = fractions(batch * 2331, 10);
  test("products", products(batch, left, right, c21, skip), left, right, c21, skip);
  const Values lt = fractions(batch * 108, 11), rt = fractions(batch * 216, 12);
  test("turned", turned(batch, lt, rt), lt, rt);
  const Values gb = fractions(batch * 36, 13), xb = fractions(batch * 24, 14);
  test("gradients", gradients(batch, gb, xb), gb, xb);
  test("places", places(batch, gb), gb);
  test("causal", causal(batch, x75), x75);
  const Values xs = fractions(batch * 220, 21), turns = fractions(32, 22);
  test("spectrum", spectrum(batch, xs, turns), xs, turns);
}

}  // namespace general
