#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples under the presets of docs/presets, each seed beside the same seed in f32. Started by ./run, which builds and fetches what it needs.

The presets are the rules that docs/presets states, which tests hold to the headers; `halftonec --rules` compiles each example's model under
them. A run is a process of one worker; its result is a line of runs.jsonl, so that a search that is stopped loses the runs at hand alone.
The first table has means over the seeds that both have, and of the difference to f32 the mean and the standard deviation of that mean; the
second what `halftone explain` says of the artifacts.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
COSTS = """## Launches, casts and bytes

Of a step on a CPU: launches / casts / KiB that activations, their gradients and what lies between take of the arena / KiB of working copies / KiB of the optimizer's
states, histories of scales among them, as `halftone explain --json --symbols SIZES` says them.

"""
PAGE, TABLE = ROOT / "docs/benchmarks/presets.md", "## Table\n"
# Of each example: the text of its model in the build folder, its data, what is measured, the factor it is shown with, how many seeds, and
# the sizes of its symbols.
MODELS = {
    "digits": ("digits/digits_f32_model", "examples/digits/data/digits.csv", "right, %", 100, 5, "batch=32"),
    "letters": ("letters/letters_model", "examples/letters/data/letters.csv", "right, %", 100, 5, "batch=64"),
    "forecast": ("forecast/forecast_f32_model", "examples/forecast/data/sunspots.csv", "squared error", 1, 5, "batch=32"),
    "genome": ("genome/genome_function_model", "build/genome", "right, %", 100, 3, "batch=32"),
    "language": ("language/language_f32_model", "build/language", "loss, nats", 1, 2, "batch=8,time=128"),
}
F32, PAINTED = "f32", "tensorflow"  # the second's rules are painted for each model by a program
NOT_FOR_ALL = {"phase_trainer"}  # its presets are for models with stages: examples/forecast/phases.cpp


def presets():
    """Rules by preset, as the pages of docs/presets state them."""
    found = {F32: ["everywhere : store f32 compute f32"]}
    for page in sorted((ROOT / "docs/presets").glob("*.md")):
        if page.stem in NOT_FOR_ALL:
            continue
        for before, block in re.findall(r"([^\n]*)\n+```\n(.*?)```", page.read_text(), re.S):
            rules = block.strip().splitlines()
            if not all(re.match(r"(everywhere|where|paint)\b.*:", rule) for rule in rules):
                continue
            if not rules[0].startswith("everywhere"):
                continue  # what another choice puts in the place of a rule
            if not re.search(r"f16|f8|f4|follow", block):
                continue  # f32 by another name
            called = re.search(r"(\w+)`?(\(.*\))?`?:$", before.strip())
            name = called[1] if called else page.stem
            if name in found:  # with other arguments, of which the last is what differs
                name += "_" + re.findall(r"\w+", called[2])[-1]
            found[name] = rules
    found[PAINTED] = []
    return found


def rules_of(options, model, preset):
    if preset != PAINTED:
        return presets()[preset]
    painter = options.build / "tests/bench/presets/presets_painted"
    return subprocess.run([painter, text_of(options, model)], check=True, capture_output=True, text=True).stdout.splitlines()


def text_of(options, model):
    return options.build / "examples" / f"{MODELS[model][0]}.model" / f"{MODELS[model][0].split('/')[1]}.halftone"


def command_line():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--presets", nargs="+", choices=list(presets()), default=list(presets()))
    parser.add_argument("--seeds", type=int, help="of every model, instead of its own number")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no further run is begun")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once, each on one thread where there are several")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks/presets.md")
    parser.add_argument("--models-of", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    if F32 not in options.presets:
        options.presets.insert(0, F32)
    return options


def commit():
    git = ["git", "-C", str(ROOT)]
    said = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!docs/benchmarks"], capture_output=True).returncode != 0
    return (said.stdout.strip() or "unknown") + (" and changes" if changed else "")


class Runs:
    """runs.jsonl: results by model, preset, seed, digest of rules, and commit."""

    def __init__(self, file):
        self.file, self.done = file, {}
        for line in file.read_text().splitlines() if file.exists() else []:
            run = json.loads(line)
            self.done[self.key(run)] = run

    @staticmethod
    def key(run):
        return run["model"], run["preset"], run["seed"], run["rules"], run["commit"]

    def add(self, run):
        self.done[self.key(run)] = run
        with self.file.open("a") as file:
            file.write(json.dumps(run) + "\n")


def compiled(options, model, preset, rules):
    """The model under the preset as a shared object, or what halftonec says against it."""
    name = f"{model}_{preset}"
    stem = options.work / name
    stem.with_suffix(".rules").write_text("".join(f"rule {rule}\n" for rule in rules))
    halftonec = options.build / "codegen/halftonec"
    said = subprocess.run([halftonec, text_of(options, model), "--rules", stem.with_suffix(".rules"), "--targets", "cpu", "--without-diagnosis", "--object",
                           stem.with_suffix(".o")], capture_output=True, text=True)
    if said.returncode != 0:
        return None, said.stderr.strip().splitlines()[0]
    shared = stem.with_suffix(".so")
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-o", shared, stem.with_suffix(".o")], check=True)
    subprocess.run([halftonec, "--seal", shared], check=True)
    stem.with_suffix(".o").unlink()
    return shared, ""


def one_run(options, model, artifact, seed):
    worker = options.build / "tests/bench/presets" / f"presets_{model}"
    environment = dict(os.environ)
    if options.jobs > 1:
        environment["HALFTONE_THREADS"] = "1"
    begun = time.monotonic()
    said = subprocess.run([worker, artifact, str(seed), ROOT / MODELS[model][1]], capture_output=True, text=True, env=environment)
    result = json.loads(said.stdout) if said.returncode == 0 else {"value": None, "failed": said.stderr.strip()[-300:]}
    return {**result, "seconds": round(time.monotonic() - begun, 1)}


def search(options, runs):
    """All runs that are not done, seeds in turn, so that what is there when it is stopped is the same of all."""
    begun, at, refused = time.monotonic(), commit(), {}
    artifacts = {}
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    most = {model: options.seeds or MODELS[model][4] for model in options.models}

    def task(model, preset, seed):
        rules = rules_of(options, model, preset)
        digest = hashlib.sha256("\n".join(rules).encode()).hexdigest()[:12]
        key = {"model": model, "preset": preset, "seed": seed, "rules": digest, "commit": at}
        if runs.key(key) in runs.done or (model, preset) in refused or time.monotonic() - begun > 60 * options.minutes:
            return None
        if (model, preset) not in artifacts:
            artifacts[model, preset], why = compiled(options, model, preset, rules)
            if why:
                refused[model, preset] = why
                return f"{model:9} {preset:24} is refused: {why}"
        run = {**key, **one_run(options, model, artifacts[model, preset], seed)}
        runs.add(run)
        shown = "failed" if run["value"] is None else f"{run['value'] * MODELS[model][3]:.4f}"
        return f"{model:9} {preset:24} seed {seed}: {shown}, {run['seconds']} s"

    for seed in range(1, max(most.values()) + 1):
        tasks = [(model, preset, seed) for model in options.models if seed <= most[model] for preset in options.presets]
        for said in pool.map(lambda each: task(*each), tasks):
            if said:
                print(said, flush=True)
    return at, refused


def table(options, runs, at, refused):
    """Lines of Markdown: a row for each preset, for each model its value in f32 and the difference of the preset's."""
    values = {}
    for run in runs.done.values():
        if run["commit"] == at:
            values.setdefault((run["model"], run["preset"]), {})[run["seed"]] = run["value"]

    def cell(model, preset):
        factor = MODELS[model][3]
        if (model, preset) in refused:
            return "refused"
        own, plain = values.get((model, preset), {}), values.get((model, F32), {})
        failed = sum(value is None for value in own.values())
        if failed:
            return f"fails from {failed} of {len(own)} seeds"
        both = [seed for seed in own if plain.get(seed) is not None]
        if not both:
            return ""
        if preset == F32:
            return f"{factor * statistics.mean(own[seed] for seed in both):.4g}"
        differences = [factor * (own[seed] - plain[seed]) for seed in both]
        spread = f" ± {statistics.stdev(differences) / len(both) ** 0.5:.2g}" if len(both) > 1 else ""
        return f"{statistics.mean(differences):+.3g}{spread}"

    seeds = {model: max([len(values.get((model, preset), {})) for preset in options.presets]) for model in options.models}
    head = [f"{model}: {MODELS[model][2]} ({seeds[model]} seeds)" for model in options.models]
    lines = ["| preset | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    for preset in options.presets:
        lines.append(f"| {preset} | " + " | ".join(cell(model, preset) for model in options.models) + " |")
    return lines


def cost(options, artifact, model):
    """What a step takes: launches, casts, KiB of the arena but for what is below, and KiB of the optimizer's states."""
    said = subprocess.run([options.build / "runtime/tools/halftone", "explain", artifact, "--json", "--symbols", MODELS[model][5]],
                          check=True, capture_output=True, text=True)
    step = json.loads(said.stdout)["programs"][0]
    kept = {"parameters": 0, "working_copies": 0, "gradients": 0, "optimizer_state": 0}
    for buffer in step["totals"]["buffers"]:
        if buffer["role"] in kept:
            kept[buffer["role"]] += buffer["bytes"]
    worked_in = step["arena_bytes"] - sum(kept.values())
    return (f"{step['launches_per_step']} / {step['casts_per_step']} / {worked_in / 1024:.0f} / {kept['working_copies'] / 1024:.0f} / "
            f"{kept['optimizer_state'] / 1024:.0f}")


def costs(options):
    """Lines of Markdown: what a step of each model takes under each preset."""
    lines = ["| preset | " + " | ".join(f"{model}, {MODELS[model][5]}" for model in options.models) + " |",
             "|---" * (len(options.models) + 1) + "|"]
    for preset in options.presets:
        cells = []
        for model in options.models:
            artifact, _ = compiled(options, model, preset, rules_of(options, model, preset))
            cells.append(cost(options, artifact, model) if artifact else "refused")
        lines.append(f"| {preset} | " + " | ".join(cells) + " |")
    return lines


def main():
    options = command_line()
    if options.models_of:
        return print(*options.models)
    runs = Runs(options.work / "runs.jsonl")
    at, refused = search(options, runs)
    lines, taken = table(options, runs, at, refused), costs(options)
    print("\n" + "\n".join([*lines, "", *taken]))
    if options.page:
        before = PAGE.read_text().split(TABLE)[0]
        PAGE.write_text(before + TABLE + f"\nCommit {at}, {time.strftime('%Y-%m-%d')}; `{' '.join(['tests/bench/presets/run', *sys.argv[5:]])}`.\n\n" +
                        "\n".join(lines) + "\n\n" + COSTS + "\n".join(taken) + "\n")


if __name__ == "__main__":
    main()
