#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Writes schedules_expected.hpp: the learning rates of torch's schedulers, in f64, before each of their first updates.
Run with torch:  ./record_schedules.py > schedules_expected.hpp"""
import torch
from torch.optim import lr_scheduler

UPDATES = 60
CASES = [
    ("linear", lambda o: lr_scheduler.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=40)),
    ("cosine", lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=60, eta_min=0.125)),
    ("step_decay", lambda o: lr_scheduler.StepLR(o, step_size=7, gamma=0.7)),
    ("exponential", lambda o: lr_scheduler.ExponentialLR(o, gamma=0.95)),
    ("multi_step", lambda o: lr_scheduler.MultiStepLR(o, milestones=[5, 20, 21], gamma=0.3)),
    ("polynomial", lambda o: lr_scheduler.PolynomialLR(o, total_iters=50, power=1.5)),
    ("one_cycle", lambda o: lr_scheduler.OneCycleLR(o, max_lr=1.0, total_steps=60, cycle_momentum=False)),
    ("one_cycle of 60 with 0.5, 10 and 100", lambda o: lr_scheduler.OneCycleLR(
        o, max_lr=1.0, total_steps=60, pct_start=0.5, div_factor=10, final_div_factor=100, cycle_momentum=False)),
]


def rates(make):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    found = []
    for update in range(UPDATES):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if update + 1 < UPDATES:
            scheduler.step()
    return found


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Learning rates of torch {torch.__version__.split('+')[0]}'s schedulers; record_schedules.py wrote it.")
print("#pragma once\n")
print("struct TorchSchedule {\n  const char* name;\n  double rates[%d];\n};\n" % UPDATES)
print("// clang-format off\ninline constexpr TorchSchedule kTorchSchedules[] = {")
for name, make in CASES:
    print('    {"%s",\n     {%s}},' % (name, ", ".join("%.17g" % rate for rate in rates(make))))
print("};\n// clang-format on")
