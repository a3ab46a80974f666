#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes adafactor_expected.hpp: what torch.optim.Adafactor's single-tensor formula (torch 2.5 and later) makes of parameters of four
ranks, in f64. Run with python3-numpy:  ./record_adafactor.py > adafactor_expected.hpp"""
import numpy as np

from numpy_rules import data, f64

kShapes = ((6, 5), (2, 3, 4), (7,), ())
kScales, kDecays = (1.0, 0.25, 1.0, 0.25), (0.5, 0.0, 0.5, 0.0)


def norm(x):
    return np.sqrt((x * x).sum())


def lerp(start, end, weight):
    return start + weight * (end - start)


def adafactor(p, g, state, t, lr, beta2_decay, eps1, eps2, d, weight_decay):
    one_minus_beta2 = t ** beta2_decay
    rho = min(lr, 1 / t ** 0.5)
    alpha = max(eps2, norm(p) / p.size ** 0.5) * rho
    p = p * (1 - lr * weight_decay)
    if g.ndim > 1:
        state["row"] = lerp(state.get("row", 0.0), (g * g).mean(-1, keepdims=True), one_minus_beta2)
        state["column"] = lerp(state.get("column", 0.0), (g * g).mean(-2, keepdims=True), one_minus_beta2)
        estimate = state["row"] @ state["column"] / np.maximum(state["row"].mean(-2, keepdims=True), eps1)
    else:
        state["square"] = lerp(state.get("square", 0.0), g * g, one_minus_beta2)
        estimate = state["square"]
    update = g / np.sqrt(np.maximum(estimate, eps1 * eps1))
    denominator = max(1.0, norm(update) / (update.size ** 0.5 * d))
    return p - alpha / denominator * update


def run(name, lr, d, eps2):
    p = [np.asarray(data(int(np.prod(s, dtype=int)), 1 + i), f64).reshape(s) for i, s in enumerate(kShapes)]
    states = [{} for _ in p]
    for step in range(5):
        for i, s in enumerate(kShapes):
            g = np.asarray(data(p[i].size, 10 * (i + 1) + step), f64).reshape(s)
            p[i] = adafactor(p[i], g, states[i], step + 1, lr * kScales[i], -0.8, 2.0 ** -23, eps2, d, kDecays[i])
    print(f'    {{"{name}",\n     {{')
    for of in p:
        print("         {" + ", ".join(repr(float(x)) for x in of.reshape(-1)) + "},")
    print("     }},")


print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_adafactor.py.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace halftone::reference::tests {

// The parameters after five updates, row-major.
inline const std::vector<std::pair<std::string, std::vector<std::vector<double>>>> kAdafactor = {""")
run("learning_rate 0.25 decay_rate 0.8 epsilon1 1.1920928955078125e-07 epsilon2 0.0009765625 clip_threshold 1", 0.25, 1, 2.0 ** -10)
run("learning_rate 0.75 decay_rate 0.8 epsilon1 1.1920928955078125e-07 epsilon2 4 clip_threshold 0.5", 0.75, 0.5, 4)
print("""};

}  // namespace halftone::reference::tests""")
