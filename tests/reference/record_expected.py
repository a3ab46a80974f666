#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.hpp: what numpy computes in f32 when it follows docs/spec/description.md operation by operation, and
what torch's optimizers compute in f64. Run with python3-numpy and python3-torch:  ./record_expected.py > expected.hpp"""
import numpy as np
import torch

from numpy_rules import chain, columns, data, f32, f64, fma, padded, record, results, tree

kOptimizers = ("sgd", "momentum", "nesterov", "adamw", "adam")


def linear(rows, k, m):
    x, w, b, g = data(rows * k, 1).reshape(rows, k), data(m * k, 2).reshape(m, k), data(m, 3), data(rows * m, 4)
    g = g.reshape(rows, m)
    record("linear y", chain(x[:, None, :], w[None, :, :]) + b)
    record("linear x", chain(g[:, None, :], w.T[None, :, :]))
    record("linear w", chain(g.T[:, None, :], x.T[None, :, :]))
    record("linear b", columns(g))
    w = data(k * m, 5).reshape(k, m)
    record("transposed y", chain(x[:, None, :], w.T[None, :, :]) + b)
    record("transposed x", chain(g[:, None, :], w[None, :, :]))
    record("transposed w", chain(x.T[:, None, :], g.T[None, :, :]))


def layer_norm(name, rows, n):
    x, w, b, g = data(rows * n, 1).reshape(rows, n), data(n, 2), data(n, 3), data(rows * n, 4).reshape(rows, n)
    d = x - (tree(x) / f32(n))[:, None]
    rstd = (f32(1) / np.sqrt(tree(d * d) / f32(n) + f32(1e-5)))[:, None]
    h = d * rstd
    record(name + " y", fma(h, w, b))
    q = g * w
    a, c = (tree(q) / f32(n))[:, None], (tree(q * h) / f32(n))[:, None]
    record(name + " x", rstd * ((q - a) - h * c))
    record(name + " w", columns(g * h))
    record(name + " b", columns(g))


def mse(count):
    x, target = data(count, 1), data(count, 2)
    d = x - target
    s = f32(0.3) / f32(count)
    record("mse loss", tree(d * d) / f32(count))
    record("mse x", s * (f32(2) * d))
    record("mse target", -(s * (f32(2) * d)))


def updates(kind, steps):
    """Two parameters of 40 and 7 elements; the second neither decays nor learns at the full rate."""
    p = [data(40, 1), data(7, 2)]
    first, second = [np.zeros_like(t) for t in p], [np.zeros_like(t) for t in p]
    lr, scale, decay, clip = f32(0.3), [f32(1), f32(0.3)], [f32(0.7), f32(0)], f32(0.5)
    beta, power = (0.9, 0.999), [(f32(1), f32(0)), (f32(1), f32(0))]
    for step in range(steps):
        g = [data(40, 10 + step), data(7, 20 + step)]
        flat = padded(g)
        norm = np.sqrt(tree(flat * flat))
        coefficient = min(f32(1), clip / (norm + f32(1e-6)))
        for i in range(2):
            bh = f32(beta[i])
            bl = f32(beta[i] - float(bh))
            h, l = power[i]
            t = h * bh
            e = fma(l, bh, fma(h, bl, fma(h, bh, -t)))
            power[i] = (f32(t + e), f32(e - (f32(t + e) - t)))
        c1, c2 = [(f32(1) - h) - l for h, l in power]
        for i in range(2):
            gi, lr_p = g[i] * coefficient, lr * scale[i]
            if kind in ("adam", "adamw"):
                if kind == "adam":
                    gi, p1 = fma(decay[i], p[i], gi), p[i]
                else:
                    p1 = fma(-(lr_p * decay[i]), p[i], p[i])
                first[i] = fma(f32(1 - 0.9), gi - first[i], first[i])
                second[i] = fma(f32(1 - 0.999), gi * gi, f32(0.999) * second[i])
                p[i] = p1 - ((lr_p / c1) * first[i]) / (np.sqrt(second[i]) / np.sqrt(c2) + f32(1e-8))
            else:
                gi = fma(decay[i], p[i], gi)
                if kind != "sgd":
                    first[i] = fma(f32(0.9), first[i], gi)
                    gi = fma(f32(0.9), first[i], gi) if kind == "nesterov" else first[i]
                p[i] = fma(-lr_p, gi, p[i])
    record(kind + " norm", norm)
    record(kind + " p", np.concatenate(p))
    if kind != "sgd":
        record(kind + " first", np.concatenate(first))
    if kind in ("adam", "adamw"):
        record(kind + " second", np.concatenate(second))
        record(kind + " powers", np.array([*power[0], *power[1]], f32))


def torch_updates(kind, steps):
    p = [torch.tensor(data(40, 1).astype(f64), requires_grad=True), torch.tensor(data(7, 2).astype(f64), requires_grad=True)]
    groups = [{"params": [p[0]], "lr": 0.3, "weight_decay": 0.7}, {"params": [p[1]], "lr": 0.09, "weight_decay": 0.0}]
    adams = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    optimizer = adams[kind](groups, betas=(0.9, 0.999), eps=1e-8) if kind in adams else torch.optim.SGD(
        groups, lr=0.3, momentum=0 if kind == "sgd" else 0.9, nesterov=kind == "nesterov")
    for step in range(steps):
        for tensor, g in zip(p, (data(40, 10 + step), data(7, 20 + step))):
            tensor.grad = torch.tensor(g.astype(f64))
        torch.nn.utils.clip_grad_norm_(p, 0.5)
        optimizer.step()
    values = torch.cat([t.detach() for t in p]).tolist()
    print(f'    {{"{kind}", {{{", ".join(v.hex() for v in values)}}}}},')


print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_expected.py.
#pragma once

#include <vector>

#include "recorded.hpp"

namespace halftone::reference::tests {

// Parameters of 40 and 7 elements after 5 steps of torch's optimizers in f64.
struct TorchUpdate {
  const char* optimizer;
  std::vector<double> parameters;
};

inline const std::vector<TorchUpdate> kTorchUpdates = {""")
for kind in kOptimizers:
    torch_updates(kind, 5)
linear(300, 37, 6)
layer_norm("layer_norm 300x40", 300, 40)
layer_norm("layer_norm 2x2100", 2, 2100)
mse(5000)
for kind in kOptimizers:
    updates(kind, 5)
print("""};

inline const std::vector<Bits> kNumpyBits = {""")
print("\n".join(results))
print("""};

}  // namespace halftone::reference::tests""")
