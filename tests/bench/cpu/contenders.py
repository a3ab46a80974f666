# SPDX-License-Identifier: Apache-2.0
"""Processes that take turns, and what each library's is told."""

import json
import os
import select
import subprocess
import sys
import time

import machine_facts

HALFTONE, MACHINE = "Halftone", "machine"
COMPUTE = ("fma", "pairs", "amx")  # how names of the machine's contenders begin whose figure is operations, not bytes
PREPARE_SECONDS = 600  # until a worker that does not answer is ended
PROBE_SECONDS = 90  # likewise, as it compiles and computes what is compared
LONGEST_RUN = 1.0, 10  # seconds, and times Halftone's: who takes longer than both has no turns
TICKS = os.sysconf("SC_CLK_TCK")


class ContenderError(Exception):
    """One sentence: why a contender does not take part."""


class TooSlow(ContenderError):
    """So is it with any row of the same section, format and direction."""


class Worker:
    """A process that answers a line with a line, on processors of its own choice and no others."""

    def __init__(self, command, cores, environment, log):
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "HALFTONE_THREADS", "BENCH_THREADS", "NPROC")
        settings = {**os.environ, **{name: str(len(cores)) for name in names}, **environment}
        # Freed arrays are kept by the process, so that nobody's time is that of fetching fresh pages.
        settings.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 36))
        self.log = open(log, "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=settings,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cores))

    def ask(self, *words, seconds=PREPARE_SECONDS):
        try:
            self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
            self.process.stdin.flush()
        except OSError:
            raise ContenderError(f"its process ended; {self.log.name} may say why") from None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            self.close()
            raise TooSlow(f"it did not answer '{words[0]}' within {seconds} seconds")
        line = self.process.stdout.readline().decode().strip()
        if not line.startswith("ok"):
            raise ContenderError(line.removeprefix("error ") or f"its process ended; {self.log.name} may say why")
        return [float(word) for word in line.split()[1:]]

    def processor_seconds(self):
        """That the process and its threads have used so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Library:
    """What a worker runs, and how it is asked to prepare a row."""

    def __init__(self, name, command, environment=None):
        self.name, self.command, self.environment = name, command, environment or {}

    def words(self, row, job, contender):
        """[(words that prepare what is probed), (words that prepare what is timed)]; the second may be missing."""
        return [(os.path.join(job.folder, "job.json"), contender)]


class Halftone(Library):
    def words(self, row, job, contender):
        steps = ("step", job.artifact, job.folder, row.network.batch, "loss", job.steps_probed)
        kernel = ("kernel", job.artifact, job.folder, row.network.batch, row.program, row.kernel, row.probe)
        return {"step": [steps], "update": [steps, kernel]}.get(row.kind, [kernel])


class OneDnn(Library):
    def words(self, row, job, contender):
        layer = row.network.layers[1]
        layout = "packed" if contender.endswith("packed") else "plain"
        return [("matmul", job.folder, row.network.batch, layer[2], layer[3], row.format, row.direction, layout)]


class Machine(Library):
    """Its contenders are named as it is asked for them: "fma 512", "copy"."""

    def __init__(self, command, array_bytes):
        super().__init__(MACHINE, command)
        self.array_bytes = array_bytes

    def words(self, row, job, contender):
        return [contender.split() if contender.startswith(COMPUTE) else (contender, self.array_bytes)]


class Job:
    """What the workers read of a row: a folder with values, the artifact, and job.json for those in Python."""

    def __init__(self, row, folder, tools, optimizer):
        self.folder, self.steps_probed = folder, row.steps_probed()
        os.makedirs(folder, exist_ok=True)
        self._draw(row.network, tools)
        self.artifact = tools.artifact(row.network.halftone(row.rules), folder)
        network = row.network
        facts = {"layers": network.layers, "loss": network.loss, "batch": network.batch, "extents": network.extents,
                 "places": network.places(), "format": row.format,
                 "kind": row.kind, "direction": row.direction, "folder": folder, "steps_probed": self.steps_probed, **optimizer,
                 "parameters": {name: shape for name, shape, _, _ in network.parameters()}}
        with open(os.path.join(folder, "job.json"), "w") as file:
            json.dump(facts, file)

    def _draw(self, network, tools):
        """Random values, equal in every run."""
        seed = 1
        for name, shape, low, high in network.parameters():
            count = 1
            for extent in shape:
                count *= extent
            tools.draw("draw", os.path.join(self.folder, f"{name}.f32"), count, low, high, seed := seed + 1)
        tools.draw("draw", os.path.join(self.folder, "x.f32"), network.rows() * network.features(), -1, 1, seed := seed + 1)
        rows = network.rows_behind()
        if network.loss == "cross_entropy":
            tools.draw("labels", os.path.join(self.folder, "target.i32"), rows, network.outputs(), seed + 1)
        else:
            tools.draw("draw", os.path.join(self.folder, "target.f32"), rows * network.outputs(), -1, 1, seed + 1)


class Timed:
    """One contender on some threads. What it does between its turns is counted, too: an idle worker uses no processor."""

    def __init__(self, library, name, worker, threads):
        self.library, self.name, self.worker, self.threads = library, name, worker, threads
        self.key = name.replace(" ", "_").replace(",", "")
        self.count, self.probed, self.seconds_of_run, self.why = 1, [], [], ""

    def prepare(self, row, job):
        """What is probed, then what is timed."""
        for index, words in enumerate(self.library.words(row, job, self.name)):
            self.worker.ask("prepare", self.key, *words)
            if index == 0:
                self.probed = self.worker.ask("probe", self.key, seconds=PROBE_SECONDS)

    def calibrate(self, seconds, of_halftone):
        """Runs for about so long make a turn. `of_halftone` are seconds of one run of Halftone's, 0 where this is it. Seconds of a run."""
        least, times = LONGEST_RUN
        first = self.worker.ask("run", self.key, 1)[0]
        if of_halftone and first > max(least, times * of_halftone):
            raise TooSlow(f"one run takes {first:.1f} s, {first / of_halftone:.0f} times Halftone's")
        count, spent = 1, self.worker.ask("run", self.key, 1)[0]
        while spent < seconds / 8:
            count *= 4
            spent = self.worker.ask("run", self.key, count)[0]
        self.count = max(1, round(count * seconds / spent))
        return spent / count

    def turn(self):
        self.seconds_of_run.append(self.worker.ask("run", self.key, self.count)[0] / self.count)


class IdleWatch:
    """How much of a processor workers use while it is not their turn, and how much all that is no part of the bench does."""

    def __init__(self, workers):
        self.workers = workers
        self.idle = {worker: [0.0, 0.0] for worker in workers}  # processor seconds, seconds
        self.start, self.others = time.monotonic(), -self._of_others()

    def _of_others(self):
        return machine_facts.busy_seconds() - sum(worker.processor_seconds() for worker in self.workers) - sum(os.times()[:2])

    def share_of_others(self):
        """Of one processor, since the watch began."""
        return max(0.0, self._of_others() + self.others) / (time.monotonic() - self.start)

    def turn(self, timed):
        """The turn of one; all others should rest."""
        others = [worker for worker in self.workers if worker is not timed.worker]
        before, start = [worker.processor_seconds() for worker in others], time.monotonic()
        timed.turn()
        seconds = time.monotonic() - start
        for worker, used in zip(others, before):
            self.idle[worker][0] += worker.processor_seconds() - used
            self.idle[worker][1] += seconds

    def share(self, worker):
        used, seconds = self.idle[worker]
        return used / seconds if seconds else 0.0


def python_library(name, python, script):
    environment = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    return Library(name, [python, os.path.join(folder, script)], environment)
