# SPDX-License-Identifier: Apache-2.0
"""Halftone beside PyTorch, cuBLAS and cuBLASLt on one GPU, taking turns.

compare.py BENCH FOLDER [--seconds N] [--only PART,...] [--rehearse]
BENCH is the program of bench.cpp; results.json and results.md go into FOLDER after every table. Exit status 77 when nothing was
measured.

Every comparison is made in rounds; in each round every contender is timed once. A ratio is Halftone's time over the
peer's in the same round: below 1 Halftone is faster. Its median, smallest and largest over the rounds are printed.
Kernels are timed by the device's events around graphs of up to 20 of them, warm: what fits the L2 cache stays there. Training steps
are timed by the host's clock.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

from peers import Peers, gpt2_step, lazily, small_step
from results import HALFTONE, LEAST_SECONDS, PartIsLate, Results, spread

SKIPPED = 77  # exit status
# In the order of importance, and the most seconds of each.
PARTS = {"linear": 50, "gemm": 60, "norm": 45, "entropy": 40, "adamw": 25, "steps": 130, "attention": 40, "gpt2": 120,
         "first": 60, "conv": 30}


class Bench:
    """The program of bench.cpp, asked line by line; started again where a fault of the GPU ended it."""

    def __init__(self, program):
        self.program, self.process = program, None

    def ask(self, *words):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.restart()
        if not line.startswith("ok"):
            raise RuntimeError(line.strip() or "bench ended without an answer")
        return line[2:].strip()

    def seconds(self, *words):
        return float(self.ask(*words))

    def restart(self):
        """A GPU that met a fault stays unusable for the process that met it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def launches(self, model, program, sizes, *wanted, phase=""):
        """Sites of these launches, "forward/1+forward/2", and their bytes. wanted: kernels' names; "mix*": whatever has that in it."""
        chosen = []
        for word in self.ask("launches", model, program, sizes).split():
            site, size, kernel = word.split(",")
            if not site.startswith(phase):
                continue
            if any(name[:-1] in kernel if name.endswith("*") else kernel == name or kernel.endswith("_" + name) for name in wanted):
                chosen.append((site, int(size)))
        if not chosen:
            raise RuntimeError(f"{model} has no launch of {', '.join(wanted)}")
        return "+".join(site for site, _ in chosen), sum(size for _, size in chosen)

    def timed(self, model, program, sizes, *wanted, phase=""):
        """Seconds of these launches together, as a function of count, and their bytes."""
        sites, size = self.launches(model, program, sizes, *wanted, phase=phase)
        return lambda count: self.seconds("launch", model, program, sizes, sites, count), size


def linear(bench, peers, results, rehearse, _program):
    """bias + GELU + cast behind a product, bf16 in and out, f32 sums."""
    for batch in [16] if rehearse else [4096, 512]:
        ours, _ = bench.timed("bench_linear", "inference", batch, "inference_fc")
        contenders = {HALFTONE: ours}
        if peers.torch:
            torch, features = peers.torch, 4096
            x = torch.rand(batch, features, device=peers.device).to(torch.bfloat16) * 2 - 1
            w = torch.rand(features, features, device=peers.device).to(torch.bfloat16) * 0.06 - 0.03
            b = torch.rand(features, device=peers.device).to(torch.bfloat16)

            def eager(x=x, w=w, b=b):
                return torch.nn.functional.gelu(torch.nn.functional.linear(x, w, b), approximate="tanh")

            contenders["cuBLASLt, bias and GELU in its epilogue"] = peers.timed(
                lambda x=x, w=w, b=b: torch._addmm_activation(b, x, w.t(), use_gelu=True))
            contenders["torch eager"] = peers.timed(eager)
            contenders["torch.compile"] = peers.timed(peers.compiled(eager))
        results.compare(f"linear 4096 to 4096, bias, GELU, bf16, batch {batch}", contenders, operations=2 * batch * 4096 * 4096)
        peers.forget()
    bench.ask("forget")


def product(bench, peers, results, model, batch, layer, outputs, inputs):
    """A linear layer with bias and nothing else: forward, its input's gradient, its weight's with the bias's."""
    kernels = {"": layer, ", gradient of the input": f"{layer}_input_gradient", ", gradient of weight and bias": f"{layer}_weight_gradient"}
    others = {each: {} for each in kernels}
    if peers.torch:
        torch = peers.torch
        x, w, g, b = (torch.rand(shape, device=peers.device).to(torch.bfloat16) - 0.5
                      for shape in ((batch, inputs), (outputs, inputs), (batch, outputs), (outputs,)))
        others[""] = {"cuBLAS, torch linear with bias": lambda: torch.nn.functional.linear(x, w, b),
                      "cuBLAS, torch.mm without bias": lambda: torch.mm(x, w.t())}
        others[", gradient of the input"] = {"cuBLAS, torch.mm": lambda: torch.mm(g, w)}
        others[", gradient of weight and bias"] = {
            "cuBLAS, torch.mm and sum (bf16)": lambda: (torch.mm(g.t(), x), g.sum(0)),
            "cuBLAS, torch.mm without the bias's (bf16)": lambda: torch.mm(g.t(), x)}
    for each, kernel in kernels.items():
        ours, _ = bench.timed(model, "training", batch, kernel)
        contenders = {HALFTONE: ours, **{who: peers.timed(body) for who, body in others[each].items()}}
        results.compare(f"{batch} rows, {inputs} to {outputs}, bf16{each}", contenders, operations=2 * batch * outputs * inputs)
        peers.forget()


def attempt_shape(bench, results, what, action):
    """One shape of a part; where it fails the others are still wanted."""
    try:
        action()
    except Exception as error:
        results.fail(what, error)
        bench.restart()


def gemm(bench, peers, results, rehearse, _program):
    square = [("gemm_4096", 4096, "fc", 4096, 4096), ("gemm_8192", 8192, "fc", 8192, 8192)]
    batch = 16 if rehearse else 16384
    of_gpt2 = [("gemm_gpt2", batch, *layer) for layer in (
        ("qkv", 2304, 768), ("join", 768, 768), ("up", 3072, 768), ("down", 768, 3072))]
    for shape in of_gpt2[1:2] if rehearse else square + of_gpt2:
        attempt_shape(bench, results, f"{shape[0]} {shape[2]}", lambda shape=shape: product(bench, peers, results, *shape))
        if shape in square:
            bench.ask("forget")
    bench.ask("forget")


def norm(bench, peers, results, rehearse, _program):
    batch = 8 if rehearse else 16384
    forward, forward_bytes = bench.timed("bench_norm", "inference", batch, "inference_norm")
    backward, backward_bytes = bench.timed("bench_norm", "training", batch, "norm_gradient", "norm_weight_gradient")
    forward_peers, backward_peers = {HALFTONE: forward}, {HALFTONE: backward}
    if peers.torch:
        torch = peers.torch
        x = torch.rand(batch, 4096, device=peers.device).to(torch.bfloat16).requires_grad_()
        w = torch.ones(4096, device=peers.device, dtype=torch.bfloat16).requires_grad_()
        b = torch.zeros(4096, device=peers.device, dtype=torch.bfloat16).requires_grad_()
        g = torch.rand(batch, 4096, device=peers.device).to(torch.bfloat16)

        def layer_norm():
            return torch.nn.functional.layer_norm(x, (4096,), w, b, 1e-5)

        for who, function in (("torch eager", layer_norm), ("torch.compile", peers.compiled(layer_norm))):

            def no_gradient(function=function):
                with torch.no_grad():
                    return function()

            forward_peers[who] = peers.timed(no_gradient)
            try:
                y = function()
            except Exception as error:  # Halftone is measured all the same
                results.skip(f"layer norm backward, {who}", error)
                continue
            backward_peers[who] = peers.timed(lambda y=y: torch.autograd.grad(y, (x, w, b), g, retain_graph=True))
    shape, array = f"layer norm, {batch} x 4096 bf16", 2 * batch * 4096
    results.compare(shape + ", forward", forward_peers, forward_bytes, 2 * array)  # x read, y written
    results.compare(shape + ", backward", backward_peers, backward_bytes, 3 * array)  # x and g read, dx written
    bench.ask("forget")


def cross_entropy(bench, peers, results, rehearse, _program):
    batch = 4 if rehearse else 4096
    ours, size = bench.timed("bench_entropy", "training", batch, "xent")
    contenders = {HALFTONE: ours}
    if peers.torch:
        torch = peers.torch
        logits = torch.rand(batch, 32000, device=peers.device).to(torch.bfloat16).requires_grad_()
        labels = torch.randint(10, (batch,), device=peers.device)

        def loss():
            return torch.nn.functional.cross_entropy(logits.float(), labels)

        for who, function in (("torch eager", loss), ("torch.compile", peers.compiled(loss))):
            contenders[who] = peers.timed(lambda function=function: torch.autograd.grad(function(), logits))
    results.compare(f"cross-entropy, {batch} x 32000 bf16, forward and backward", contenders, size,
                    2 * 2 * batch * 32000)  # logits read, gradient written
    bench.ask("forget")


def adamw(bench, peers, results, rehearse, _program):
    if rehearse:
        results.skip("AdamW", "too large for a simulated device")
        return
    ours, size = bench.timed("bench_adamw", "training", 32, "update")
    contenders = {HALFTONE: ours}
    if peers.torch:
        torch = peers.torch
        shapes = [(4096, 4096)] * 4 + [(16, 4096)]
        parameters = [torch.rand(shape, device=peers.device).requires_grad_() for shape in shapes]
        copies = [torch.empty(shape, device=peers.device, dtype=torch.bfloat16) for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.rand_like(parameter)
        fused = torch.optim.AdamW(parameters, fused=peers.on_gpu, capturable=peers.on_gpu)

        def with_copies():
            fused.step()
            with torch.no_grad():
                torch._foreach_copy_(copies, parameters)

        contenders["torch AdamW, fused (no bf16 copy)"] = peers.timed(fused.step)
        contenders["torch AdamW, fused, and bf16 copies"] = peers.timed(with_copies)
    results.compare("AdamW, 67,174,400 parameters, with a bf16 copy", contenders, size,
                    30 * 67174400)  # gradient, master, two moments read; the last three and the copy written
    bench.ask("forget")


def steps(bench, peers, results, rehearse, _program):
    for rules in ("bf16", "f16", "f32"):
        for name, batch in {"mlp": 16 if rehearse else 128, "digits": 32}.items():
            model = f"{name}_{rules}"
            contenders = {HALFTONE: lambda n, model=model, batch=batch: bench.seconds("step", model, batch, n)}
            if peers.torch:

                def peer(mode, graph=False, name=name, rules=rules, batch=batch):
                    def make():
                        made = small_step(peers, name, rules, batch, mode)
                        return peers.host_timed(made.as_graph() if graph else made.step)

                    return lazily(make)

                contenders["torch eager AMP"] = peer("eager")
                contenders["torch.compile, AMP"] = peer("compiled")
                if peers.on_gpu:
                    contenders["torch.compile, AMP, the whole step one CUDA graph"] = peer("compiled", True)
                    contenders["torch eager AMP, the whole step one CUDA graph"] = peer("eager", True)
                    if rules == "bf16":
                        contenders["torch.compile, AMP, reduce-overhead"] = peer("reduce-overhead")
            title = "64-128-64-10 (digits)" if name == "digits" else "784-512-512-10"
            results.compare(f"training step, {title}, {rules}, batch {batch}", contenders, round_seconds=0.05)
            peers.forget()
    bench.ask("forget")


def attention_of(bench, peers, results, batch, times, heads, head):
    model, sizes = f"attention_{head}", f"batch={batch},time={times}"
    shape = f"causal attention, {batch} x {times} x {heads} heads of {head}, bf16"
    forward_peers, backward_peers = {}, {}
    for contenders, program, phase in ((forward_peers, "inference", "forward"), (backward_peers, "training", "backward")):
        contenders[HALFTONE] = bench.timed(model, program, sizes, "mix*", phase=phase)[0]
    if peers.torch:
        torch, who = peers.torch, "torch scaled_dot_product_attention"
        q, k, v = ((torch.rand(batch, times, heads * head, device=peers.device) - 0.5).to(torch.bfloat16)
                   .view(batch, times, heads, head).transpose(1, 2).requires_grad_() for _ in range(3))
        g = (torch.rand(batch, heads, times, head, device=peers.device) - 0.5).to(torch.bfloat16)

        def forward():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

        def no_gradient():
            with torch.no_grad():
                return forward()

        y = forward()
        forward_peers[who] = peers.timed(no_gradient)
        backward_peers[who] = peers.timed(lambda: torch.autograd.grad(y, (q, k, v), g, retain_graph=True))
    operations = 2 * batch * heads * times * times * head  # two products, half of each
    results.compare(shape, forward_peers, operations=operations)
    results.compare(shape + ", backward", backward_peers, operations=2.5 * operations)


def attention(bench, peers, results, rehearse, _program):
    """What there is between the projections and the next product: today's kernels copy heads, and keep the scores."""
    for times in (64,) if rehearse else (1024, 2048, 4096):
        for head in (64, 128):
            attempt_shape(bench, results, f"attention, {times}, head of {head}",
                          lambda times=times, head=head: attention_of(bench, peers, results, 1 if rehearse else 8, times, 16, head))
            bench.ask("forget")
            peers.forget()


def gpt2(bench, peers, results, rehearse, _program):
    batch, times = (1, 8) if rehearse else (8, 1024)
    made = {}
    if peers.torch:

        def peer(mode, graph=False):
            def make():
                made[mode] = made.get(mode) or gpt2_step(peers, batch, times, mode)
                return peers.host_timed(made[mode].as_graph() if graph else made[mode].step)

            return lazily(make)

        contenders = {"torch eager AMP": peer("eager"), "torch.compile, AMP": peer("compiled")}
        if peers.on_gpu:
            contenders["torch.compile, AMP, the whole step one CUDA graph"] = peer("compiled", True)
    else:
        contenders = {}
    if rehearse:  # the peers alone
        for who, seconds in contenders.items():
            print(f"  a GPT-2 of one block, {who}: {seconds(1):.2f} s", flush=True)
        results.skip("GPT-2", "too large for a simulated device")
        return
    ours = {HALFTONE: lambda count: bench.seconds("step", "gpt2", f"batch={batch},times={times}", count)}
    results.compare(f"training step, GPT-2 124M, bf16, {batch} x {times} words", {**ours, **contenders}, round_seconds=0.3, rounds=5,
                    operations=6 * batch * times * 124e6)
    bench.ask("forget")


def convolution(bench, peers, results, rehearse, _program):
    """3 x 3 of 128 channels to 128, 56 x 56, with bias: every launch of the layer."""
    batch = 1 if rehearse else 32
    forward, backward = ({HALFTONE: bench.timed("conv", program, batch, "mid*", phase=phase)[0]}
                         for program, phase in (("inference", "forward"), ("training", "backward")))
    if peers.torch:
        torch = peers.torch
        torch.backends.cudnn.benchmark = True
        x, w, g = ((torch.rand(shape, device=peers.device) - 0.5).to(torch.bfloat16, memory_format=torch.channels_last)
                   for shape in ((batch, 128, 56, 56), (128, 128, 3, 3), (batch, 128, 56, 56)))
        b = torch.rand(128, device=peers.device).to(torch.bfloat16)
        given = [each.requires_grad_() for each in (x, w, b)]

        def convolved():
            with torch.no_grad():
                return torch.nn.functional.conv2d(x, w, b, padding=1)

        y = torch.nn.functional.conv2d(x, w, b, padding=1)
        forward["cuDNN, torch conv2d, channels last"] = peers.timed(convolved)
        backward["cuDNN, torch conv2d, channels last"] = peers.timed(lambda: torch.autograd.grad(y, given, g, retain_graph=True))
    shape, operations = f"convolution 3 x 3, {batch} x 56 x 56, 128 to 128 channels, bf16", 2 * batch * 56 * 56 * 128 * 128 * 9
    results.compare(shape, forward, operations=operations)
    results.compare(shape + ", backward", backward, operations=2 * operations)
    bench.ask("forget")


def first_step(bench, peers, results, rehearse, program):
    """A fresh process each, nothing cached: from its start to the end of the first training step."""
    ours, inside, theirs, after_import = [], [], [], []
    if results.is_late("time to the first step"):
        return
    for number in range(1 if rehearse else 3):
        if number and results.seconds_left() < 25:
            break
        with tempfile.TemporaryDirectory() as cache:
            settings = {**os.environ, "XDG_CACHE_HOME": cache, "HALFTONE_CACHE_DIR": cache,
                        "TORCHINDUCTOR_CACHE_DIR": cache, "TRITON_CACHE_DIR": os.path.join(cache, "triton")}
            start = time.perf_counter()
            said = subprocess.run([program, "first", "digits_bf16", "32"], env=settings, check=True,
                                  capture_output=True, text=True)
            ours.append(time.perf_counter() - start)
            inside.append(float(said.stdout))
            if not peers.torch:
                continue
            start = time.perf_counter()
            said = subprocess.run([sys.executable, os.path.abspath(__file__), "--first-step", peers.device],
                                  env=settings, check=True, capture_output=True, text=True)
            theirs.append(time.perf_counter() - start)
            after_import.append(float(said.stdout.split()[-1]))
    rows = [{"who": HALFTONE, "microseconds": [1e6 * t for t in spread(ours)]},
            {"who": "Halftone, from main()", "microseconds": [1e6 * t for t in spread(inside)]}]
    if theirs:
        rows.append({"who": "torch.compile", "microseconds": [1e6 * t for t in spread(theirs)],
                     "ratio": spread([a / b for a, b in zip(ours, theirs)])})
        rows.append({"who": "torch.compile, without import", "microseconds": [1e6 * t for t in spread(after_import)],
                     "ratio": spread([a / b for a, b in zip(inside, after_import)])})
    results.add("time to the first step, digits, bf16, cold", rows)


def first_step_of_torch(device):
    peers = Peers(device == "cpu")
    start = time.perf_counter()
    small_step(peers, "digits", "bf16", 32, "compiled").step()
    peers.wait()
    print(time.perf_counter() - start)


def measure_bandwidth(bench, results, rehearse):
    """Bytes read and written in a second by copies on the device, of 1 GiB."""
    size, copies = (1 << 20, 2) if rehearse else (1 << 30, 20)
    bench.ask("copy", size, copies if rehearse else 1000)  # from an idle clock
    seconds = spread([bench.seconds("copy", size, copies) / copies for _ in range(results.rounds)])
    results.bandwidth = 2 * size / seconds[0]
    results.about["copy bandwidth, GB/s read and written"] = round(results.bandwidth / 1e9, 1)


FUNCTIONS = {"linear": linear, "gemm": gemm, "norm": norm, "entropy": cross_entropy, "adamw": adamw, "steps": steps,
             "attention": attention, "gpt2": gpt2, "first": first_step, "conv": convolution}


def attempt(results, what, action):
    """What it returns; None, and why, where it fails or its time is up: the rest is still wanted."""
    try:
        return action()
    except PartIsLate:
        results.skip(f"{what}, the rest of it", "the time of this part is used up")
    except Exception as error:
        results.fail(what, error)
    return None


def limited(results, what, seconds, action):
    """attempt(), stopped when its time is up."""

    def measure():
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            action()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    attempt(results, what, measure)


def run_part(name, bench, peers, results, options):
    """Inside its own limit, and stopped there."""
    limit = min(PARTS[name], results.end - time.monotonic())
    if options.rehearse:
        limit = 10 * PARTS[name] + 3600
    elif limit < LEAST_SECONDS:
        results.skip(name, "the time of this run is used up")
        return
    results.part_end = time.monotonic() + limit
    print(f"--- {name}, {results.now()} after the start, {limit:.0f} s at most", flush=True)
    results.state(f"start of {name}")
    skips = len(results.skipped)
    limited(results, name, limit + 2, lambda: FUNCTIONS[name](bench, peers, results, options.rehearse, options.bench))
    attempt(results, name, peers.forget)
    results.state(f"end of {name}")
    if len(results.skipped) > skips:
        bench.restart()


def main(options):
    def late(*_):
        raise PartIsLate()

    signal.signal(signal.SIGALRM, late)
    results = Results(options.folder, 2 if options.rehearse else 11, options.seconds, options.rehearse)
    peers = Peers(options.rehearse)
    if peers.why:
        results.skip("every peer", peers.why)
    bench = Bench(options.bench)
    device = attempt(results, "everything", lambda: bench.ask("device"))
    if device is None:
        return 1
    results.about = {"device": device, "torch": peers.torch.__version__ if peers.torch else "none"}
    print(f"{device}; {results.now()} after the start", flush=True)
    limited(results, "copy bandwidth", 20, lambda: measure_bandwidth(bench, results, options.rehearse))
    if not results.bandwidth:
        bench.restart()
    for name in PARTS:
        if not options.only or name in options.only:
            run_part(name, bench, peers, results, options)
    results.write()
    for key, value in results.about.items():
        print(f"{key}: {value}")
    print(f"written: {options.folder}/results.json, {options.folder}/results.md after {results.now()}; {len(results.skipped)} skipped")
    if results.failed:
        return 1
    return 0 if results.tables else SKIPPED


def parts_list(text):
    """"linear,norm" as a list."""
    chosen = text.split(",")
    for name in chosen:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"there is no part '{name}'; choose of {', '.join(PARTS)}")
    return chosen


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first-step"]:
        first_step_of_torch(sys.argv[2])
        sys.exit(0)
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--only", type=parts_list)
    parser.add_argument("--rehearse", action="store_true")
    sys.exit(main(parser.parse_args()))
