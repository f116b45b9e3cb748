"""`--long`: one connection, millions of frames, and whether the proxy's memory stays what it was."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table

from bench import load, many, server
from bench.proxies import Helper
from bench.table import plain_table
from bench.targets import Target, kinds

FRAMES: Final = 10_000_000
LOAD: Final = "produce 256 B"

_EVERY: Final = 0.5
"""Seconds between two samples."""

_FOREVER: Final = 86_400.0


@dataclass(slots=True)
class Sample:
    """Seconds since the beginning, and KiB resident then."""

    seconds: float
    kib: float


def slope(samples: Sequence[Sample]) -> float:
    """KiB a second that memory grew by, as a straight line through the samples (least squares).

    >>> slope([Sample(0.0, 10.0), Sample(1.0, 12.0), Sample(2.0, 14.0)])
    2.0
    """
    mean_x = sum(sample.seconds for sample in samples) / len(samples)
    mean_y = sum(sample.kib for sample in samples) / len(samples)
    spread = sum((sample.seconds - mean_x) ** 2 for sample in samples)
    joint = sum((sample.seconds - mean_x) * (sample.kib - mean_y) for sample in samples)
    return joint / spread if spread else 0.0


@dataclass(slots=True)
class Run:
    """What the long run showed."""

    frames: int
    seconds: float
    samples: list[Sample]

    @property
    def growth(self) -> float:
        """KiB for each million frames, in the later half of the run: what is made once is made by then."""
        later = [sample for sample in self.samples if sample.seconds >= self.seconds / 2]
        return slope(later or self.samples) * self.seconds / self.frames * 1e6


def measure(frames: int, progress: Callable[[str], None]) -> Run:
    """Drive the proxy, log off, with so many requests and their responses on one connection."""
    kind = next(kind for kind in kinds() if kind.name == "barnabas")
    folder = Path(tempfile.mkdtemp(prefix="barnabas-bench-"))
    serving, client = Helper(server.serve), Helper(many.drive)
    try:
        with Target(kind, serving.receive(), folder) as target:
            most = frames * load.loads()[LOAD].request_size
            begun = time.monotonic()
            client.pipe.send((target.port, LOAD, _FOREVER, most))
            samples = []
            while not client.pipe.poll(_EVERY):
                passed, kib = time.monotonic() - begun, target.resident_kib()
                samples.append(Sample(passed, kib or 0.0))
                progress(f"long run: {passed:.0f} s, {(kib or 0) / 1024:.1f} MiB")
            result = client.receive()
    finally:
        client.stop()
        serving.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return Run(result.bytes // load.loads()[LOAD].request_size, result.seconds, samples)


def table(run: Run) -> Table:
    """The memory at a few moments, and how it grew."""
    shown = plain_table(
        f"long run: {run.frames:,} requests and responses on one connection, "
        f"{run.frames / run.seconds:,.0f} a second",
        f"in the later half memory grew by {run.growth:+.1f} KiB for each million",
    )
    step = max(len(run.samples) // 8, 1)
    chosen = [*run.samples[::step], *run.samples[-1:]]
    for sample in chosen:
        shown.add_column(f"{sample.seconds:.0f} s", justify="right")
    shown.add_row(*(f"{sample.kib / 1024:.1f} MiB" for sample in chosen))
    return shown
