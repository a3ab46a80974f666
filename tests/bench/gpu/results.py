# SPDX-License-Identifier: Apache-2.0
"""Rounds, tables, the time that is left, and the files that results go to after every table."""

import json
import os
import shutil
import signal
import statistics
import subprocess
import time

HALFTONE = "Halftone"
LEAST_SECONDS = 10  # left, under which no table is started
LEAST_ROUNDS = 3
STATE_SECONDS = 8  # after which nvidia-smi is asked again, under load
GRACE_SECONDS = 10  # for these, where the time ended while a peer was made ready
WARM_SECONDS = 0.3  # of Halftone's kernel before a table's first round; FIRST_WARM_SECONDS before the first table's
FIRST_WARM_SECONDS = 0.7
ROUND_SECONDS = 0.02  # that a contender is timed for in a round
MOST_COUNT = 2000
QUERY = "timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active"
HEADER = "| what | who | microseconds | Halftone over it | of copy bandwidth | of the floor | TF/s |\n|---|---|---|---|---|---|---|"


class PartIsLate(BaseException):
    """A part's own time is up. No contender's failure, so that nothing but the part's end catches it."""


class GpuState:
    """Clocks, power and temperature, by nvidia-smi; empty where there is none."""

    def __init__(self, rehearse):
        self.program = None if rehearse else shutil.which("nvidia-smi")

    def ask(self):
        """Starts to ask; text() has the answer."""
        if not self.program:
            return None
        return subprocess.Popen([self.program, f"--query-gpu={QUERY}", "--format=csv,noheader"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def text(asked):
        if asked is None:
            return ""
        try:
            return asked.communicate(timeout=10)[0].strip().replace("\n", "; ")
        except subprocess.TimeoutExpired:
            asked.kill()
            return "nvidia-smi did not answer"


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
            f"| {spread_text(row.get('ratio'), 3)} | {spread_text(row.get('of copy bandwidth'), 3)} "
            f"| {spread_text(row.get('of the floor'), 3)} | {spread_text(row.get('TF/s'), 1)} |"
        )
    return "\n".join(lines)


class Results:
    def __init__(self, folder, rounds, seconds, rehearse):
        self.folder, self.rounds, self.rehearse = folder, rounds, rehearse
        self.tables, self.skipped, self.about, self.states = [], [], {}, []
        self.failed = 0  # of what is Halftone's own
        self.bandwidth = 0.0  # bytes a second that a copy reads and writes
        self.start = time.monotonic()
        self.end = self.part_end = self.start + seconds
        self.gpu = GpuState(rehearse)

    def now(self):
        return f"{time.monotonic() - self.start:.1f} s"

    def seconds_left(self):
        return min(self.end, self.part_end) - time.monotonic()

    def is_late(self, what):
        """Whether there is too little time left to start this, which is then named as skipped."""
        if self.seconds_left() >= LEAST_SECONDS:
            return False
        self.skip(what, "the time of this part is used up" if self.end > self.part_end else "the time of this run is used up")
        return True

    def skip(self, what, why):
        print(f"skipped {what}: {why}", flush=True)
        self.skipped.append({"what": what, "why": str(why)})
        self.write()

    def fail(self, what, why):
        self.failed += 1
        self.skip(what, f"FAILED: {why}")

    def state(self, when, asked=None):
        """Notes clocks, power and temperature."""
        text = GpuState.text(asked or self.gpu.ask())
        if text:
            self.states.append({"when": when, "seconds": round(time.monotonic() - self.start, 1), "state": text})
            print(f"  {when}: {text}", flush=True)

    def compare(self, name, contenders, byte_count=0, floor=0, operations=0, round_seconds=ROUND_SECONDS, rounds=None):
        """contenders: {name: seconds of count calls, as a function of count}. The first is Halftone. byte_count: of its kernels'
        operands and results, each launch's counted once; floor: of what any kernel must read and write; operations: of floating point."""
        if self.is_late(name):
            return
        times, counts, is_late = {}, {}, False
        for who, seconds in list(contenders.items()):
            if who != HALFTONE and self.is_late(f"{name}, {who}"):
                continue
            begin = time.monotonic()
            try:
                counts[who] = self.prepare(name, who, seconds, round_seconds)
                times[who] = []
            except Exception as error:  # a peer that cannot run this must not end the rest
                if who == HALFTONE:
                    self.fail(f"{name}, {who}", error)
                    return
                self.skip(f"{name}, {who}", str(error)[:600])
            except PartIsLate:  # while a peer compiled: those that are ready are timed all the same
                if not times:
                    raise
                self.skip(f"{name}, {who}", "it was not ready when the time of this part was used up")
                signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)
                is_late = True
                break
            if time.monotonic() - begin > 5:
                print(f"  {name}, {who}: ready after {time.monotonic() - begin:.1f} s", flush=True)
        order = list(times)
        try:
            for number in range(rounds or self.rounds):
                if number >= LEAST_ROUNDS and (is_late or self.seconds_left() < LEAST_SECONDS / 2):
                    print(f"{name}: {number} rounds, since the time is used up", flush=True)
                    break
                for who in order[number % len(order):] + order[: number % len(order)]:
                    times[who].append(contenders[who](counts[who]) / counts[who])
        finally:  # what was measured counts, also where the time ends inside a round
            whole = min(len(each) for each in times.values())
            if whole:
                rows = [self.row(who, times, whole, byte_count, floor, operations) for who in order]
                for row in rows:
                    row["calls in a round"] = counts[row["who"]]
                    if getattr(contenders[row["who"]], "said", None):
                        row["who"] += " (with the gaps between its launches)"
                self.add(name, rows)
        if is_late:
            raise PartIsLate()

    def prepare(self, name, who, seconds, round_seconds):
        """Makes a contender ready, and says how many calls of it a round has."""
        once = seconds(1)
        if self.rehearse:
            return 1
        count = 1 if once > round_seconds else max(1, min(MOST_COUNT, int(round_seconds / max(seconds(3) / 3, 1e-9))))
        if who != HALFTONE:
            return max(1, min(MOST_COUNT, int(round_seconds / max(seconds(count) / count, 1e-9))))
        asked, start = None, time.monotonic()
        warm = WARM_SECONDS if self.tables else FIRST_WARM_SECONDS
        is_due = not self.states or start - self.start - self.states[-1]["seconds"] > STATE_SECONDS or "load" not in self.states[-1]["when"]
        while True:
            each = seconds(count) / count
            passed = time.monotonic() - start
            if is_due and not asked:
                asked = self.gpu.ask()
            if passed > warm and (asked is None or asked.poll() is not None or passed > warm + 2):
                break
        if asked:
            self.state(f"under load, {name}", asked)
        return max(1, min(MOST_COUNT, int(round_seconds / max(each, 1e-9))))

    def row(self, who, times, whole, byte_count, floor, operations):
        mine = times[who][:whole]
        row = {"who": who, "microseconds": [1e6 * t for t in spread(mine)]}
        if who != HALFTONE:
            row["ratio"] = spread([ours / theirs for ours, theirs in zip(times[HALFTONE], mine)])
        elif byte_count:
            row["bytes"] = byte_count
            if self.bandwidth:
                row["of copy bandwidth"] = spread([byte_count / t / self.bandwidth for t in mine])
        if floor and self.bandwidth:
            row["floor bytes"] = floor
            row["of the floor"] = spread([floor / t / self.bandwidth for t in mine])
        if operations:
            row["TF/s"] = spread([operations / t / 1e12 for t in mine])
        return row

    def add(self, name, rows):
        self.tables.append({"name": name, "rows": rows})
        print(table_text(self.tables[-1]), flush=True)
        self.write()

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        for name, put in (("results.json", self.put_json), ("results.md", self.put_markdown)):
            path = os.path.join(self.folder, name)
            with open(path + ".part", "w") as file:
                put(file)
            os.replace(path + ".part", path)  # a run that is killed leaves whole files

    def put_json(self, file):
        json.dump({"tables": self.tables, "skipped": self.skipped, "states": self.states, **self.about}, file, indent=1)

    def put_markdown(self, file):
        for key, value in self.about.items():
            file.write(f"{key}: {value}  \n")
        file.write("\n" + HEADER + "\n")
        for table in self.tables:
            file.write(table_text(table) + "\n")
        for each in self.skipped:
            file.write(f"\nSkipped {each['what']}: {each['why']}\n")
        if self.states:
            file.write(f"\n| when | after | {QUERY} |\n|---|---|---|\n")
            for each in self.states:
                file.write(f"| {each['when']} | {each['seconds']} s | {each['state']} |\n")
