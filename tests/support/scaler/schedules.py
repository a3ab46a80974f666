# SPDX-License-Identifier: Apache-2.0
"""Random schedules of training steps in which gradients are infinite or NaN now and then.

schedules.hpp draws the same ones in C++; the two must be changed together.
"""

import math
import struct
from dataclasses import dataclass

MASK = (1 << 64) - 1
ELEMENTS = 3  # of the one parameter that each optimizer has


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def f32_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def mix(z):
    """splitmix64's finalizer (Steele, Lea, Flood 2014)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Draws:
    """splitmix64."""

    def __init__(self, seed):
        self.state = mix(seed)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32


MANTISSAS = (1.0, 1.0, 1.5, f32(1.1))
GROWTHS = (2.0, 1.5, 1.25, f32(1.1), 4.0)
BACKOFFS = (0.5, 0.25, 0.75, f32(0.9), f32(0.3))
INTERVALS = (1, 2, 3, 5, 8, 13, 2000)
CLIPS = (None, None, 0.5, 100.0)
RATES = (0, 4, 32, 85, 224)  # of 256
KINDS = (math.inf, -math.inf, math.nan)


@dataclass
class Settings:
    initial: float
    growth: float
    backoff: float
    interval: int
    steps: int
    micro_batches: int
    clip: float | None
    optimizers: list  # kinds, 0 to 2: the recorder's choice of class
    rate: int


def settings(draws):
    initial = f32(MANTISSAS[draws.below(4)] * 2.0 ** draws.below(25))
    growth = GROWTHS[draws.below(5)]
    backoff = BACKOFFS[draws.below(5)]
    interval = INTERVALS[draws.below(7)]
    if growth == 4.0 and interval == 1:
        interval = 2  # or 60 steps could pass f32's range
    steps = 10 + draws.below(51)
    micro_batches = 1 + draws.below(4)
    clip = CLIPS[draws.below(4)]
    optimizers = [draws.below(3) for _ in range(1 + draws.below(2))]
    return Settings(initial, growth, backoff, interval, steps, micro_batches, clip, optimizers,
                    RATES[draws.below(5)])


def gradients(draws, s):
    """Of one step: [micro-batch][optimizer][element], and whether each optimizer was hit."""
    hits, hit = [], []
    for optimizer in range(len(s.optimizers)):
        hit.append(draws.below(256) < s.rate)
        if not hit[-1]:
            continue
        for _ in range(2 if draws.below(4) == 0 else 1):
            kind, micro = draws.below(3), draws.below(s.micro_batches)
            hits.append((micro, optimizer, draws.below(ELEMENTS), KINDS[kind]))
    values = []
    for _ in range(s.micro_batches):
        values.append([])
        for _ in s.optimizers:
            word = draws.next()
            values[-1].append([(((word >> (8 * e)) & 31) - 16) / 16 for e in range(ELEMENTS)])
    for micro, optimizer, element, kind in hits:
        values[micro][optimizer][element] = kind
    return values, hit


class Digest:
    """32 bits of all words that were added."""

    def __init__(self):
        self.state = 0

    def add(self, high, low):
        self.state = mix((self.state + ((high & 0xFFFFFFFF) << 32) + (low & 0xFFFFFFFF)) & MASK)

    def value(self):
        return self.state >> 32
