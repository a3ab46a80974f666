#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.hpp: what numpy computes in f32 when it follows docs/spec/description.md operation by operation, and
what torch's optimizers compute in f64. Run with python3-numpy and python3-torch:  ./record_expected.py > expected.hpp"""
import numpy as np
import torch

from numpy_rules import chain, columns, data, f32, f64, fma, next_power, padded, record, results, tree

kOptimizers = ("sgd", "momentum", "nesterov", "adamw", "adam", "dampened", "adamw_amsgrad", "adam_amsgrad", "nadam", "nadam_decoupled",
               "adagrad", "rmsprop", "rmsprop_all", "lion", "clipped", "clip_groups", "lamb", "lamb_limited")


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


def block_sums(tensors):
    """Of v*v, one for each 1024 elements; and which of them are each tensor's."""
    padded_to_blocks = [padded([v], 1024) for v in tensors]
    ends = np.cumsum([0] + [len(v) // 1024 for v in padded_to_blocks])
    blocks = np.concatenate(padded_to_blocks).reshape(-1, 1024)
    return tree(blocks * blocks), list(zip(ends, ends[1:]))


def part_norms(tensors):
    sums, parts = block_sums(tensors)
    places = np.arange(len(sums))
    return [np.sqrt(tree(np.where((begin <= places) & (places < end), sums, f32(0)))) for begin, end in parts]


def lamb_trusts(kind, p, steps):
    trusts = []
    for i, (of_p, of_step) in enumerate(zip(part_norms(p), part_norms(steps))):
        trust = of_p / of_step if of_p > 0 and of_step > 0 else f32(1)
        if kind == "lamb_limited":  # decayed_only, max_trust 0.25
            trust = np.minimum(trust, f32(0.25)) if i == 0 else f32(1)
        trusts.append(trust)
    return trusts


def updates(kind, steps, sizes=(40, 7), name=None):
    """Two parameters; the second neither decays nor learns at the full rate."""
    name = name or kind
    has_norms = kind == "clip_groups" or kind.startswith("lamb")
    p = [data(sizes[0], 1), data(sizes[1], 2)]
    first, second, third = [[np.zeros_like(t) for t in p] for _ in range(3)]
    if kind == "adagrad":
        second = [np.full_like(t, 0.125) for t in p]
    lr, scale, decay, clip = f32(0.3), [f32(1), f32(0.3)], [f32(0.7), f32(0)], f32(0.5)
    beta, power = (0.9, 0.999), [(f32(1), f32(0)), (f32(1), f32(0))]
    growth, growth_power, product = 0.96 ** 0.5, (f32(1), f32(0)), f32(1)
    for step in range(steps):
        g = [data(sizes[0], 10 + step), data(sizes[1], 20 + step)]
        flat = padded(g, 1024 if has_norms else 32)
        norm = np.sqrt(tree(flat * flat))
        coefficient = [min(f32(1), clip / (norm + f32(1e-6)))] * 2
        if kind == "clip_groups":
            coefficient = [min(f32(1), f32(c) / (n + f32(1e-6))) for c, n in zip((0.5, 0.05), part_norms(g))]
        power = [next_power(of, base) for of, base in zip(power, beta)]
        c1, c2 = [(f32(1) - h) - l for h, l in power]
        growth_power = next_power(growth_power, growth)
        mu, next_mu = [f32(0.9) * (f32(1) - f32(0.5) * h) for h, _ in (growth_power, next_power(growth_power, growth))]
        product = product * mu
        if kind.startswith("lamb"):
            moved = []
            for i in range(2):
                gi = g[i] * coefficient[i]
                first[i] = fma(f32(1 - 0.9), gi - first[i], first[i])
                second[i] = fma(f32(1 - 0.999), gi * gi, f32(0.999) * second[i])
                moved.append(fma(decay[i], p[i], (first[i] / c1) / (np.sqrt(second[i]) / np.sqrt(c2) + f32(1e-6))))
            trusts = lamb_trusts(kind, p, moved)
            p = [fma(-((lr * scale[i]) * trusts[i]), moved[i], p[i]) for i in range(2)]
            continue
        for i in range(2):
            gi, lr_p = g[i] * coefficient[i], lr * scale[i]
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
    record(name + " norm", norm)
    record(name + " p", np.concatenate(p))
    if kind not in ("sgd", "adagrad", "rmsprop"):
        record(name + " first", np.concatenate(first))
    if kind.startswith(("ad", "nadam", "rmsprop", "lamb")):
        record(name + " second", np.concatenate(second))
    if kind.endswith("amsgrad") or kind == "rmsprop_all":
        record(kind + " third", np.concatenate(third))
    if kind.startswith(("adam", "lamb")):
        record(name + " powers", np.array([*power[0], *power[1]], f32))
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


class Lamb(torch.optim.Optimizer):
    """As timm has it in optim/lamb.py, with its always_adapt but for "lamb_limited", of You et al. 2020."""
    def __init__(self, params, limited):
        super().__init__(params, dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01))
        self.limited = limited

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["step"] = group.get("step", 0) + 1
            for p in group["params"]:
                beta1, beta2 = group["betas"]
                exp_avg = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                exp_avg_sq = self.state[p].setdefault("exp_avg_sq", torch.zeros_like(p))
                exp_avg.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (exp_avg_sq.sqrt() / (1 - beta2 ** group["step"]) ** 0.5).add_(group["eps"])
                update = (exp_avg / (1 - beta1 ** group["step"])).div_(denominator)
                update.add_(p, alpha=group["weight_decay"])
                if group["weight_decay"] != 0 or not self.limited:
                    w_norm, g_norm = p.norm(2.0), update.norm(2.0)
                    trust = w_norm / g_norm if w_norm > 0 and g_norm > 0 else torch.tensor(1.0)
                    update.mul_(trust.clamp(max=0.25) if self.limited else trust)
                p.add_(update, alpha=-group["lr"])


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
    if kind.startswith("lamb"):
        return Lamb(groups, kind == "lamb_limited")
    return torch.optim.SGD(groups, lr=0.3, momentum=0 if kind == "sgd" else 0.9, nesterov=kind == "nesterov",
                           dampening=0.25 if kind == "dampened" else 0)


def torch_updates(kind, steps):
    p = [torch.tensor(data(40, 1).astype(f64), requires_grad=True), torch.tensor(data(7, 2).astype(f64), requires_grad=True)]
    groups = [{"params": [p[0]], "lr": 0.3, "weight_decay": 0.7}, {"params": [p[1]], "lr": 0.09, "weight_decay": 0.0}]
    optimizer = torch_optimizer(kind, groups)
    for step in range(steps):
        for tensor, g in zip(p, (data(40, 10 + step), data(7, 20 + step))):
            tensor.grad = torch.tensor(g.astype(f64))
        if kind == "clip_groups":
            torch.nn.utils.clip_grad_norm_(p[:1], 0.5)
            torch.nn.utils.clip_grad_norm_(p[1:], 0.05)
        else:
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
for kind in ("clip_groups", "lamb"):  # parameters of several blocks, the first of more than one chunk of the tree
    updates(kind, 2, (2500, 1030), kind + " in blocks")
print("""};

inline const std::vector<Bits> kNumpyBits = {""")
print("\n".join(results))
print("""};

}  // namespace halftone::reference::tests""")
