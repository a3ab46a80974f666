#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records an independent model of hysteresis, floor and ceiling, which torch.amp.GradScaler lacks.

The hysteresis is that of Apex: each overflow uses up one, the scale backs off once none is left,
and a clean step restores all (update_scale_hysteresis.cu of NVIDIA/apex). The floor is that of jmp.
Writes hysteresis_digests.bin beside itself: one u32, little-endian, per schedule, over scale, clean
steps, whether the step was skipped, hysteresis left, and steps in a row skipped at the floor.
"""

import pathlib
import struct

from schedules import Digest, Draws, f32, f32_bits, gradients, settings

SCHEDULES = 10_000
FIRST = 1_000_000  # apart from the schedules recorded from torch


class Scaler:
    def __init__(self, s, hysteresis, floor, ceiling):
        self.s, self.hysteresis, self.floor, self.ceiling = s, hysteresis, floor, ceiling
        self.scale, self.tracker, self.left, self.stuck = s.initial, 0, hysteresis, 0

    def update(self, overflow):
        if not overflow:
            self.left, self.stuck = self.hysteresis, 0
            self.tracker += 1
            if self.tracker == self.s.interval:
                self.tracker = 0
                self.scale = f32(self.scale * self.s.growth)
                if self.scale > self.ceiling:
                    self.scale = self.ceiling
            return
        self.stuck = self.stuck + 1 if self.scale == self.floor else 0
        self.left -= 1
        self.tracker = 0
        if self.left > 0:
            return
        self.scale = f32(self.scale * self.s.backoff)
        if self.scale < self.floor:
            self.scale = self.floor


def record(index):
    draws = Draws(FIRST + index)
    s = settings(draws)
    hysteresis = 1 + draws.below(5)
    floor = s.initial / 2.0 ** draws.below(6)
    ceiling = s.initial * 2.0 ** draws.below(6)
    scaler, digest = Scaler(s, hysteresis, floor, ceiling), Digest()
    for _ in range(s.steps):
        _, hit = gradients(draws, s)
        scaler.update(any(hit))
        digest.add(f32_bits(scaler.scale), scaler.tracker * 2 + any(hit))
        digest.add(scaler.left, scaler.stuck)
    return digest.value()


def main():
    digests = [record(i) for i in range(SCHEDULES)]
    path = pathlib.Path(__file__).parent / "hysteresis_digests.bin"
    path.write_bytes(struct.pack(f"<{len(digests)}I", *digests))


if __name__ == "__main__":
    main()
