# SPDX-License-Identifier: Apache-2.0
"""The protocol of loader_worker.cpp, by torch's DataLoader and by parsers of CSV in Python.

Contenders of `run`: "workers N", a map-style dataset behind a DataLoader with N worker processes, which stay; "indexed", whole
batches indexed in this process by a BatchSampler, the quickest that a DataLoader can be made without writing one.
"""

import csv
import sys
import time

import numpy
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)


class Arrays(Dataset):
    """Rows of arrays; images are bytes and become f32."""

    def __init__(self, x, y, scales):
        self.x, self.y, self.scales = x, y, scales

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        x = self.x[index]
        return (x.to(torch.float32).mul_(1 / 255) if self.scales else x), self.y[index]


def parse_pandas(path):
    import pandas
    types = {f"f{i}": numpy.float32 for i in range(16)} | {"label": numpy.int32}
    frame = pandas.read_csv(path, dtype=types)
    return numpy.array(frame.iloc[:, :16], dtype=numpy.float32, order="C"), numpy.array(frame["label"])


def parse_numpy(path):
    rows = numpy.loadtxt(path, dtype=numpy.float32, delimiter=",", skiprows=1)
    return numpy.ascontiguousarray(rows[:, :16]), rows[:, 16].astype(numpy.int32)


def parse_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    return (numpy.array([[float(v) for v in row[:16]] for row in rows], dtype=numpy.float32),
            numpy.array([int(row[16]) for row in rows], dtype=numpy.int32))


PARSERS = {"pandas": parse_pandas, "numpy.loadtxt": parse_numpy, "csv": parse_csv}


class Worker:
    def __init__(self, folder):
        self.folder, self.data, self.loaders = folder, {}, {}

    def data_of(self, name):
        if name not in self.data:
            if name == "table":
                x, y = parse_pandas(f"{self.folder}/{name}.csv")
            else:
                x, y = (numpy.load(f"{self.folder}/{name}_{which}.npy", mmap_mode="c") for which in "xy")
            self.data[name] = Arrays(torch.from_numpy(x), torch.from_numpy(y), name == "images")
        return self.data[name]

    def make_loader(self, name, batch, contender):
        data = self.data_of(name)
        if contender == "indexed":
            sampler = BatchSampler(RandomSampler(data), batch, False)
            return DataLoader(data, sampler=sampler, batch_size=None)
        workers = int(contender.split()[1])
        return DataLoader(data, batch, shuffle=True, num_workers=workers, persistent_workers=workers > 0)

    def run(self, name, batch, contender, most):
        key = name, batch, contender
        if key not in self.loaders:
            loader = self.make_loader(*key)

            def forever():
                while True:
                    yield from loader

            self.loaders[key] = forever()
        batches = self.loaders[key]
        for _ in range(3):
            next(batches)
        start, rows = time.perf_counter(), 0
        while (passed := time.perf_counter() - start) < most:
            rows += len(next(batches)[1])
        return rows / passed

    def sum(self, name):
        rows, x, y = 0, 0.0, 0.0
        for one, other in self.make_loader(name, 1000, "indexed"):
            rows, x, y = rows + len(other), x + float(one.double().sum()), y + float(other.double().sum())
        return f"{rows} {x:.9g} {y:.9g}"

    def parse(self, name, contender):
        start = time.perf_counter()
        PARSERS[contender](f"{self.folder}/{name}.csv")
        return time.perf_counter() - start


def main():
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        what, name, *rest = line.split()
        try:
            if what == "sum":
                answer = worker.sum(name)
            elif what == "run":
                answer = worker.run(name, int(rest[0]), " ".join(rest[1:-1]), float(rest[-1]))
            else:
                answer = worker.parse(name, " ".join(rest))
            print("ok", answer, flush=True)
        except Exception as error:  # pylint: disable=broad-except  # the row says so
            print("error", repr(error).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
