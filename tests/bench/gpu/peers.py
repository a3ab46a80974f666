# SPDX-License-Identifier: Apache-2.0
"""PyTorch, as strong as it can be made: compiled for the shapes at hand, kernels timed by events around CUDA graphs, training steps
also as one graph."""

import gc
import time

COPIES = 20  # of a body in one graph, at most
GRAPH_SECONDS = 0.02  # that a graph of several takes, about, at most


class Peers:
    """PyTorch, or why it is not used."""

    def __init__(self, rehearse):
        self.torch, self.why, self.device, self.stream = None, "", "cuda", None
        try:
            import torch
        except ImportError as error:
            self.why = f"PyTorch: {error}"
            return
        try:  # without this a compiled function's backward may run once only
            import torch._functorch.config as compiled_backward

            compiled_backward.donated_buffer = False
        except (ImportError, AttributeError):
            pass
        if torch.cuda.is_available():
            self.torch = torch
            self.stream = torch.cuda.Stream()  # the default stream cannot be captured
            torch.cuda.set_stream(self.stream)
        elif rehearse:
            self.torch, self.device = torch, "cpu"
        else:
            self.why = "PyTorch sees no GPU"

    @property
    def on_gpu(self):
        return self.torch is not None and self.device == "cuda"

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def host_timed(self, body):
        """Seconds of `count` calls of body by the host's clock, as a function of count: how a training loop sees it."""

        def seconds(count):
            body()
            self.wait()
            start = time.perf_counter()
            for _ in range(count):
                body()
            self.wait()
            return time.perf_counter() - start

        return seconds

    def events(self, body, count):
        """Seconds of `count` calls of body on the stream, by the device."""
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        body()
        start.record()
        for _ in range(count):
            body()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3

    def captured(self, body, copies):
        """A CUDA graph of `copies` calls of body."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
            for _ in range(copies):
                body()
        return graph

    def timed(self, body):
        """Seconds of `count` calls of body by events around graphs of it, as a function of count; what cannot be captured is timed
        launch by launch, and says so."""
        if not self.on_gpu:
            return self.host_timed(body)
        graphs, said = [], []

        def capture():
            for _ in range(3):
                body()
            self.wait()
            each = self.events(body, 5) / 5
            copies = max(1, min(COPIES, int(GRAPH_SECONDS / each)))
            try:
                graphs.append((self.captured(body, copies), copies))
            except Exception as error:
                said.append(error)
                print(f"  not captured, so timed with the gaps between launches: {str(error)[:300]}", flush=True)
                self.wait()

        def seconds(count):
            if not graphs and not said:
                capture()
            if said:
                return self.events(body, count)
            graph, copies = graphs[0]
            replays = -(-count // copies)
            return self.events(graph.replay, replays) / replays / copies * count

        seconds.said = said
        return seconds

    def compiled(self, function, mode=None):
        if not self.on_gpu:
            return function
        return self.torch.compile(function, dynamic=False, mode=mode)

    def forget(self):
        """Of the last shape: compiled code and memory."""
        if self.torch is None:
            return
        gc.collect()
        if self.on_gpu:
            self.torch._dynamo.reset()
            self.torch.cuda.empty_cache()


def lazily(make):
    """A contender that is made when it is first timed, so that its failure is its own."""
    made = []

    def seconds(count):
        if not made:
            made.append(make())
        return made[0](count)

    return seconds


def network(torch, name, device):
    nn = torch.nn
    if name == "digits":
        layers = [nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)]
    else:
        layers = [nn.Linear(784, 512), nn.GELU(approximate="none"), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10)]
    return nn.Sequential(*layers).to(device)


def gpt2(torch, device, blocks=12, columns=768, words=50257):
    """GPT-2 as tests/bench/gpt2/gpt2.hpp has it; takes words, gives logits."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(columns), nn.LayerNorm(columns)
            self.qkv, self.join = nn.Linear(columns, 3 * columns), nn.Linear(columns, columns)
            self.fc, self.proj = nn.Linear(columns, 4 * columns), nn.Linear(4 * columns, columns)

        def forward(self, x):
            batch, times, _ = x.shape
            q, k, v = (each.view(batch, times, columns // 64, 64).transpose(1, 2)
                       for each in self.qkv(self.ln_1(x)).split(columns, dim=2))
            mix = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.join(mix.transpose(1, 2).reshape(batch, times, columns))
            return x + self.proj(nn.functional.gelu(self.fc(self.ln_2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(words, columns), nn.Embedding(1024, columns)
            self.blocks, self.ln_f = nn.ModuleList([Block() for _ in range(blocks)]), nn.LayerNorm(columns)
            nn.init.normal_(self.wte.weight, 0, 0.02)

        def forward(self, word):
            x = self.wte(word) + self.wpe.weight[: word.shape[1]]
            for block in self.blocks:
                x = block(x)
            return nn.functional.linear(self.ln_f(x), self.wte.weight)

    return Gpt2().to(device)


class TorchStep:
    """One training step with inputs from the host, pinned; step() is a function without arguments."""

    def __init__(self, peers, model, rules, inputs, mode="eager", clip=None, **optimizer):
        """mode: eager, compiled, or reduce-overhead."""
        torch = peers.torch
        self.peers, self.model, self.rules, self.clip, self.mode = peers, model, rules, clip, mode
        self.inputs = [each.pin_memory() if peers.on_gpu else each for each in inputs]
        self.optimizer = torch.optim.AdamW(model.parameters(), fused=peers.on_gpu, capturable=peers.on_gpu, **optimizer)
        self.scaler = torch.amp.GradScaler(peers.device, enabled=rules == "f16")
        self.kind = {"f16": torch.float16, "bf16": torch.bfloat16}.get(rules, torch.bfloat16)
        self.loss = self.loss_of
        if mode != "eager":
            self.loss = peers.compiled(self.loss_of, None if mode == "compiled" else mode)
        self.graph = None

    def loss_of(self, x, labels):
        torch = self.peers.torch
        # A graph keeps no casts of weights from one step to the next, and a step has each weight once.
        with torch.autocast(self.peers.device, dtype=self.kind, enabled=self.rules != "f32", cache_enabled=False):
            logits = self.model(x)
            return torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))

    def on_device(self, inputs):
        if self.mode == "reduce-overhead":
            self.peers.torch.compiler.cudagraph_mark_step_begin()
        self.scaler.scale(self.loss(*inputs)).backward()
        if self.clip:
            self.scaler.unscale_(self.optimizer)
            self.peers.torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.on_device([each.to(self.peers.device, non_blocking=True) for each in self.inputs])

    def as_graph(self):
        """The whole step captured; inputs are copied to where it reads them."""
        for _ in range(4):
            self.step()
        self.peers.wait()
        places = [each.to(self.peers.device) for each in self.inputs]
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = self.peers.captured(lambda: self.on_device(places), 1)

        def step():
            for place, given in zip(places, self.inputs):
                place.copy_(given, non_blocking=True)
            self.graph.replay()

        return step


def small_step(peers, name, rules, batch, mode="eager"):
    torch = peers.torch
    inputs = [torch.rand(batch, 64 if name == "digits" else 784), torch.randint(10, (batch,))]
    return TorchStep(peers, network(torch, name, peers.device), rules, inputs, mode, lr=3e-3, weight_decay=0.1)


def gpt2_step(peers, batch, times, mode="eager"):
    torch = peers.torch
    words = 50257 if peers.on_gpu else 97
    model = gpt2(torch, peers.device) if peers.on_gpu else gpt2(torch, peers.device, 1, 64, words)
    inputs = [torch.randint(words, (batch, times)) for _ in range(2)]
    return TorchStep(peers, model, "bf16", inputs, mode, clip=1.0, lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1)
