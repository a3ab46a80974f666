// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the two evaluations differ in, as overloads: float is the declared f32
// arithmetic of rules N1 to N6, double is the exact one. The layers are written once, over both.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "halftone/reference/bounded.hpp"

namespace halftone::reference {

/// Rounds once in f32; a plain product and sum in double.
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline double fma(double a, double b, double c) { return a * b + c; }

inline float sqrt(float x) { return std::sqrt(x); }
inline double sqrt(double x) { return std::sqrt(x); }
Bounded sqrt(Bounded x);

inline float absolute(float x) { return std::fabs(x); }
inline double absolute(double x) { return std::fabs(x); }
Bounded absolute(Bounded x);

inline float floor(float x) { return std::floor(x); }
inline double floor(double x) { return std::floor(x); }
Bounded floor(Bounded x);

inline double plain(float x) { return x; }
inline double plain(double x) { return x; }
inline double plain(Bounded x) { return x.value; }

/// N10: which of its recipes a function has in f32.
enum class Grade { full, narrow };

/// N6. f32: the recipes of docs/spec/math.md; double: libm.
float exp(float x);
float expm1(float x);
float log(float x);
float log1p(float x);
float sin(float x);
float cos(float x);
float pow(float x, float y);
float tanh(float x);
float erf(float x);
float sigmoid(float x);
float rsqrt(float x);
double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double sin(double x);
double cos(double x);
double pow(double x, double y);
double tanh(double x);
double erf(double x);
double sigmoid(double x);
double rsqrt(double x);
Bounded exp(Bounded x);
Bounded expm1(Bounded x);
Bounded log(Bounded x);
Bounded log1p(Bounded x);
Bounded sin(Bounded x);
Bounded cos(Bounded x);
Bounded pow(Bounded x, Bounded y);
Bounded tanh(Bounded x);
Bounded erf(Bounded x);
Bounded sigmoid(Bounded x);
Bounded rsqrt(Bounded x);

/// Likewise what has a narrow recipe, too.
#define HALFTONE_GRADED(function)         \
  float function(float x, Grade grade);   \
  double function(double x, Grade grade); \
  Bounded function(Bounded x, Grade grade);
HALFTONE_GRADED(exp)
HALFTONE_GRADED(tanh)
HALFTONE_GRADED(sigmoid)
HALFTONE_GRADED(gelu_erf)
HALFTONE_GRADED(gelu_erf_derivative)
HALFTONE_GRADED(gelu_tanh)
HALFTONE_GRADED(gelu_tanh_derivative)
HALFTONE_GRADED(silu)
HALFTONE_GRADED(silu_derivative)
#undef HALFTONE_GRADED

/// N2 over a row and N4 over a tensor. f32: the tree; double: left to right.
float sum(std::span<const float> values);
double sum(std::span<const double> values);
Bounded sum(std::span<const Bounded> values);

/// N3: the sums over the rows of a (rows, columns) matrix. f32: chunks of 128 rows; double: top to
/// bottom.
std::vector<float> column_sums(std::span<const float> matrix, std::int64_t columns);
std::vector<double> column_sums(std::span<const double> matrix, std::int64_t columns);
std::vector<Bounded> column_sums(std::span<const Bounded> matrix, std::int64_t columns);

/// N5
template <class Scalar>
Scalar minimum(Scalar a, Scalar b) {
  return (a < b || std::isnan(plain(a))) ? a : b;
}

template <class Scalar>
Scalar maximum(Scalar a, Scalar b) {
  return (a > b || std::isnan(plain(a))) ? a : b;
}

Bounded minimum(Bounded a, Bounded b);
Bounded maximum(Bounded a, Bounded b);

/// N2 with maximum, starting at -infinity.
float row_maximum(std::span<const float> values);
double row_maximum(std::span<const double> values);
Bounded row_maximum(std::span<const Bounded> values);

/// N1: the chain over k of a(k) * b(k), for k in [0, length).
template <class Scalar, class A, class B>
Scalar contraction(std::int64_t length, A a, B b) {
  Scalar accumulator = 0;
  for (std::int64_t k = 0; k < length; ++k) accumulator = fma(a(k), b(k), accumulator);
  return accumulator;
}

}  // namespace halftone::reference
