#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes row_losses_expected.hpp: cross_entropy under weights of classes (D71), soft_cross_entropy (D105) and cosine_embedding (D107) as means
and sums, with their gradients, as torch computes them in f64. Run with python3-numpy and python3-torch:
./record_row_losses.py > row_losses_expected.hpp"""
import torch
from torch.nn import functional

from numpy_rules import data, f32, f64

kRows, kColumns, kIgnored = 6, 9, 4
labels = torch.arange(kRows) * 4 % kColumns
class_weights = torch.tensor(data(kColumns, 4).astype(f64)).abs()
signs = torch.tensor([1.0, -1, 1, -1, -1, 0.5], dtype=torch.float64)


def tensor(salt, factor):
    return torch.tensor((f32(factor) * data(kRows * kColumns, salt)).astype(f64).reshape(kRows, kColumns), requires_grad=True)


def cosine(x, y, margin, reduction):
    """torch's knows -1 and 1 alone, and counts other rows, which lose nothing."""
    rows = functional.cosine_embedding_loss(x[:5], y[:5], signs[:5], margin=margin, reduction="none")
    total = rows.sum()
    return total if reduction == "sum" else total / kRows


# name, whether y is read, loss of x, y and the reduction
kCases = [
    ("class_weights", False, lambda x, y, r: functional.cross_entropy(x, labels, weight=class_weights, reduction=r)),
    ("class_weights_ignoring", False,
     lambda x, y, r: functional.cross_entropy(x, labels, weight=class_weights, ignore_index=kIgnored, reduction=r)),
    ("cross_entropy", False, lambda x, y, r: functional.cross_entropy(x, labels, reduction=r)),
    ("soft_cross_entropy", True, lambda x, y, r: functional.cross_entropy(x, y, reduction=r)),
    ("cosine_embedding", True, lambda x, y, r: cosine(x, y, 0.0, r)),
    ("cosine_embedding_margin", True, lambda x, y, r: cosine(x, y, 0.125, r)),
    ("mse", True, lambda x, y, r: functional.mse_loss(x, y, reduction=r)),
    ("l1", True, lambda x, y, r: functional.l1_loss(x, y, reduction=r)),
]

print("""// SPDX-License-Identifier: Apache-2.0
// Written by record_row_losses.py.
#pragma once

#include <vector>

namespace halftone::reference::tests {

// Of x and y, 3 * data(54, 1) and data(54, 3), rounded to f32, of [6, 9]; labels 4 * i mod 9, class weights the sizes of data(9, 4), rows
// that are alike, but for the last, which is neither, as kSigns says.
struct TorchRowLoss {
  const char* name;
  bool summed;
  double loss;
  std::vector<double> of_x, of_y;
};

inline const std::vector<double> kSigns = {1, -1, 1, -1, -1, 0.5};

inline const std::vector<TorchRowLoss> kTorchRowLosses = {""")
for name, reads_y, loss_of in kCases:
    for reduction in ("mean", "sum"):
        x, y = tensor(1, 3), tensor(3, 1)
        loss = loss_of(x, y, reduction)
        loss.backward()
        of_x, of_y = (", ".join(v.hex() for v in t.grad.flatten().tolist()) if t.grad is not None else "" for t in (x, y))
        print(f'    {{"{name}", {str(reduction == "sum").lower()}, {loss.item().hex()}, {{{of_x}}}, {{{of_y}}}}},')
print("""};

}  // namespace halftone::reference::tests""")
