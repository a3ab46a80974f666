#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of R7 to R21, R24 and R26 of docs/spec/math.md, in f32, and how far off each fit is at most in its own weight.
Run with numpy and scipy:  ./fit_recipes.py

Every fit is minimax over some 800 to 2500 Chebyshev points, found as a linear program. Coefficients are rounded one after another,
from the highest power down, and the rest is fitted again each time."""
import math

import numpy as np
from numpy.polynomial import chebyshev, polynomial
from scipy.optimize import linprog
from scipy.special import erfcx, log_ndtr

LN2 = np.log(2)


def points(low, high, count):
    return (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)


def program(rows, wanted, unit):
    """x with the least largest |rows x - wanted|, each row's written in a unit of its own for the solver."""
    ones, rows, wanted = unit[:, None], rows * unit[:, None], wanted * unit
    limits = np.vstack([np.hstack([rows, -ones]), np.hstack([-rows, -ones])])
    cost = np.append(np.zeros(rows.shape[1]), 1)
    bounds = [(None, None)] * rows.shape[1] + [(0, None)]
    for method in ("highs-ds", "highs-ipm", "highs"):
        found = linprog(cost, A_ub=limits, b_ub=np.concatenate([wanted, -wanted]), bounds=bounds, method=method)
        if found.x is not None:
            return found.x[:-1]
    raise SystemExit("a fit was not found")


def minimax(x, f, weight, degree):
    """A polynomial in powers of x: fitted in Chebyshev's, which the program solves more exactly."""
    low, high = x.min(), x.max()
    basis = chebyshev.chebvander((2 * x - low - high) / (high - low), degree)
    inner = chebyshev.cheb2poly(program(basis * weight[:, None], f * weight, 1 / np.maximum(1, weight * 1e-4)))
    line, power, result = np.array([-(low + high) / (high - low), 2 / (high - low)]), np.ones(1), np.zeros(1)
    for coefficient in inner:
        result, power = polynomial.polyadd(result, coefficient * power), polynomial.polymul(power, line)
    return np.pad(result, (0, degree + 1 - len(result)))


def fit(x, f, weight, degree):
    rounded, rest = {}, f.copy()
    for power in range(degree, -1, -1):
        rounded[power] = float(np.float32(minimax(x, rest, weight, power)[power]))
        rest = rest - rounded[power] * x**power
    return [rounded[power] for power in range(degree + 1)], np.abs(weight * rest).max()


def show(name, coefficients, error):
    digits = ", ".join(float(c).hex().replace("0000000p", "p") for c in coefficients)
    print(f"{name}\n  {digits}\n  at most {error:.3g}", flush=True)


def ulp(log2_of_value, digits, smallest):
    """Of a format, relative to the value."""
    return 2.0 ** (np.maximum(np.floor(log2_of_value), smallest) - digits - log2_of_value)


def powers_of_two():
    r = points(-0.5, 0.5, 800)
    c, error = fit(r, 2**r, 1e6 / 2**r, 4)
    show("2^r, relative: p of R13, R15, R18, R20", c, error * 1e-6)
    c, error = fit(r, np.expm1(r * LN2) / r, 1e7 * np.abs(r) / 2**r, 4)
    show("(2^r - 1)/r, relative in 1 + r q: p of R19, R21 without its 1", c, error * 1e-7)
    f = np.expm1(r * LN2) / 2 / r
    show("(2^r - 1)/(2r), relative: q of R14", *fit(r, f, 1 / f, 4))
    f = points(0, 1, 800)
    show("1/(1 + F), relative: i1 of R15, R18 to R21", *fit(f, 1 / (1 + f), 1 + f, 2))


def gelu_tail():
    """Phi(-a)^(1/32) around 6: a hundredth of an ulp of a Phi(-a), less what rounding takes."""
    a = points(0, 13.6, 2500)
    log_f = log_ndtr(-a)
    size = np.log2(a) + log_f / LN2
    f16 = np.where(size > -25.5, 0.01 * ulp(size, 10, -14) - 1.5e-6, 1e9)
    bf16 = 0.01 * ulp(size, 7, -126) - 1.7e-5 * (size < -100)
    allowed = np.clip(np.minimum(f16, bf16), 1e-9, 0.2)
    f = np.exp(log_f / 32)
    show("Phi(-a)^(1/32) in powers of a - 6, in allowed errors: w of R16", *fit(a - 6, f, 32 / (f * allowed), 12))


def derivative_tail():
    """((Phi(-a) - a phi(a)) / (a0 - a))^(1/32) around 6, relative."""
    root = 0.75179152469356445746
    a = points(0, 14.2, 2500)
    a = a[np.abs(a - root) > 2e-3]
    log_f = np.log((erfcx(a / np.sqrt(2)) * np.sqrt(np.pi / 2) - a) / (root - a)) - a * a / 2 - 0.5 * np.log(2 * np.pi)
    size = (log_f + np.log(np.abs(root - a))) / LN2
    allowed = np.where(a < 8, 4.9e-6 - 1.5e-6, 2.4e-5)
    allowed = np.where(size < -126, np.minimum(allowed * 2.0 ** (-126 - size), 0.3), allowed)
    f = np.exp(log_f / 32)
    show("the derivative's tail in powers of a - 6, in allowed errors: w of R17", *fit(a - 6, f, 32 / (f * allowed), 13))


def mills():
    """Phi(-a) exp(a^2/2) as P/Q, P(0) = 1/2, Q(0) = 1, relative."""
    x = points(0, 14.5, 1500)
    f, scale, q_at = erfcx(x / np.sqrt(2)) / 2, 1e7, (1 + x) ** 5
    powers = np.stack([(x / 5) ** k for k in range(6)], 1)
    for _ in range(6):
        weight = scale / (f * q_at)
        of_p, of_q = weight[:, None] * powers[:, :5], -weight[:, None] * f[:, None] * powers[:, 1:]
        rows = np.hstack([of_p, of_q])
        found = program(rows, weight * f, np.ones(len(x)))
        q = np.append(1, found[5:] / 5.0 ** np.arange(1, 6))
        q_at = polynomial.polyval(x, q)
    q = np.float32(q).astype(float)
    q_at, p = polynomial.polyval(x, q), {0: 0.5}
    weight = scale / (f * q_at)
    for power in (4, 3, 2, 1):
        free = np.arange(1, power + 1)
        rest = f * q_at - sum(c * x**k for k, c in p.items())
        found = program(weight[:, None] * powers[:, free], weight * rest, np.ones(len(x)))
        p[power] = float(np.float32(found[-1] / 5.0**power))
    p = [p[k] for k in range(5)]
    show("P: m of R7 and R8", p, np.abs(polynomial.polyval(x, p) / q_at / f - 1).max())
    show("Q: d of R7 and R8, there times 2^40", q, 0)


def waves():
    z = points(0, (np.pi / 4) ** 2, 800)
    r = np.sqrt(z)
    f = sum((-1) ** k * z ** (k - 1) / math.factorial(2 * k + 1) for k in range(1, 12))
    c, error = fit(z, f, z / (np.sin(r) / r) * 1e8, 2)
    show("(sin r/r - 1)/r^2 in powers of r^2, relative in sin: u of R24", c, error * 1e-8)
    f = sum((-1) ** k * z ** (k - 2) / math.factorial(2 * k) for k in range(2, 12))
    c, error = fit(z, f, z * z / np.cos(r) * 1e8, 2)
    show("(cos r - 1 + r^2/2)/r^4 in powers of r^2, relative in cos: v of R24", c, error * 1e-8)


def logarithm():
    z = points(0, ((np.sqrt(2) - 1) / (np.sqrt(2) + 1)) ** 2, 800)
    f = sum(2 / LN2 * z ** (k - 2) / (2 * k + 1) for k in range(2, 20))
    c, error = fit(z, f, z * z * LN2 / 2 * 1e10, 2)
    show("(log2((1 + s)/(1 - s))/s less two terms)/z^2 in powers of z = s^2: u of R26", c, error * 1e-10)
    r = points(-0.5, 0.5, 800)
    f = sum(LN2**k * r ** (k - 1) / math.factorial(k) for k in range(1, 20))
    c, error = fit(r, f, 1e8 * np.abs(r) / 2**r, 6)
    show("(2^r - 1)/r, relative in 1 + r q: q of R26", c, error * 1e-8)


powers_of_two()
waves()
logarithm()
gelu_tail()
derivative_tail()
mills()
