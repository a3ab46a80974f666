# SPDX-License-Identifier: Apache-2.0
"""torch_worker.py eager|compiled THREADS TOKENS WEIGHTS: examples/language/language.hpp in torch, from the weights of a file, in
f32. Answers lines as language_worker does."""

import sys
import time

import numpy
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

BATCH, WINDOW, WIDTH, HEADS, BLOCKS = 8, 128, 192, 6, 4
RATE, WARM_UP, STEPS, LEAST = 2e-3, 60, 1200, 0.1


def turned(x, cosine, sine):
    """Rotary, a pair being an element of a head's first half and one of its second."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Language:
    def __init__(self, weights):
        self.weights = {name: torch.nn.Parameter(value) for name, value in load_file(weights).items()}
        pairs = WIDTH // HEADS // 2
        angles = torch.arange(WINDOW)[:, None] * 10000.0 ** (-torch.arange(pairs) / pairs)[None, :]
        self.waves = angles.cos(), angles.sin()

    def norm(self, x, name):
        return F.rms_norm(x, (WIDTH,), self.weights[name + ".weight"], 1e-5)

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"])

    def attended(self, x, at):
        q, k, v = (self.linear(x, at + name).unflatten(-1, (HEADS, -1)).transpose(1, 2) for name in ("q", "k", "value"))
        y = F.scaled_dot_product_attention(turned(q, *self.waves), turned(k, *self.waves), v, is_causal=True)
        return self.linear(y.transpose(1, 2).flatten(-2), at + "join")

    def loss(self, tokens, following):
        x = F.embedding(tokens, self.weights["embed.weight"])
        for block in range(BLOCKS):
            at = f"h/{block}/"
            x = x + self.attended(self.norm(x, at + "norm"), at)
            y = self.norm(x, at + "norm2")
            x = x + self.linear(F.silu(self.linear(y, at + "mlp/gate")) * self.linear(y, at + "mlp/up"), at + "mlp/down")
        return F.cross_entropy(self.linear(self.norm(x, "norm"), "embed").flatten(0, 1), following.flatten())


def rate(step):
    """The factor of language.hpp's schedule: a warm-up, times a cosine's half wave down to LEAST."""
    wave = (1 + numpy.cos(numpy.pi * min(step / STEPS, 1))) / 2
    return min((step + 1) / WARM_UP, 1) * (LEAST + (1 - LEAST) * wave)


class Trainer:
    def __init__(self, form, tokens, weights):
        self.model = Language(weights)
        self.loss = torch.compile(self.model.loss) if form == "compiled" else self.model.loss
        self.optimizer = torch.optim.AdamW(self.model.weights.values(), RATE, (0.9, 0.95), 1e-8, 0.1, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, rate)
        self.tokens = torch.from_numpy(numpy.fromfile(tokens, "<u2").astype(numpy.int64))
        self.batches = (len(self.tokens) - 1) // WINDOW // BATCH
        self.steps = 0

    def step(self):
        first = self.steps % self.batches * BATCH * WINDOW
        tokens, following = (self.tokens[first + i:first + i + BATCH * WINDOW].view(BATCH, WINDOW) for i in (0, 1))
        self.optimizer.zero_grad()
        loss = self.loss(tokens, following)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.weights.values(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.steps += 1
        return loss.item()

    def speed(self, most):
        start, steps = time.perf_counter(), 0
        while steps == 0 or time.perf_counter() - start < most:
            self.step()
            steps += 1
        return steps * BATCH * WINDOW / (time.perf_counter() - start)


def main():
    form, threads, tokens, weights = sys.argv[1:]
    torch.set_num_threads(int(threads))
    trainer = Trainer(form, tokens, weights)
    for line in sys.stdin:
        what, amount = line.split()
        numbers = [trainer.step() for _ in range(int(amount))] if what == "losses" else [trainer.speed(float(amount))]
        print("ok", *numbers, flush=True)


if __name__ == "__main__":
    main()
