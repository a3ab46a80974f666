#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what torch.amp.GradScaler does on the CPU over the schedules of schedules.py.

    pip install torch==2.15.0 && python record_traces.py        (25 minutes on two cores)

Writes beside itself:
  torch_digests.bin   one u32, little-endian, per schedule: scale, growth tracker and whether any
                      optimizer was skipped, after every step
  torch_traces.txt    the same in full for the first schedules, to look at when digests differ
  torch_summary.txt   version and counts of those, "key value" a line
  torch_artifact_digests.bin   likewise without the tracker, under the settings of ARTIFACTS in turn
Every step is: scale(loss / n).backward() n times, unscale_ and clip_grad_norm_ over all parameters
where the schedule clips, step per optimizer, update.
"""

import multiprocessing
import os
import pathlib
import struct
from collections import Counter

import torch

from schedules import ELEMENTS, Digest, Draws, f32, f32_bits, gradients, settings

SCHEDULES = 100_000
FULL_TRACES = 200
ARTIFACT_SCHEDULES = 20_000
FIRST_ARTIFACT = 2_000_000  # apart from the others
# Initial, growth, backoff, interval and clip of the models in models/ that have a loss scale.
ARTIFACTS = (
    (65536.0, 2.0, 0.5, 3, None),
    (16777216.0, 4.0, 0.25, 2, 0.5),
    (f32(1.1) * 1024, 1.5, 0.75, 1, 100.0),
    (1.0, f32(1.1), f32(0.9), 5, None),
)
CHUNK = 500
HERE = pathlib.Path(__file__).parent
CLASSES = (
    lambda parameters: torch.optim.SGD(parameters, lr=0.01),
    lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
    lambda parameters: torch.optim.AdamW(parameters, lr=0.01),
)


class Run:
    """One schedule's parameters, optimizers and scaler."""

    def __init__(self, s):
        self.settings = s
        self.parameters = [torch.ones(ELEMENTS, requires_grad=True) for _ in s.optimizers]
        self.optimizers = [CLASSES[k]([p]) for k, p in zip(s.optimizers, self.parameters)]
        self.stepped = [False] * len(s.optimizers)
        for i, optimizer in enumerate(self.optimizers):
            optimizer.register_step_post_hook(lambda *_, i=i: self.stepped.__setitem__(i, True))
        self.scaler = torch.amp.GradScaler(
            device="cpu", init_scale=s.initial, growth_factor=s.growth, backoff_factor=s.backoff,
            growth_interval=s.interval)

    def step(self, values):
        """Whether each optimizer was skipped."""
        n = self.settings.micro_batches
        self.stepped[:] = [False] * len(self.stepped)
        for micro in values:
            loss = sum(p.dot(torch.tensor(x)) for p, x in zip(self.parameters, micro))
            self.scaler.scale(loss / n).backward()
        if self.settings.clip is not None:
            for optimizer in self.optimizers:
                self.scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        before = [p.detach().clone() for p in self.parameters]
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
        for p, old, stepped in zip(self.parameters, before, self.stepped):
            assert stepped or bytes(p.detach().numpy()) == bytes(old.numpy())
        self.scaler.update()
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        return [not stepped for stepped in self.stepped]


def record(index):
    draws = Draws(index)
    s = settings(draws)
    run, digest, counts, trace = Run(s), Digest(), Counter(), []
    counts["schedules"] += 1
    counts["schedules_two_optimizers"] += len(s.optimizers) == 2
    counts["schedules_clipped"] += s.clip is not None
    counts["schedules_accumulated"] += s.micro_batches > 1
    previous = s.initial
    for _ in range(s.steps):
        values, _ = gradients(draws, s)
        skipped = run.step(values)
        scale, tracker = run.scaler._scale.item(), run.scaler._growth_tracker.item()
        digest.add(f32_bits(scale), tracker * 2 + any(skipped))
        counts["steps"] += 1
        counts["steps_any_skipped"] += any(skipped)
        counts["steps_other_optimizer_went_on"] += any(skipped) and not all(skipped)
        counts["scale_grew"] += scale > previous
        counts["scale_backed_off"] += scale < previous
        previous = scale
        flags = "".join("s" if skip else "-" for skip in skipped)
        trace.append(f"{f32_bits(scale):08x}:{tracker}:{flags}")
    poisoned = not all(torch.isfinite(p).all() for p in run.parameters)
    counts["schedules_ending_with_non_finite_parameters"] += poisoned
    head = f"{index} {f32_bits(s.initial):08x}"
    return digest.value(), counts, head + " " + " ".join(trace) if index < FULL_TRACES else None


def record_artifact(index):
    draws = Draws(FIRST_ARTIFACT + index)
    s = settings(draws)
    s.initial, s.growth, s.backoff, s.interval, s.clip = ARTIFACTS[index % len(ARTIFACTS)]
    run, digest = Run(s), Digest()
    for _ in range(s.steps):
        values, _ = gradients(draws, s)
        skipped = run.step(values)
        digest.add(f32_bits(run.scaler._scale.item()), any(skipped))
    return digest.value()


def record_chunk(first):
    torch.set_num_threads(1)
    results = [record(i) for i in range(first, first + CHUNK)]
    return ([r[0] for r in results], sum((r[1] for r in results), Counter()),
            [r[2] for r in results if r[2] is not None])


def record_artifact_chunk(first):
    torch.set_num_threads(1)
    return [record_artifact(i) for i in range(first, first + CHUNK)]


def write_digests(name, digests):
    (HERE / name).write_bytes(struct.pack(f"<{len(digests)}I", *digests))


def record_schedules(pool):
    digests, counts, traces = [], Counter(), []
    for chunk in pool.imap(record_chunk, range(0, SCHEDULES, CHUNK)):
        digests += chunk[0]
        counts += chunk[1]
        traces += chunk[2]
    write_digests("torch_digests.bin", digests)
    (HERE / "torch_traces.txt").write_text("\n".join(traces) + "\n")
    lines = [f"torch {torch.__version__}"] + [f"{key} {counts[key]}" for key in sorted(counts)]
    (HERE / "torch_summary.txt").write_text("\n".join(lines) + "\n")


def record_artifacts(pool):
    chunks = pool.imap(record_artifact_chunk, range(0, ARTIFACT_SCHEDULES, CHUNK))
    write_digests("torch_artifact_digests.bin", [digest for chunk in chunks for digest in chunk])


def main():
    with multiprocessing.Pool(os.cpu_count()) as pool:
        record_schedules(pool)
        record_artifacts(pool)


if __name__ == "__main__":
    main()
