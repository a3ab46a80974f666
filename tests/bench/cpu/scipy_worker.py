# SPDX-License-Identifier: Apache-2.0
"""scipy.fft as a contender (peer_worker.py): long convolutions, forward; it has no gradients."""

import os

import scipy.fft

from peer_worker import sampled, serve

THREADS = int(os.environ["BENCH_THREADS"])


class LongConvolution:
    """As Hyena's: by transforms of sequences that zeros make twice as long."""

    def __init__(self, job):
        if job.kind != "long_convolution":
            raise ValueError(f"scipy is asked for long convolutions alone, not {job.kind}")
        _, name, _, _, self.places = job.layers[1]
        self.h, self.filter = job.x() @ job.parameter("up.weight").T, job.parameter(f"{name}.weight")
        self.head = job.parameter("head.weight")

    def convolved(self):
        spectra = (scipy.fft.rfft(value, 2 * self.places, axis=-2, workers=THREADS) for value in (self.h, self.filter))
        product = next(spectra) * next(spectra)
        return scipy.fft.irfft(product, 2 * self.places, axis=-2, workers=THREADS)[..., :self.places, :]

    def probe(self):
        return sampled(self.convolved() @ self.head.T)

    def run(self, count):
        for _ in range(count):
            self.convolved()


if __name__ == "__main__":
    serve(lambda job, contender: LongConvolution(job))
