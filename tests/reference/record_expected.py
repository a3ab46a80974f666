#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.hpp: what numpy computes in f32 when it follows docs/spec/description.md operation by operation, and
what torch's optimizers compute in f64. Run with python3-numpy and python3-torch:  ./record_expected.py > expected.hpp"""
import numpy as np
import torch

from numpy_rules import chain, columns, data, f32, f64, fma, padded, record, results, tree

kOptimizers = ("sgd", "momentum", "nesterov", "adamw", "adam", "dampened", "adamw_amsgrad", "adam_amsgrad", "nadam", "nadam_decoupled",
               "adagrad", "rmsprop", "rmsprop_all", "lion", "clipped")


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


def next_power(power, base):
    bh = f32(base)
    bl = f32(base - float(bh))
    h, l = power
    t = h * bh
    e = fma(l, bh, fma(h, bl, fma(h, bh, -t)))
    return f32(t + e), f32(e - (f32(t + e) - t))


def updates(kind, steps):
    """Two parameters of 40 and 7 elements; the second neither decays nor learns at the full rate."""
    p = [data(40, 1), data(7, 2)]
    first, second, third = [[np.zeros_like(t) for t in p] for _ in range(3)]
    if kind == "adagrad":
        second = [np.full_like(t, 0.125) for t in p]
    lr, scale, decay, clip = f32(0.3), [f32(1), f32(0.3)], [f32(0.7), f32(0)], f32(0.5)
    beta, power = (0.9, 0.999), [(f32(1), f32(0)), (f32(1), f32(0))]
    growth, growth_power, product = 0.96 ** 0.5, (f32(1), f32(0)), f32(1)
    for step in range(steps):
        g = [data(40, 10 + step), data(7, 20 + step)]
        flat = padded(g)
        norm = np.sqrt(tree(flat * flat))
        coefficient = min(f32(1), clip / (norm + f32(1e-6)))
        power = [next_power(of, base) for of, base in zip(power, beta)]
        c1, c2 = [(f32(1) - h) - l for h, l in power]
        growth_power = next_power(growth_power, growth)
        mu, next_mu = [f32(0.9) * (f32(1) - f32(0.5) * h) for h, _ in (growth_power, next_power(growth_power, growth))]
        product = product * mu
        for i in range(2):
            gi, lr_p = g[i] * coefficient, lr * scale[i]
            if kind == "clipped":
                gi = np.minimum(np.maximum(gi, -f32(0.03)), f32(0.03))
            decoupled = kind in ("adamw", "adamw_amsgrad", "nadam_decoupled", "lion")
            p1 = fma(-(lr_p * decay[i]), p[i], p[i]) if decoupled else p[i]
            gi = gi if decoupled else fma(decay[i], p[i], gi)
            if kind.startswith(("adam", "nadam")):
                first[i] = fma(f32(1 - 0.9), gi - first[i], first[i])
                second[i] = fma(f32(1 - 0.999), gi * gi, f32(0.999) * second[i])
                third[i] = np.maximum(second[i], third[i])
                divisor = third[i] if kind.endswith("amsgrad") else second[i]
                denominator = np.sqrt(divisor) / np.sqrt(c2) + f32(1e-8)
                step_i = (lr_p / c1) * first[i]
                if kind.startswith("nadam"):
                    a, b = (lr_p * (f32(1) - mu)) / (f32(1) - product), (lr_p * next_mu) / (f32(1) - product * next_mu)
                    step_i = fma(a, gi, b * first[i])
                p[i] = p1 - step_i / denominator
            elif kind == "adagrad":
                second[i] = fma(gi, gi, second[i])
                p[i] = fma(-lr_p, gi / (np.sqrt(second[i]) + f32(1e-10)), p[i])
            elif kind.startswith("rmsprop"):
                alpha = 0.75
                second[i] = fma(f32(1 - alpha), gi * gi, f32(alpha) * second[i])
                third[i] = fma(f32(1 - alpha), gi - third[i], third[i])
                centered = np.maximum(fma(-third[i], third[i], second[i]), f32(0))
                step_i = gi / (np.sqrt(centered if kind == "rmsprop_all" else second[i]) + f32(1e-8))
                if kind == "rmsprop_all":
                    step_i = first[i] = fma(f32(0.9), first[i], step_i)
                p[i] = fma(-lr_p, step_i, p[i])
            elif kind == "lion":
                direction = fma(f32(1 - 0.9), gi - first[i], first[i])
                p[i] = np.where(direction > 0, p1 - lr_p, np.where(direction < 0, p1 + lr_p, p1))
                first[i] = fma(f32(1 - 0.99), gi - first[i], first[i])
            else:
                if kind != "sgd":
                    share = f32(1 - 0.25) if kind == "dampened" and step > 0 else f32(1)
                    first[i] = fma(f32(0.9), first[i], share * gi)
                    gi = fma(f32(0.9), first[i], gi) if kind == "nesterov" else first[i]
                p[i] = fma(-lr_p, gi, p[i])
    record(kind + " norm", norm)
    record(kind + " p", np.concatenate(p))
    if kind not in ("sgd", "adagrad", "rmsprop"):
        record(kind + " first", np.concatenate(first))
    if kind.startswith(("ad", "nadam", "rmsprop")):
        record(kind + " second", np.concatenate(second))
    if kind.endswith("amsgrad") or kind == "rmsprop_all":
        record(kind + " third", np.concatenate(third))
    if kind.startswith("adam"):
        record(kind + " powers", np.array([*power[0], *power[1]], f32))
    if kind.startswith("nadam"):
        record(kind + " powers", np.array([*power[1], *growth_power, product], f32))


class Lion(torch.optim.Optimizer):
    """As google/automl has it in lion/lion_pytorch.py, of Chen et al. 2023."""
    def __init__(self, params):
        super().__init__(params, dict(lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + p.grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def torch_optimizer(kind, groups):
    if kind.startswith("nadam"):
        return torch.optim.NAdam(groups, momentum_decay=0.5, decoupled_weight_decay=kind == "nadam_decoupled")
    if kind.startswith("adam"):
        of = torch.optim.AdamW if kind.startswith("adamw") else torch.optim.Adam
        return of(groups, betas=(0.9, 0.999), eps=1e-8, amsgrad=kind.endswith("amsgrad"))
    if kind == "adagrad":
        return torch.optim.Adagrad(groups, eps=1e-10, initial_accumulator_value=0.125)
    if kind.startswith("rmsprop"):
        many = kind == "rmsprop_all"
        return torch.optim.RMSprop(groups, alpha=0.75, eps=1e-8, momentum=0.9 if many else 0, centered=many)
    if kind == "lion":
        return Lion(groups)
    return torch.optim.SGD(groups, lr=0.3, momentum=0 if kind == "sgd" else 0.9, nesterov=kind == "nesterov",
                           dampening=0.25 if kind == "dampened" else 0)


def torch_updates(kind, steps):
    p = [torch.tensor(data(40, 1).astype(f64), requires_grad=True), torch.tensor(data(7, 2).astype(f64), requires_grad=True)]
    groups = [{"params": [p[0]], "lr": 0.3, "weight_decay": 0.7}, {"params": [p[1]], "lr": 0.09, "weight_decay": 0.0}]
    optimizer = torch_optimizer(kind, groups)
    for step in range(steps):
        for tensor, g in zip(p, (data(40, 10 + step), data(7, 20 + step))):
            tensor.grad = torch.tensor(g.astype(f64))
        torch.nn.utils.clip_grad_norm_(p, 0.5)
        if kind == "clipped":
            torch.nn.utils.clip_grad_value_(p, 0.03)
        optimizer.step()
    values = torch.cat([t.detach() for t in p]).tolist()
    print(f'    {{"{kind}", {{{", ".join(v.hex() for v in values)}}}}},')


torch.set_default_dtype(torch.float64)  # which NAdam keeps its product of momenta in

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
