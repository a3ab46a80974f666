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

    def heads(self, x, at, waves):
        q, k, v = (self.linear(x, at + name).unflatten(-1, (HEADS, -1)).transpose(1, 2) for name in ("q", "k", "value"))
        return [turned(each, *waves).to(v.dtype) for each in (q, k)] + [v]

    def attended(self, x, at):
        return F.scaled_dot_product_attention(*self.heads(x, at, self.waves), is_causal=True)

    def logits(self, tokens, attended, rows=lambda x: x):
        """Of `rows` alone; `attended(x, at)` gives what a block's heads leave, [batch, heads, time, columns]."""
        x = F.embedding(tokens, self.weights["embed.weight"])
        for block in range(BLOCKS):
            at = f"h/{block}/"
            y = attended(self.norm(x, at + "norm"), at)
            x = x + self.linear(y.transpose(1, 2).flatten(-2), at + "join")
            y = self.norm(x, at + "norm2")
            x = x + self.linear(F.silu(self.linear(y, at + "mlp/gate")) * self.linear(y, at + "mlp/up"), at + "mlp/down")
        return self.linear(self.norm(rows(x), "norm"), "embed")

    def loss(self, tokens, following):
        return F.cross_entropy(self.logits(tokens, self.attended).flatten(0, 1), following.flatten())


class Decoder:
    """With caches of keys and values as long as prompt and steps. A compiled step reads them whole under a mask, since another length
    would be another program."""

    def __init__(self, model, compiled, cast):
        self.model, self.cast, self.compiled = model, cast, compiled
        self.length = peer.PROMPT + peer.STEPS_DECODED
        self.caches = {}
        self.following = torch.compile(self.chosen) if compiled else self.chosen

    def attended(self, x, at, begin, places):
        """Of x, which begins at a place; `places` are those of the cache that x is written to."""
        q, k, v = self.model.heads(x, at, [wave[places] for wave in self.model.waves])
        if at not in self.caches:
            self.caches[at] = [torch.zeros(*each.shape[:2], self.length, each.shape[3], dtype=each.dtype) for each in (k, v)]
        keys, values = self.caches[at]
        keys[:, :, places], values[:, :, places] = k, v
        if x.shape[1] > 1:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.compiled:
            return F.scaled_dot_product_attention(q, keys, values, attn_mask=torch.arange(self.length)[None] <= places[:, None])
        return F.scaled_dot_product_attention(q, keys[:, :, :begin + 1], values[:, :, :begin + 1])

    def chosen(self, tokens, begin, places):
        logits = self.model.logits(tokens, lambda x, at: self.attended(x, at, begin, places), lambda x: x[:, -1])
        return logits.argmax(-1)

    @torch.inference_mode()
    def read(self, prompts):
        self.place = prompts.shape[1]
        with self.cast:
            return self.chosen(torch.from_numpy(prompts), 0, torch.arange(self.place))

    @torch.inference_mode()
    def step(self, tokens):
        begin, self.place = self.place, self.place + 1
        with self.cast:
            return self.following(tokens[:, None], 0 if self.compiled else begin, torch.tensor([begin]))


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
    trainer = Trainer(form, format, tokens, weights)
    peer.serve(trainer.step, lambda: Decoder(trainer.model, form == "compiled", trainer.cast))


if __name__ == "__main__":
    main()
