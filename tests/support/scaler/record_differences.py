#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what torch.amp.GradScaler does where Halftone differs on purpose.

Writes torch_differences.txt beside itself: a name, then scale bits, growth tracker and each
optimizer's fate (s skipped, - stepped) after every step. differences.hpp has the same
names with what Halftone does. Needs torch, like record_traces.py.
"""

import math
import pathlib

from record_traces import Run
from schedules import Settings, f32_bits

FINE = [0.5, 0.5, 0.5]
BAD = [0.5, math.inf, 0.5]
HUGE = [1e25, 0.5, 0.5]
# name, initial, growth, backoff, interval, gradients of each optimizer step by step
CASES = (
    ("two_optimizers", 1024.0, 2.0, 0.5, 2, [[BAD, FINE], [FINE, BAD], [BAD, BAD], [FINE, FINE]]),
    ("floor", 1.0, 2.0, 2.0**-80, 2, [[BAD], [BAD], [FINE], [FINE]]),
    ("ceiling", 2.0**126, 2.0, 0.5, 1, [[FINE], [FINE], [FINE]]),
    ("norm", 1.0, 2.0, 0.5, 2, [[HUGE], [FINE], [FINE]]),
    ("decimal_factors", 65536.0, 1.2, 0.8, 1, [[FINE]] * 4 + [[BAD]] * 4),
)


def main():
    lines = []
    for name, initial, growth, backoff, interval, steps in CASES:
        run = Run(Settings(initial, growth, backoff, interval, len(steps), 1, None,
                           [0] * len(steps[0]), 0))
        line = name
        for gradients in steps:
            flags = "".join("s" if skipped else "-" for skipped in run.step([gradients]))
            line += f" {f32_bits(run.scaler._scale.item()):08x}"
            line += f":{run.scaler._growth_tracker.item()}:{flags}"
        lines.append(line)
    path = pathlib.Path(__file__).parent / "torch_differences.txt"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
