// SPDX-License-Identifier: Apache-2.0
// Spectra of real sequences: Z1 to Z4 of docs/spec/math.md, a sequence at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <numbers>
#include <vector>

#include "numerics.hpp"

namespace halftone::reference {

template <class Scalar>
struct Complex {
  Scalar real = 0, imaginary = 0;
};

template <class Scalar>
using Spectrum = std::vector<Complex<Scalar>>;

// Of a sequence with so many places.
inline std::int64_t spectrum_places(std::int64_t places) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(places < 2 ? 2 : places)));
}

// Z1: the point at q of 2^22 units of a turn, q <= 2^21.
template <class Scalar>
Complex<Scalar> point_of_half_turn(std::int64_t q) {
  constexpr double unit = 2 * std::numbers::pi / (1 << 22);
  const bool is_behind = q > 1 << 20;
  const std::int64_t first = is_behind ? (1 << 21) - q : q;
  const bool is_steep = first > 1 << 19;
  const Scalar f = static_cast<Scalar>(static_cast<double>(is_steep ? (1 << 20) - first : first));
  const Scalar h = static_cast<Scalar>(unit), l = static_cast<Scalar>(unit - plain(h));
  const Scalar p = f * h;
  const Scalar e = fma(f, l, fma(f, h, -p));
  const Scalar cosine = cos(p), sine = sin(p);
  const Scalar c = fma(-e, sine, cosine), t = fma(e, cosine, sine);
  const Scalar real = is_steep ? t : c;
  return {is_behind ? -real : real, is_steep ? c : t};
}

// Z1: the turn of block b in stage s, whose angle is pi (4 r + 1) / 2^(s + 2), r being the s bits
// of b in the opposite order.
template <class Scalar>
Complex<Scalar> spectrum_turn(int s, std::int64_t b) {
  std::int64_t r = 0;
  for (int bit = 0; bit < s; ++bit) r = 2 * r + (b >> bit & 1);
  return point_of_half_turn<Scalar>((4 * r + 1) << (19 - s));
}

// The turns of all stages, one after another: that of block b in stage s is number 2^s + b.
template <class Scalar>
Spectrum<Scalar> spectrum_turns(std::int64_t places) {
  Spectrum<Scalar> turns(1);
  for (int s = 0; std::int64_t{1} << s < places; ++s) {
    for (std::int64_t b = 0; b < std::int64_t{1} << s; ++b)
      turns.push_back(spectrum_turn<Scalar>(s, b));
  }
  return turns;
}

// Z2. value(t) are the first `length` places of the sequence.
template <class Scalar, class Value>
Spectrum<Scalar> transformed(std::int64_t length, Value value, const Spectrum<Scalar>& turns) {
  const std::int64_t places = std::ssize(turns), half = places / 2;
  Spectrum<Scalar> z(places);
  const auto place = [&](std::int64_t t) { return t < length ? value(t) : Scalar(0); };
  for (std::int64_t j = 0; j < half; ++j) {
    const Scalar u = place(j), x = place(half + j);
    const Complex<Scalar> v{turns[1].real * x, turns[1].imaginary * x};
    z[j] = {u + v.real, v.imaginary};
    z[half + j] = {u - v.real, -v.imaginary};
  }
  for (std::int64_t blocks = 2; blocks < places; blocks *= 2) {
    const std::int64_t h = places / blocks / 2;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Complex<Scalar> w = turns[blocks + b];
      for (std::int64_t j = 2 * h * b; j < 2 * h * b + h; ++j) {
        const Complex<Scalar> u = z[j], x = z[h + j];
        const Complex<Scalar> v{fma(-w.imaginary, x.imaginary, w.real * x.real),
                                fma(w.real, x.imaginary, w.imaginary * x.real)};
        z[j] = {u.real + v.real, u.imaginary + v.imaginary};
        z[h + j] = {u.real - v.real, u.imaginary - v.imaginary};
      }
    }
  }
  return z;
}

// Z3: the first `length` places of the sequence.
template <class Scalar>
std::vector<Scalar> transformed_back(std::int64_t length, Spectrum<Scalar> z,
                                     const Spectrum<Scalar>& turns) {
  const std::int64_t places = std::ssize(turns), half = places / 2;
  for (std::int64_t blocks = half; blocks > 1; blocks /= 2) {
    const std::int64_t h = places / blocks / 2;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Complex<Scalar> w = turns[blocks + b];
      for (std::int64_t j = 2 * h * b; j < 2 * h * b + h; ++j) {
        const Complex<Scalar> p = z[j], q = z[h + j];
        const Complex<Scalar> d{p.real - q.real, p.imaginary - q.imaginary};
        z[j] = {p.real + q.real, p.imaginary + q.imaginary};
        z[h + j] = {fma(w.imaginary, d.imaginary, w.real * d.real),
                    fma(-w.imaginary, d.real, w.real * d.imaginary)};
      }
    }
  }
  const Scalar scale = static_cast<Scalar>(1 / static_cast<double>(places));
  std::vector<Scalar> sequence(length);
  for (std::int64_t t = 0; t < length; ++t) {
    const Complex<Scalar> p = z[t % half], q = z[half + t % half];
    const Scalar value = t < half ? p.real + q.real
                                  : fma(turns[1].imaginary, p.imaginary - q.imaginary,
                                        turns[1].real * (p.real - q.real));
    sequence[t] = value * scale;
  }
  return sequence;
}

// Z4
template <class Scalar>
Spectrum<Scalar> product(const Spectrum<Scalar>& a, const Spectrum<Scalar>& b) {
  Spectrum<Scalar> result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    result[k] = {fma(a[k].real, b[k].real, -(a[k].imaginary * b[k].imaginary)),
                 fma(a[k].imaginary, b[k].real, a[k].real * b[k].imaginary)};
  return result;
}

template <class Scalar>
Spectrum<Scalar> product_with_conjugate(const Spectrum<Scalar>& a, const Spectrum<Scalar>& b) {
  Spectrum<Scalar> result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    result[k] = {fma(a[k].real, b[k].real, a[k].imaginary * b[k].imaginary),
                 fma(a[k].imaginary, b[k].real, -(a[k].real * b[k].imaginary))};
  return result;
}

}  // namespace halftone::reference
