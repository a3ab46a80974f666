# SPDX-License-Identifier: Apache-2.0
"""torch_worker.py eager|compiled f32|bf16 THREADS TOKENS WEIGHTS: examples/language/language.hpp in torch, from the weights of a
file; in bf16 as its autocast does it. Answers lines as peer.py says."""

import contextlib
import math
import sys

import torch
from safetensors.torch import load_file
from torch.nn import functional as F

import peer
from peer import BLOCKS, HEADS, WIDTH


def turned(x, cosine, sine):
    """Rotary, a pair being an element of a head's first half and one of its second."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Language:
    def __init__(self, weights):
        self.weights = {name: torch.nn.Parameter(value) for name, value in load_file(weights).items()}
        angles = torch.from_numpy(peer.angles()).float()
        self.waves = angles.cos(), angles.sin()

    def norm(self, x, name):
        return F.rms_norm(x, (WIDTH,), self.weights[name + ".weight"], 1e-5)

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"])

    def attended(self, x, at):
        q, k, v = (self.linear(x, at + name).unflatten(-1, (HEADS, -1)).transpose(1, 2) for name in ("q", "k", "value"))
        q, k = (turned(each, *self.waves).to(v.dtype) for each in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
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
    wave = (1 + math.cos(math.pi * min(step / peer.STEPS, 1))) / 2
    return min((step + 1) / peer.WARM_UP, 1) * (peer.LEAST + (1 - peer.LEAST) * wave)


class Trainer:
    def __init__(self, form, format, tokens, weights):
        self.model = Language(weights)
        self.loss = torch.compile(self.model.loss) if form == "compiled" else self.model.loss
        self.cast = torch.autocast("cpu", torch.bfloat16) if format == "bf16" else contextlib.nullcontext()
        self.optimizer = torch.optim.AdamW(self.model.weights.values(), peer.RATE, (peer.BETA1, peer.BETA2), peer.EPSILON,
                                           peer.DECAY, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, rate)
        self.batches, self.steps = peer.Batches(tokens), 0

    def step(self):
        tokens, following = map(torch.from_numpy, self.batches[self.steps])
        self.optimizer.zero_grad()
        with self.cast:
            loss = self.loss(tokens, following)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.weights.values(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.steps += 1
        return loss.item()


def main():
    form, format, threads, tokens, weights = sys.argv[1:]
    torch.set_num_threads(int(threads))
    peer.serve(Trainer(form, format, tokens, weights).step)


if __name__ == "__main__":
    main()
