# SPDX-License-Identifier: Apache-2.0
"""Halftone beside PyTorch and cuBLASLt on one GPU, taking turns.

compare.py BENCH FOLDER [--seconds N] [--only PART,...] [--rehearse]
BENCH is the program of bench.cpp; results.json and results.md go into FOLDER. Exit status 77 when nothing was measured.

Every comparison is made in rounds; in each round every contender is timed once. A ratio is Halftone's time over the
peer's in the same round: below 1 Halftone is faster. Its median, smallest and largest over the rounds are printed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HALFTONE = "Halftone"
SKIPPED = 77  # exit status
PARTS = ("linear", "norm", "entropy", "adamw", "steps", "first")
LEAST_SECONDS = 30  # left, under which no table is started
LEAST_ROUNDS = 3


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

    def launches(self, model, program, batch):
        """[(site, bytes, kernel)]"""
        found = []
        for word in self.ask("launches", model, program, batch).split():
            site, size, kernel = word.split(",")
            found.append((site, int(size), kernel))
        return found


class Peers:
    """PyTorch, or why it is not used."""

    def __init__(self, rehearse):
        self.torch, self.why, self.device = None, "", "cuda"
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
        elif rehearse:
            self.torch, self.device = torch, "cpu"
        else:
            self.why = "PyTorch sees no GPU"

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def timed(self, body):
        """Seconds of `count` calls of body, as a function of count."""

        def seconds(count):
            body()
            self.wait()
            start = time.perf_counter()
            for _ in range(count):
                body()
            self.wait()
            return time.perf_counter() - start

        return seconds

    def compiled(self, function):
        return function if self.device == "cpu" else self.torch.compile(function)


def lazily(make):
    """A contender that is made when it is first timed, so that its failure is its own."""
    made = []

    def seconds(count):
        if not made:
            made.append(make())
        return made[0](count)

    return seconds


class Results:
    def __init__(self, folder, rounds, seconds):
        self.folder, self.rounds, self.tables, self.skipped, self.about = folder, rounds, [], [], {}
        self.failed = 0  # of what is Halftone's own
        self.end = time.monotonic() + seconds

    def seconds_left(self):
        return self.end - time.monotonic()

    def is_late(self, what):
        """Whether there is too little time left to start this, which is then named as skipped."""
        if self.seconds_left() >= LEAST_SECONDS:
            return False
        self.skip(what, "the time of this run is used up")
        return True

    def skip(self, what, why):
        print(f"skipped {what}: {why}", flush=True)
        self.skipped.append({"what": what, "why": str(why)})

    def fail(self, what, why):
        self.failed += 1
        self.skip(what, f"FAILED: {why}")

    def compare(self, name, contenders, count, byte_count=0, bandwidth=0.0):
        """contenders: {name: seconds of count calls, as a function of count}. The first is Halftone."""
        if self.is_late(name):
            return
        times = {}
        for who, seconds in list(contenders.items()):
            if who != HALFTONE and self.is_late(f"{name}, {who}"):
                continue
            try:
                seconds(1)
                times[who] = []
            except Exception as error:  # a peer that cannot run this must not end the rest
                if who == HALFTONE:
                    self.fail(f"{name}, {who}", error)
                    return
                self.skip(f"{name}, {who}", error)
        order = list(times)
        for number in range(self.rounds):
            if number >= LEAST_ROUNDS and self.seconds_left() < LEAST_SECONDS:
                print(f"{name}: {number} rounds, since the time of this run is used up", flush=True)
                break
            for who in order[number % len(order):] + order[: number % len(order)]:
                times[who].append(contenders[who](count) / count)
        rows = []
        for who in order:
            row = {"who": who, "microseconds": [1e6 * t for t in spread(times[who])]}
            if who != HALFTONE:
                row["ratio"] = spread([ours / theirs for ours, theirs in zip(times[HALFTONE], times[who])])
            elif byte_count:
                row["of copy bandwidth"] = (
                    spread([byte_count / t / bandwidth for t in times[who]]) if bandwidth else None
                )
                row["bytes"] = byte_count
            rows.append(row)
        self.tables.append({"name": name, "rows": rows})
        print(table_text(self.tables[-1]), flush=True)
        self.write()

    def add(self, name, rows):
        self.tables.append({"name": name, "rows": rows})
        print(table_text(self.tables[-1]), flush=True)
        self.write()

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "results.json"), "w") as file:
            json.dump({"tables": self.tables, "skipped": self.skipped, **self.about}, file, indent=1)
        with open(os.path.join(self.folder, "results.md"), "w") as file:
            for key, value in self.about.items():
                file.write(f"{key}: {value}  \n")
            file.write("\n| what | who | microseconds | Halftone over it | of copy bandwidth |\n|---|---|---|---|---|\n")
            for table in self.tables:
                file.write(table_text(table) + "\n")
            for each in self.skipped:
                file.write(f"\nSkipped {each['what']}: {each['why']}\n")


def spread(values):
    """Median, smallest, largest."""
    return [statistics.median(values), min(values), max(values)]


def spread_text(values, digits):
    if not values:
        return ""
    middle, low, high = values
    if low > high:
        low, high = high, low
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table_text(table):
    lines = []
    for row in table["rows"]:
        lines.append(
            f"| {table['name']} | {row['who']} | {spread_text(row['microseconds'], 1)} "
            f"| {spread_text(row.get('ratio'), 3)} | {spread_text(row.get('of copy bandwidth'), 3)} |"
        )
    return "\n".join(lines)


def launches_of(bench, model, program, batch, *wanted):
    """Seconds of these launches together, as a function of count, and their bytes. `wanted`: kernels' names."""
    chosen = []
    for site, size, kernel in bench.launches(model, program, batch):
        if any(kernel == name or kernel.endswith("_" + name) for name in wanted):
            chosen.append((site, size))
    if not chosen:
        raise RuntimeError(f"{model} has no launch of {', '.join(wanted)}")

    def seconds(count):
        return sum(bench.seconds("launch", model, program, batch, site, count) for site, _ in chosen)

    return seconds, sum(size for _, size in chosen)


def linear(bench, peers, results, sizes, rounds_of):
    """bias + GELU + cast behind a product, bf16 in and out, f32 sums."""
    for batch in sizes:
        ours, _ = launches_of(bench, "bench_linear", "inference", batch, "inference_fc")
        contenders = {HALFTONE: ours}
        if peers.torch:
            torch, features = peers.torch, 4096
            x = torch.rand(batch, features, device=peers.device).to(torch.bfloat16) * 2 - 1
            w = torch.rand(features, features, device=peers.device).to(torch.bfloat16) * 0.06 - 0.03
            b = torch.rand(features, device=peers.device).to(torch.bfloat16)

            def eager():
                return torch.nn.functional.gelu(torch.nn.functional.linear(x, w, b), approximate="tanh")

            compiled = peers.compiled(eager)
            contenders["cuBLASLt, bias and GELU in its epilogue"] = peers.timed(
                lambda: torch._addmm_activation(b, x, w.t(), use_gelu=True))
            contenders["torch eager"] = peers.timed(eager)
            contenders["torch.compile"] = peers.timed(compiled)
        results.compare(f"linear 4096 to 4096, bias, GELU, bf16, batch {batch}", contenders, rounds_of(batch))
    bench.ask("forget")


def norm(bench, peers, results, batch, count, bandwidth):
    forward, forward_bytes = launches_of(bench, "bench_norm", "inference", batch, "inference_norm")
    backward, backward_bytes = launches_of(bench, "bench_norm", "training", batch, "norm_gradient", "norm_weight_gradient")
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
    shape = f"layer norm, {batch} x 4096 bf16"
    results.compare(shape + ", forward", forward_peers, count, forward_bytes, bandwidth)
    results.compare(shape + ", backward", backward_peers, count, backward_bytes, bandwidth)
    bench.ask("forget")


def cross_entropy(bench, peers, results, batch, count, bandwidth):
    ours, size = launches_of(bench, "bench_entropy", "training", batch, "xent")
    contenders = {HALFTONE: ours}
    if peers.torch:
        torch = peers.torch
        logits = torch.rand(batch, 32000, device=peers.device).to(torch.bfloat16).requires_grad_()
        labels = torch.randint(10, (batch,), device=peers.device)

        def loss():
            return torch.nn.functional.cross_entropy(logits.float(), labels)

        for who, function in (("torch eager", loss), ("torch.compile", peers.compiled(loss))):
            contenders[who] = peers.timed(lambda function=function: torch.autograd.grad(function(), logits))
    results.compare(f"cross-entropy, {batch} x 32000 bf16, forward and backward", contenders, count, size, bandwidth)
    bench.ask("forget")


def adamw(bench, peers, results, count, bandwidth):
    ours, size = launches_of(bench, "bench_adamw", "training", 32, "update")
    contenders = {HALFTONE: ours}
    if peers.torch:
        torch = peers.torch
        shapes = [(4096, 4096)] * 4 + [(16, 4096)]
        parameters = [torch.rand(shape, device=peers.device).requires_grad_() for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.rand_like(parameter)
        fused = torch.optim.AdamW(parameters, fused=peers.device == "cuda")
        contenders["torch AdamW, fused (no bf16 copy)"] = peers.timed(fused.step)
    results.compare("AdamW, 67,174,400 parameters, with a bf16 copy", contenders, count, size, bandwidth)
    bench.ask("forget")


def network(torch, name, device):
    nn = torch.nn
    if name == "digits":
        layers = [nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)]
    else:
        layers = [nn.Linear(784, 512), nn.GELU(approximate="none"), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10)]
    return nn.Sequential(*layers).to(device)


def torch_step(peers, name, rules, batch, compiled):
    """One training step of torch with inputs from the host, as a function without arguments."""
    torch = peers.torch
    features = 64 if name == "digits" else 784
    model = network(torch, name, peers.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1, fused=peers.device == "cuda")
    scaler = torch.amp.GradScaler(peers.device, enabled=rules == "f16")
    kind = {"f16": torch.float16, "bf16": torch.bfloat16}.get(rules, torch.bfloat16)
    x, labels = torch.rand(batch, features), torch.randint(10, (batch,))

    def loss_of(pixels, digits):
        with torch.autocast(peers.device, dtype=kind, enabled=rules != "f32"):
            return torch.nn.functional.cross_entropy(model(pixels), digits)

    forward = peers.compiled(loss_of) if compiled else loss_of

    def step():
        pixels, digits = x.to(peers.device, non_blocking=True), labels.to(peers.device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(forward(pixels, digits)).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def steps(bench, peers, results, batches, count):
    for name, batch in batches.items():
        for rules in ("f32", "bf16", "f16"):
            model = f"{name}_{rules}"
            contenders = {HALFTONE: lambda n, model=model: bench.seconds("step", model, batch, n)}
            if peers.torch:
                for who, compiled in (("torch eager AMP", False), ("torch.compile, AMP", True)):
                    contenders[who] = lazily(
                        lambda name=name, rules=rules, batch=batch, compiled=compiled: peers.timed(
                            torch_step(peers, name, rules, batch, compiled)))
            title = "64-128-64-10 (digits)" if name == "digits" else "784-512-512-10"
            results.compare(f"training step, {title}, {rules}, batch {batch}", contenders, count)
    bench.ask("forget")


def first_step(program, peers, results, rounds):
    """A fresh process each, nothing cached: from its start to the end of the first training step."""
    ours, inside, theirs, after_import = [], [], [], []
    if results.is_late("time to the first step"):
        return
    for number in range(rounds):
        if number and results.seconds_left() < LEAST_SECONDS:
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
    torch_step(peers, "digits", "bf16", 32, True)()
    peers.wait()
    print(time.perf_counter() - start)


def measure_bandwidth(bench, results, size, copies):
    """Bytes read and written in a second by copies of `size` bytes on the device."""
    seconds = spread([bench.seconds("copy", size, copies) / copies for _ in range(results.rounds)])
    bandwidth = 2 * size / seconds[0]
    results.about["copy bandwidth, GB/s read and written"] = round(bandwidth / 1e9, 1)
    return bandwidth


def parts_of(program, bench, peers, results, rehearse, bandwidth):
    """Name to function; tiny sizes in a rehearsal."""
    return {
        "linear": lambda: linear(bench, peers, results, [16] if rehearse else [4096, 512],
                                 lambda batch: 1 if rehearse else 50 if batch > 1024 else 200),
        "norm": lambda: norm(bench, peers, results, 8 if rehearse else 16384, 1 if rehearse else 50, bandwidth),
        "entropy": lambda: cross_entropy(bench, peers, results, 4 if rehearse else 4096, 1 if rehearse else 50, bandwidth),
        "adamw": lambda: adamw(bench, peers, results, 20, bandwidth),
        "steps": lambda: steps(bench, peers, results, {"digits": 32, "mlp": 16 if rehearse else 128},
                               2 if rehearse else 200),
        "first": lambda: first_step(program, peers, results, 1 if rehearse else 3),
    }


def attempt(results, what, action):
    """What it returns; None, and why, where it fails: the rest is still wanted."""
    try:
        return action()
    except Exception as error:
        results.fail(what, error)
        return None


def main(options):
    peers = Peers(options.rehearse)
    results = Results(options.folder, 2 if options.rehearse else 11, options.seconds)
    if peers.why:
        results.skip("every peer", peers.why)
    bench = Bench(options.bench)
    device = attempt(results, "everything", lambda: bench.ask("device"))
    if device is None:
        return 1
    results.about = {"device": device, "torch": peers.torch.__version__ if peers.torch else "none"}
    print(device, flush=True)
    size, copies = (1 << 20, 2) if options.rehearse else (1 << 30, 20)
    bandwidth = attempt(results, "copy bandwidth", lambda: measure_bandwidth(bench, results, size, copies)) or 0.0
    for name, part in parts_of(options.bench, bench, peers, results, options.rehearse, bandwidth).items():
        if options.only and name not in options.only:
            continue
        if options.rehearse and name == "adamw":
            results.skip("AdamW", "too large for a simulated device")
            continue
        failures = len(results.skipped)
        attempt(results, name, part)
        if len(results.skipped) > failures:
            bench.restart()
    results.write()
    for key, value in results.about.items():
        print(f"{key}: {value}")
    print(f"written: {options.folder}/results.json, {options.folder}/results.md; {len(results.skipped)} skipped")
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
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--only", type=parts_list)
    parser.add_argument("--rehearse", action="store_true")
    sys.exit(main(parser.parse_args()))
