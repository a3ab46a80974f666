# SPDX-License-Identifier: Apache-2.0
"""The protocol of worker.hpp for workers in Python: prepare NAME JOB.json CONTENDER, probe NAME, run NAME COUNT."""

import json
import sys
import time

import numpy

PROBES = 48
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def sampled(values):
    """PROBES values, evenly spread, the first and the last among them."""
    flat = numpy.asarray(values, dtype=numpy.float32).reshape(-1)
    return [float(flat[i * (flat.size - 1) // (PROBES - 1)]) for i in range(PROBES)]


class Job:
    """A row as compare.py wrote it: layers, loss, format, kind, direction, folder, batch, extents, places, parameters."""

    def __init__(self, path):
        with open(path) as file:
            self.__dict__.update(json.load(file))

    def parameter(self, name):
        return self._values(name, numpy.float32).reshape(self.parameters[name])

    def x(self):
        return self._in_rows("x", self.extents)

    def target(self):
        if self.loss == "cross_entropy":
            return self._values("target", numpy.int32)
        return self._in_rows("target", self.places)

    def _in_rows(self, name, extents):
        return self._values(name, numpy.float32).reshape(self.batch, *extents, -1)

    def _values(self, name, kind):
        return numpy.fromfile(f"{self.folder}/{name}.{'i32' if kind == numpy.int32 else 'f32'}", dtype=kind)


def serve(make):
    """make(job, contender) gives an object with probe() and run(count)."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    contenders = {}
    for line in sys.stdin:
        words = line.split()
        try:
            numbers = []
            if words[0] == "prepare":
                contenders.pop(words[1], None)
                contenders[words[1]] = make(Job(words[2]), " ".join(words[3:]))
            elif words[0] == "probe":
                numbers = contenders[words[1]].probe()
            else:
                contender, count = contenders[words[1]], int(words[2])
                start = time.perf_counter()
                contender.run(count)
                numbers = [time.perf_counter() - start]
            answers.write("ok " + " ".join(f"{number:.9g}" for number in numbers) + "\n")
        except Exception as error:  # whatever a library throws is this contender's end alone
            text = str(error).strip().split("\n")[0]
            answers.write(f"error {type(error).__name__}: {text}\n")
        answers.flush()
