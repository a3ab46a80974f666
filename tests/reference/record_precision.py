#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes precision_expected.hpp: what numpy computes when it rounds where docs/spec/precision.md says. The models are those of
precision_test.cpp; what their rules decide is worked out here by hand. Run with python3-numpy:
./record_precision.py > precision_expected.hpp"""
import numpy as np

from numpy_rules import chain, columns, data, f32, f64, fma, padded, record, tree, write


def narrow(mantissa_bits, smallest_exponent, largest, x, toward_zero=False, saturate=False):
    """The multiple of the last place that is nearest to x, ties to even, or the next one toward zero."""
    x = np.asarray(x, f32).astype(f64)
    place = np.exp2(np.maximum(np.frexp(x)[1] - 1, smallest_exponent) - mantissa_bits)
    rounded = (np.trunc if toward_zero else np.rint)(x / place) * place
    past = np.abs(rounded) > largest
    return np.where(past, np.copysign(largest if toward_zero or saturate else np.inf, x), rounded).astype(f32)


def f16(x, toward_zero=False):
    return narrow(10, -14, 65504.0, x, toward_zero)


def bf16(x, toward_zero=False):
    return narrow(7, -126, float.fromhex("0x1.fep127"), x, toward_zero)


def tf32(x):
    return narrow(10, -126, float.fromhex("0x1.ffcp127"), x)


def f8e4m3(x):  # saturating
    return narrow(3, -6, 448.0, x, saturate=True)


def f8e5m2(x):
    return narrow(2, -14, 57344.0, x)


def same(x):
    return np.asarray(x, f32)


with np.errstate(over="ignore"):
    for salt in range(50):
        sample = data(2003, salt) * f32(10.0 ** (salt % 13 - 7))
        assert (f16(sample) == sample.astype(np.float16).astype(f32)).all()


def linear(x, w, b=None):
    y = chain(x[:, None, :], w[None, :, :])
    return y if b is None else y + b


def linear_x(g, w):
    return chain(g[:, None, :], w.T[None, :, :])


def linear_w(g, x):
    return chain(g.T[:, None, :], x.T[None, :, :])


def mse(x, target):
    return tree((x - target).reshape(-1) ** 2) / f32(x.size)


def mse_x(x, target, weight_and_scale):
    v = f32(weight_and_scale) / f32(x.size) * (x - target)
    return v + v


def unscaled(gradients, scale, micro_batches=1):
    inverse = f32(1) / (f32(scale) * f32(micro_batches))
    gradients = [g * inverse for g in gradients]
    flat = padded([g.reshape(-1) for g in gradients])
    return gradients, np.sqrt(tree(flat * flat))


def whole_step(name, r, scale):
    """linear, relu, mse, two micro-batches; all stored and computed in r but for the loss. SGD with momentum 0.9 after
    clipping at 0.5."""
    w, b, target = data(30, 2).reshape(5, 6), data(5, 3), data(35, 4).reshape(7, 5)
    sums = [np.zeros((5, 6), f32), np.zeros(5, f32)]
    for salt in (1, 5):
        x = data(42, salt).reshape(7, 6)
        fc = r(linear(r(x), r(w), r(b)))
        act = np.where(fc > 0, fc, f32(0))
        g_act = r(mse_x(act, target, f32(0.3) * f32(scale)))
        g_fc = np.where(act > 0, g_act, f32(0))
        sums = [sums[0] + linear_w(g_fc, r(x)), sums[1] + columns(g_fc)]
        if salt == 1:
            record(name + " act", act)
            record(name + " loss", mse(act, target))
            record(name + " gradient act", g_act)
            record(name + " gradient fc.weight", sums[0])
            record(name + " gradient fc.bias", sums[1])
    if r is f8e4m3:
        assert np.abs(g_act).max() == 448  # some exceeded it
    gradients, norm = unscaled(sums, scale, 2)
    coefficient = min(f32(1), f32(0.5) / (norm + f32(1e-6)))
    record(name + " norm", norm)
    for parameter, p, g in (("fc.weight", w, gradients[0]), ("fc.bias", b, gradients[1])):
        g = fma(f32(0.7), p, g * coefficient)
        record(name + " " + parameter, fma(-f32(0.3), fma(f32(0.9), f32(0), g), p))


def statistics(x):
    n = f32(x.shape[1])
    mean = tree(x) / n
    rstd = f32(1) / np.sqrt(tree((x - mean[:, None]) ** 2) / n + f32(1e-5))
    return mean[:, None], rstd[:, None]


def mixed():
    x, target = data(42, 1).reshape(7, 6), data(35, 2).reshape(7, 5)
    w, b = data(36, 3).reshape(6, 6), data(6, 4)
    nw, nb, hw = data(6, 5), data(6, 6), data(60, 7).reshape(5, 12)
    fc = f16(linear(f16(x), f16(w), f16(b)))
    act = np.where(fc > 0, fc, f32(0))
    total = act + x  # f16 beside f32: follow computes and stores f32
    mean, rstd = statistics(total)
    norm = fma((total - mean) * rstd, nw, nb)
    joined = np.concatenate([f16(norm, True), act], axis=1)
    head_weight = bf16(f16(hw, True), True)
    head = bf16(tf32(linear(bf16(joined), head_weight)))
    record("mixed sum", total)
    record("mixed norm", norm)
    record("mixed joined", joined)
    record("mixed head", head)
    record("mixed loss", mse(head, target))

    g_head = bf16(mse_x(head, target, f32(0.3) * f32(256)))
    g_joined = f16(linear_x(g_head, head_weight))
    g_norm, g_act = bf16(g_joined[:, :6]), bf16(g_joined[:, 6:], True)
    saved = f16(total, True)
    h, q = (saved - mean) * rstd, g_norm * nw
    a, c = (tree(q) / f32(6))[:, None], (tree(q * h) / f32(6))[:, None]
    g_total = rstd * ((q - a) - h * c)
    g_act = bf16(g_act + bf16(g_total, True), True)
    g_fc = f16(np.where(act > 0, f16(g_act, True), f32(0)))
    gradients = [bf16(linear_w(g_fc, tf32(x))), bf16(columns(g_fc)), columns(g_norm * h), columns(g_norm),
                 bf16(linear_w(g_head, joined))]
    record("mixed gradient head", g_head)
    record("mixed gradient joined", g_joined)
    record("mixed gradient norm", g_norm)
    record("mixed gradient sum", g_total)
    record("mixed gradient act", g_act)
    record("mixed gradient fc", g_fc)
    for name, g in zip(("fc.weight", "fc.bias", "norm.weight", "norm.bias", "head.weight"), gradients):
        record("mixed gradient " + name, g)
    record("mixed norm of all", unscaled(gradients, 256)[1])


def internals():
    x, target = data(42, 1).reshape(7, 6), data(35, 2).reshape(7, 5)
    w, b, hw = data(36, 3).reshape(6, 6), data(6, 4), data(30, 8).reshape(5, 6)
    nw, nb, rw = data(6, 5), data(6, 6), data(6, 7)
    fc = f16(linear(x, w)) + b
    mean, rstd = statistics(fc)
    h = bf16((fc - mean) * rstd, True)
    norm = fma(h, nw, nb)
    r = (f32(1) / np.sqrt(tree(norm * norm) / f32(6) + f32(1e-6)))[:, None]
    k = tf32(norm * r)
    rms = k * rw
    head = bf16(linear(rms, hw))
    for name, values in (("fc", fc), ("norm", norm), ("rms", rms), ("head", head)):
        record("internals " + name, values)
    g_head = mse_x(head, target, 1)
    g_rms = linear_x(g_head, hw)
    q = g_rms * rw
    g_norm = r * (q - k * (tree(q * k) / f32(6))[:, None])
    q = g_norm * nw
    a, c = (tree(q) / f32(6))[:, None], (tree(q * h) / f32(6))[:, None]
    g_fc = rstd * ((q - a) - h * c)
    for name, g in (("rms", g_rms), ("norm", g_norm), ("fc", g_fc), ("head.weight", linear_w(g_head, rms)),
                    ("rms.weight", columns(g_rms * k)), ("norm.weight", columns(g_norm * h)),
                    ("fc.weight", linear_w(g_fc, x))):
        record("internals gradient " + name, g)


def f16_overflow():
    x, target = data(60, 1).reshape(5, 12), data(60, 2).reshape(5, 12)
    w, b = data(144, 3).reshape(12, 12), data(12, 4)
    fc = linear(x, w, b)
    with np.errstate(over="ignore"):
        large = f16(fc * f32(131072))
    assert np.isinf(large).any() and np.isfinite(large).any()
    clamped = np.maximum(np.minimum(large * f32(2**-15), f32(8)), f32(-8))
    passes = np.abs(large * f32(2**-15)) < 8
    g = mse_x(clamped, target, 1)
    g_large = f16(np.where(passes, g, f32(0)) * f32(2**-15))
    record("f16_overflow large", large)
    record("f16_overflow clamped", clamped)
    record("f16_overflow gradient large", g_large)
    record("f16_overflow gradient fc.weight", linear_w(g_large * f32(131072), x))


def bf16_round_trip():
    x, target = data(60, 1).reshape(5, 12), data(60, 2).reshape(5, 12)
    w, b = data(144, 3).reshape(12, 12), data(12, 4)
    fc = linear(x, w, b)
    rest = (fc - bf16(fc)) * f32(256)
    assert (rest != 0).any()
    g = mse_x(rest, target, 1) * f32(256)
    g_rounded = bf16(-g)
    record("bf16_round_trip rest", rest)
    record("bf16_round_trip gradient fc.weight", linear_w(g + g_rounded, x))


def bf16_matmul_then_add():
    x, target, w = data(100, 1).reshape(5, 20), data(100, 2).reshape(5, 20), data(400, 3).reshape(20, 20)
    total = bf16(linear(bf16(x), bf16(w))) + x
    g_product = bf16(mse_x(total, target, 1))
    record("bf16_matmul_then_add sum", total)
    record("bf16_matmul_then_add gradient fc.weight", linear_w(g_product, bf16(x)))


def rotary_bf16():
    x, target = data(50, 1).reshape(5, 10), data(80, 4).reshape(5, 16)
    cosine, sine = bf16(data(40, 2).reshape(5, 8)), bf16(data(40, 3).reshape(5, 8))
    even_w, odd_w = data(80, 5).reshape(8, 10), data(80, 6).reshape(8, 10)
    even, odd = bf16(linear(bf16(x), bf16(even_w))), bf16(linear(bf16(x), bf16(odd_w)))
    rotated = np.concatenate([bf16(bf16(even * cosine) - bf16(odd * sine)),
                              bf16(bf16(even * sine) + bf16(odd * cosine))], axis=1)
    g = bf16(mse_x(rotated, target, 1))
    g_even, g_odd = g[:, :8], g[:, 8:]
    # The last user of each value is the rotated odd part.
    of_even = bf16(bf16(g_odd * sine) + bf16(g_even * cosine))
    of_odd = bf16(bf16(g_odd * cosine) + bf16(-g_even * sine))
    record("rotary_bf16 rotated", rotated)
    record("rotary_bf16 gradient even.weight", linear_w(of_even, bf16(x)))
    record("rotary_bf16 gradient odd.weight", linear_w(of_odd, bf16(x)))


whole_step("f16", f16, 1024)
whole_step("bf16", bf16, 1)
whole_step("f8e4m3", f8e4m3, 65536)
whole_step("f8e5m2", f8e5m2, 1024)
whole_step("f32", same, 1)
mixed()
internals()
f16_overflow()
bf16_round_trip()
bf16_matmul_then_add()
rotary_bf16()
write("record_precision.py", "kPrecisionBits")
