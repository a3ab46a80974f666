#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes losses_expected.hpp: cross_entropy under its settings (D29) and weights (D71), and softmax (D103), with their gradients, as
torch computes them in f64. Run with python3-numpy and python3-torch:  ./record_losses.py > losses_expected.hpp"""
import torch

from numpy_rules import data, f32, f64

kRows, kColumns, kIgnored = 6, 9, 4
# label_smoothing, z_loss, soft_cap, whether rows have weights, whether a label is ignored
kCases = [(0.1, 0, 0, False, False), (1, 0, 0, False, False), (0.3, 0, 0, False, True), (0, 0.25, 0, False, False),
          (0, 0, 1.5, False, False), (0.2, 0.125, 0, True, False), (0.2, 0.125, 2.5, True, True)]


def cross_entropy(smoothing, z, cap, weighted, ignoring):
    logits = torch.tensor((f32(3) * data(kRows * kColumns, 1)).astype(f64).reshape(kRows, kColumns), requires_grad=True)
    labels = torch.arange(kRows) * 4 % kColumns
    weights = torch.tensor(data(kRows, 2).astype(f64)).abs() if weighted else torch.ones(kRows, dtype=torch.float64)
    x = cap * torch.tanh(logits / cap) if cap else logits
    ignored = kIgnored if ignoring else -100
    rows = torch.nn.functional.cross_entropy(x, labels, label_smoothing=smoothing, ignore_index=ignored, reduction="none")
    rows = rows + z * torch.logsumexp(x, 1) ** 2
    weights = torch.where(labels == ignored, 0.0, weights)
    loss = (rows * weights).sum() / weights.sum()
    if not (weighted or z or cap):  # torch's own mean
        own = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing, ignore_index=ignored)
        assert abs(own - loss) < 1e-15
    loss.backward()
    return loss.item(), logits.grad.flatten().tolist()


def settings(smoothing, z, cap, ignoring):
    stated = [("ignore_index", kIgnored if ignoring else None), ("label_smoothing", smoothing), ("z_loss", z), ("soft_cap", cap)]
    return ", ".join(f"{name}: {value}" for name, value in stated if value)


print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_losses.py.
#pragma once

#include <vector>

namespace halftone::reference::tests {

// Of logits 3 * data(54, 1), rounded to f32, of [6, 9] and labels 4 * i mod 9; weights are the sizes of data(6, 2).
struct TorchLoss {
  const char* settings;
  bool weighted;
  double loss;
  std::vector<double> gradient;
};

inline const std::vector<TorchLoss> kTorchLosses = {""")
for smoothing, z, cap, weighted, ignoring in kCases:
    loss, gradient = cross_entropy(smoothing, z, cap, weighted, ignoring)
    numbers = ", ".join(v.hex() for v in gradient)
    print(f'    {{"{settings(smoothing, z, cap, ignoring)}", {str(weighted).lower()}, {loss.hex()}, {{{numbers}}}}},')
print("""};

// Of x, the logits above, and of data(54, 9), which arrives.
struct TorchSoftmax {
  bool log;
  std::vector<double> result, gradient;
};

inline const std::vector<TorchSoftmax> kTorchSoftmax = {""")
for log in (False, True):
    x = torch.tensor((f32(3) * data(kRows * kColumns, 1)).astype(f64).reshape(kRows, kColumns), requires_grad=True)
    y = (torch.log_softmax if log else torch.softmax)(x, 1)
    y.backward(torch.tensor(data(kRows * kColumns, 9).astype(f64).reshape(kRows, kColumns)))
    result, gradient = (", ".join(v.hex() for v in t.flatten().tolist()) for t in (y.detach(), x.grad))
    print(f"    {{{str(log).lower()}, {{{result}}}, {{{gradient}}}}},")
print("""};

}  // namespace halftone::reference::tests""")
