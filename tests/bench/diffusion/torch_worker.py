# SPDX-License-Identifier: Apache-2.0
"""torch_worker.py eager|again|compiled f32|bf16 THREADS FOLDER: examples/diffusion/diffusion.hpp in torch, from the weights and on the batches
that diffusion_worker wrote to a folder; in bf16 as its autocast does it. Images have their channels first, in torch's channels_last
memory, so that its convolutions read them as they lie. "again" is eager with other last digits: in f32 convolutions by torch's own code in
place of oneDNN's, which adds in another order; in bf16, where that code takes minutes a step, weights one unit in their last place away.
Answers lines as diffusion_worker does."""

import contextlib
import math
import pathlib
import sys
import time

import numpy
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

BATCH, FRAMES, GROUPS, HEADS, LEVEL_COLUMNS = 4, 16, 8, 4, 64
RATE, BETA1, BETA2, EPSILON, DECAY, CLIP = 1e-3, 0.9, 0.99, 1e-8, 0.01, 1.0
WARM_UP, STEPS, LEAST = 100, 2000, 0.1
INPUTS = ("noised", "level", "clip_share", "noise_share", "noise")


class UNet:
    """x is [clips * frames, channels, height, width]: convolutions over places see frames by themselves."""

    def __init__(self, weights):
        self.weights = {name: torch.nn.Parameter(value) for name, value in load_file(weights).items()}

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def places(self, x, name):
        """A window of k x k places; weights lie as [outputs, k, k, channels]."""
        weight = self.weights[name + ".weight"].permute(0, 3, 1, 2)
        return F.conv2d(x, weight, self.weights[name + ".bias"], padding=weight.shape[2] // 2)

    def frames(self, x, name):
        """A window of 3 frames at every place; weights lie as [outputs, 3, 1, 1, channels]."""
        clips = x.unflatten(0, (-1, FRAMES)).transpose(1, 2)
        weight = self.weights[name + ".weight"].permute(0, 4, 1, 2, 3)
        y = F.conv3d(clips, weight, self.weights[name + ".bias"], padding=(1, 0, 0))
        return y.transpose(1, 2).flatten(0, 1)

    def norm(self, x, name):
        """Of all frames of a clip together."""
        clips = x.unflatten(0, (-1, FRAMES)).transpose(1, 2)
        y = F.group_norm(clips, GROUPS, self.weights[name + ".weight"], self.weights[name + ".bias"], 1e-5)
        return y.transpose(1, 2).flatten(0, 1)

    def block(self, x, level, at):
        y = self.places(F.silu(self.norm(x, at + "/norm1")), at + "/places")
        y = y + self.linear(level, at + "/level").repeat_interleave(FRAMES, 0)[:, :, None, None]
        return x + self.frames(F.silu(self.norm(y, at + "/norm2")), at + "/frames")

    def attended(self, x, at):
        """Of x [sequences, members, channels]."""
        q, k, v = (self.linear(x, f"{at}/{name}").unflatten(-1, (HEADS, -1)).transpose(1, 2) for name in ("query", "key", "value"))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.linear(y.transpose(1, 2).flatten(-2), at + "/join")

    def over_places(self, x, at="over_places"):
        y = self.norm(x, at + "/norm").flatten(2).transpose(1, 2)
        return x + self.attended(y, at).transpose(1, 2).unflatten(2, x.shape[2:])

    def over_frames(self, x, at="over_frames"):
        y = self.norm(x, at + "/norm").unflatten(0, (-1, FRAMES)).permute(0, 3, 4, 1, 2)
        clips, height, width = y.shape[:3]
        y = self.attended(y.flatten(0, 2) + self.weights[at + "/seen.weight"], at)
        return x + y.unflatten(0, (clips, height, width)).permute(0, 3, 4, 1, 2).flatten(0, 1)

    def level(self, level):
        """Of levels [clips]; sines stand in even columns, cosines in odd ones."""
        pairs = torch.arange(LEVEL_COLUMNS // 2, dtype=torch.float64)
        angles = level[:, None].double() * 10000.0 ** (-pairs / len(pairs))
        waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()
        x = F.embedding(level, self.weights["table.weight"]) + waves
        return F.silu(self.linear(F.silu(self.linear(x, "level1")), "level2"))

    def loss(self, noised, level, clip_share, noise_share, noise):
        level = self.level(level)
        x = noised.flatten(0, 1).permute(0, 3, 1, 2)  # channels last in memory
        down32 = self.block(self.places(x, "stem"), level, "down32")
        down16 = self.block(self.places(F.avg_pool2d(down32, 2), "widen16"), level, "down16")
        x = self.block(self.places(F.avg_pool2d(down16, 2), "widen8"), level, "down8")
        x = self.block(self.over_frames(self.over_places(x)), level, "up8")
        x = torch.cat([F.interpolate(x, scale_factor=2), down16], 1)
        x = self.block(self.places(x, "narrow16"), level, "up16")
        x = torch.cat([F.interpolate(x, scale_factor=2), down32], 1)
        x = self.block(self.places(x, "narrow32"), level, "up32")
        x = self.places(F.silu(self.norm(x, "norm")), "head").permute(0, 2, 3, 1).unflatten(0, (-1, FRAMES))
        clip_share, noise_share = (share[:, None, None, None] for share in (clip_share, noise_share))
        return F.mse_loss(clip_share * x.float() + noise_share * noised, noise)


def rate(step):
    """The factor of diffusion.hpp's schedule: a warm-up, times a cosine's half wave down to LEAST."""
    wave = (1 + math.cos(math.pi * min(step / STEPS, 1))) / 2
    return min((step + 1) / WARM_UP, 1) * (LEAST + (1 - LEAST) * wave)


class Trainer:
    def __init__(self, form, format, folder):
        self.model = UNet(folder / "weights.safetensors")
        self.loss = torch.compile(self.model.loss) if form == "compiled" else self.model.loss
        self.cast = torch.autocast("cpu", torch.bfloat16) if format == "bf16" else contextlib.nullcontext()
        self.optimizer = torch.optim.AdamW(self.model.weights.values(), RATE, (BETA1, BETA2), EPSILON, DECAY, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, rate)
        self.inputs = [numpy.load(folder / f"{name}.npy", mmap_mode="r") for name in INPUTS]
        self.steps = 0

    def step(self):
        first = self.steps * BATCH % len(self.inputs[0])
        noised, level, *others = (torch.from_numpy(values[first:first + BATCH].copy()) for values in self.inputs)
        self.optimizer.zero_grad()
        with self.cast:
            loss = self.loss(noised, level.flatten().long(), *others)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.weights.values(), CLIP)
        self.optimizer.step()
        self.schedule.step()
        self.steps += 1
        return loss.item()


def disturb(weights, format):
    if format == "f32":
        torch.backends.mkldnn.set_flags(False)
        return
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in weights.values():
            towards = torch.where(torch.rand(weight.shape, generator=chance) < 0.5, -math.inf, math.inf)
            weight.copy_(torch.nextafter(weight, towards))


def peak_bytes():
    """The most memory that this process had at once."""
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def clips_per_second(step, seconds):
    start, steps = time.perf_counter(), 0
    while steps == 0 or time.perf_counter() - start < seconds:
        step()
        steps += 1
    return steps * BATCH / (time.perf_counter() - start)


def main():
    form, format, threads, folder = sys.argv[1:]
    torch.set_num_threads(int(threads))
    trainer = Trainer(form, format, pathlib.Path(folder))
    if form == "again":
        disturb(trainer.model.weights, format)
    for line in sys.stdin:
        what, *amount = line.split()
        if what == "losses":
            numbers = [trainer.step() for _ in range(int(amount[0]))]
        elif what == "speed":
            numbers = [clips_per_second(trainer.step, float(amount[0]))]
        else:
            numbers = [peak_bytes()]
        print("ok", *numbers, flush=True)


if __name__ == "__main__":
    main()
