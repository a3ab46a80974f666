# SPDX-License-Identifier: Apache-2.0
"""Halftone beside its peers on this processor, taking turns. Started by ./run, which builds and fetches what it needs.

A row is measured in rounds; in each every contender has one turn on one thread and one on two, in an order that is drawn anew.
A ratio is the peer's time over Halftone's in the same round: above 1 Halftone is faster.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import contenders
import machine_facts
import rows
import tables
from contenders import HALFTONE, MACHINE, ContenderError, TooSlow

ONE_FILE_OF = {"torch": ("torch eager", "torch.compile", "torch fused"), "JAX": ("JAX",),
               "oneDNN": ("oneDNN", "oneDNN, weights packed"), "scipy": ("scipy.fft",)}
PAUSE_SECONDS = 0.005  # after a turn, until the peers' threads have gone to sleep
IDLE_SHARE = 0.03  # of a processor, above which a worker is said not to rest
OTHERS_SHARE = 0.05  # likewise, above which figures are doubtful
OPTIMIZER = {"learning_rate": rows.networks.LEARNING_RATE, "weight_decay": rows.networks.WEIGHT_DECAY}


class Tools:
    """Halftone's build, and what makes an artifact of a description."""

    def __init__(self, build, linker):
        self.worker = os.path.join(build, "tests/bench/cpu/halftone_worker")
        self.machine = os.path.join(build, "tests/bench/cpu/bench_machine")
        self.link = [*linker.split(), "-shared", "-o"]
        self.halftonec = os.path.join(build, "codegen/halftonec")

    def draw(self, *words):
        subprocess.run([self.machine, *map(str, words)], check=True)

    def artifact(self, text, folder):
        """The path of a sealed artifact."""
        base = os.path.join(folder, "model")
        with open(f"{base}.halftone", "w") as file:
            file.write(text)
        compile_model = [self.halftonec, f"{base}.halftone", "--object", f"{base}.o", "--targets", "cpu", "--without-diagnosis"]
        for command in (compile_model, [*self.link, f"{base}.so", f"{base}.o"], [self.halftonec, "--seal", f"{base}.so"]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise ContenderError(f"{os.path.basename(command[0])} failed: {done.stderr.strip()}")
        return f"{base}.so"


class Bench:
    def __init__(self, options, tools, libraries):
        self.options, self.tools = options, tools
        self.libraries = {library.name: library for library in libraries}
        self.workers = {}  # (library's name, threads)
        self.too_slow = {}  # the sentence of (contender's name, section, format, direction)
        self.cores = machine_facts.cores()
        self.random = random.Random(1)
        self.measured = 0

    def worker(self, library, threads):
        key = (library.name, threads)
        if key not in self.workers or self.workers[key].process.poll() is not None:
            log = os.path.join(self.options.work, f"{library.name}.log")
            self.workers[key] = contenders.Worker(library.command, self.cores[:threads], library.environment, log)
        return self.workers[key]

    def close(self):
        for worker in self.workers.values():
            worker.close()
        self.workers = {}

    def contenders_of(self, row):
        names = [(HALFTONE, HALFTONE), *((MACHINE, name) for name in row.contenders_of_machine())]
        names += [(library, name) for library, all_of in ONE_FILE_OF.items() for name in row.peers if name in all_of]
        for threads in self.options.threads:
            for library, name in names:
                library = self.libraries.get(library)
                if library:
                    yield contenders.Timed(library, name, self.worker(library, threads), threads)

    def measure(self, row):
        """What a row came to, for tables.py and the JSON file."""
        # A folder of its own: a worker that still has the artifact of an earlier row would be given that one again.
        self.measured += 1
        folder = os.path.join(self.options.work, f"row{self.measured}")
        shutil.rmtree(folder, ignore_errors=True)
        job = contenders.Job(row, folder, self.tools, OPTIMIZER)
        running, of_halftone = [], {}
        asked = list(self.contenders_of(row))
        for timed in asked:
            kind = (timed.name, row.section, row.format, row.direction)
            try:
                if kind in self.too_slow:
                    raise ContenderError(self.too_slow[kind])
                timed.prepare(row, job)
                seconds = timed.calibrate(self.options.turn, of_halftone.get(timed.threads, 0))
                of_halftone.setdefault(timed.threads, seconds)  # Halftone is the first
                running.append(timed)
            except ContenderError as error:
                if timed.name == HALFTONE:
                    raise
                if isinstance(error, TooSlow):
                    self.too_slow[kind] = f"{error}, as {timed.name} on {timed.threads} in '{row.title()}'"
                    self.replace_ended(asked, running, row, job)
                if not timed.name.startswith(contenders.COMPUTE):
                    print(f"  without {timed.name} on {timed.threads}: {error}", flush=True)
        agreed = self.check(row, running)
        others = self.rounds(running)
        shutil.rmtree(folder, ignore_errors=True)
        return {**tables.result_of(row, running, agreed), "others' share of a processor": others}

    def replace_ended(self, asked, running, row, job):
        """Another worker for those that shared one with who was too slow."""
        for timed in asked:
            if timed.worker.process.poll() is None:
                continue
            timed.worker = self.worker(timed.library, timed.threads)
            if timed in running:
                timed.prepare(row, job)

    def check(self, row, running):
        """{(name, threads): how far it is from Halftone on one thread, or a sentence}"""
        ours = running[0].probed
        largest, found = max(map(abs, ours)), {}
        limit = row.tolerance()
        if row.trains() and abs(ours[-1] - ours[0]) < 5 * limit * largest:
            raise ContenderError(f"the loss moved from {ours[0]:.4f} to {ours[-1]:.4f} alone, which compares nothing")
        for timed in running:
            if timed.library.name == MACHINE:
                continue
            distance = max(abs(a - b) for a, b in zip(ours, timed.probed)) / largest
            if timed.name == HALFTONE and distance != 0:
                raise ContenderError(f"Halftone's values on {timed.threads} threads are others than on one")
            if not distance <= limit:
                timed.why = f"its values are {distance:.2g} of the largest away from Halftone's, {limit:g} is allowed"
                print(f"  no ratio to {timed.name} on {timed.threads}: {timed.why}", flush=True)
            found[timed.name, timed.threads] = distance
        return found

    def rounds(self, running):
        """How much of a processor other programs used meanwhile."""
        watch = contenders.IdleWatch(list({timed.worker for timed in running}))
        for _ in range(self.options.rounds):
            order = running[:]
            self.random.shuffle(order)
            for timed in order:
                time.sleep(PAUSE_SECONDS)
                watch.turn(timed)
        for timed in running:
            timed.idle_share = watch.share(timed.worker)
            if timed.idle_share > IDLE_SHARE:
                print(f"  {timed.name} on {timed.threads} used {timed.idle_share:.0%} of a processor while others had their turn",
                      flush=True)
        if watch.share_of_others() > OTHERS_SHARE:
            print(f"  other programs used {watch.share_of_others():.0%} of a processor: these times are too long", flush=True)
        return watch.share_of_others()


def libraries_of(options, tools, array_bytes):
    """Those that can be asked, and a line about each peer."""
    found = [contenders.Halftone(HALFTONE, [tools.worker]), contenders.Machine([tools.machine], array_bytes)]
    python = os.path.join(options.peers, "bin/python")
    versions, missing = {}, []
    for name, module, script in (("torch", "torch", "torch_worker.py"), ("JAX", "jax", "jax_worker.py"),
                                 ("scipy", "scipy", "scipy_worker.py")):
        version, why = answer_of([python, "-c", f"import {module}; print({module}.__version__)"])
        if why:
            missing.append(f"{name}: {why}")
        else:
            versions[name] = version
            found.append(contenders.python_library(name, python, script))
    # The threads of the oneDNN on PyPI are SYCL's, which are OpenCL's.
    runtime = {"ONEDNN_VERBOSE": "none", "OCL_ICD_FILENAMES": os.path.join(options.peers, "lib/libintelocl.so")}
    program = os.path.join(options.work, "onednn_worker")
    version, why = answer_of([program, "about"], {**os.environ, **runtime})
    if why:
        missing.append(f"oneDNN: {why}")
    else:
        versions["oneDNN"] = version
        found.append(contenders.OneDnn("oneDNN", [program], runtime))
    return found, versions, missing


def answer_of(command, environment=None):
    """(what it printed, "") or ("", why it printed nothing)"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    except OSError as error:
        return "", f"{command[0]}: {error.strerror}"
    if done.returncode == 0:
        return done.stdout.strip(), ""
    return "", (done.stderr.strip().splitlines() or [f"{command[0]} ended with status {done.returncode}"])[-1]


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/cpu/run", description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="where all medians, ratios and facts of the machine are written")
    parser.add_argument("--only", metavar="PATTERN", help="a regular expression: rows whose title has it; --list prints titles")
    parser.add_argument("--list", action="store_true", help="print the titles of all rows")
    parser.add_argument("--quick", action="store_true", help="3 rounds of short turns: to see whether everything works")
    parser.add_argument("--rounds", type=int, help="15 unless given")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--linker", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds is None:
        options.rounds = 3 if options.quick else 15
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; give a number from 1 on")
    options.turn = 0.02 if options.quick else 0.1
    try:
        re.compile(options.only or "")
    except re.error as error:
        parser.error(f"--only is no regular expression: {error}")
    if options.json:
        try:
            open(options.json, "a").close()
        except OSError as error:
            parser.error(f"--json: {options.json} cannot be written: {error.strerror}")
    return options


def main():
    options = arguments()
    wanted = tables.matching(rows.all_rows(), options.only)
    if options.list:
        print("\n".join(row.title() for row in wanted))
        return 0
    if not wanted:
        sys.exit(f"run: no row's title has '{options.only}'; --list prints all")
    tools = Tools(options.build, options.linker)
    facts = machine_facts.facts(tools.worker)
    options.threads = [n for n in (1, 2) if n <= len(machine_facts.cores())]
    array_bytes = 4 * facts["largest cache bytes"]
    libraries, facts["versions"], facts["missing"] = libraries_of(options, tools, array_bytes)
    facts |= {"rounds": options.rounds, "seconds of a turn": options.turn, "bytes of a stream's array": array_bytes}
    for line in facts["missing"]:
        print(f"without {line}", flush=True)
    bench, results, failed = Bench(options, tools, libraries), [], 0
    start, section = time.monotonic(), None
    try:
        for number, row in enumerate(wanted, 1):
            if row.trains() or row.section != section:
                bench.close()
            section = row.section
            print(f"[{number}/{len(wanted)}, {time.monotonic() - start:.0f} s] {row.title()}", flush=True)
            try:
                results.append(bench.measure(row))
                print("  " + tables.line_of(results[-1]), flush=True)
            except ContenderError as error:
                bench.close()
                failed += 1
                print(f"  FAILED: {error}", flush=True)
            if options.json:
                tables.write_json(options.json, facts, results)
    finally:
        bench.close()
    facts["missing"] += [f"{kind[0]} where it is too slow: {why}" for kind, why in bench.too_slow.items()]
    print("\n" + tables.report(facts, results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
