"""The memory and the connections of a client's process, which must not grow in a long run."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from barnabas.experiments.explore.finding import Finding

INTERVAL: Final = 2.0
"""Seconds between two samples."""

LONG: Final = 300.0
"""Seconds of a run from which on growth is judged: after a fault, connections may be more for minutes."""

MIB: Final = 1 << 20

MEMORY_SHARE: Final = 0.5
"""Growth of memory that counts, as a share of the earlier memory ..."""

MEMORY: Final = 48 * MIB
"""... and in bytes: the heap of a runtime grows for a while, and caches fill."""

CONNECTIONS: Final = 3
"""Growth of connections that counts."""

EARLY: Final = (0.2, 0.4)
"""The part of a run that its end is compared with: before it, a client connects and its runtime warms up."""

LATE: Final = (0.8, 1.0)
"""The end of a run."""


class Sample(NamedTuple):
    """Resident memory in bytes, and the number of sockets, at a time in seconds."""

    at: float
    memory: int
    sockets: int


def sample(pid: int, at: float) -> Sample | None:
    """Measure a process; None: it has ended. Only Linux has /proc."""
    process = Path(f"/proc/{pid}")
    try:
        pages = int((process / "statm").read_text().split()[1])
        files = list((process / "fd").iterdir())
    except OSError:
        return None
    sockets = 0
    for file in files:
        with contextlib.suppress(OSError):
            sockets += str(file.readlink()).startswith("socket:")
    return Sample(at, pages * os.sysconf("SC_PAGE_SIZE"), sockets)


def growth(samples: Sequence[Sample]) -> list[Finding]:
    """Return findings about a process that has grown, from samples of the whole run in order."""
    if not samples:
        return []
    early, late = _part(samples, EARLY), _part(samples, LATE)
    if not early or not late:
        return []
    findings = []
    before, after = (median(each.memory for each in part) for part in (early, late))
    if after - before > max(MEMORY, MEMORY_SHARE * before):
        text = f"its memory grew from {before / MIB:.0f} to {after / MIB:.0f} MiB"
        findings.append(Finding(kind="grows", text=text))
    before, after = (median(each.sockets for each in part) for part in (early, late))
    if after - before > CONNECTIONS:
        text = f"its connections grew from {before:.0f} to {after:.0f}"
        findings.append(Finding(kind="grows", text=text))
    return findings


def _part(samples: Sequence[Sample], part: tuple[float, float]) -> list[Sample]:
    begin, length = samples[0].at, samples[-1].at - samples[0].at
    first, last = (begin + share * length for share in part)
    return [each for each in samples if first <= each.at <= last]


class GrowthWatch:
    """Samples of processes from `with` to its end."""

    def __init__(self) -> None:
        self._samples: dict[int, list[Sample]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> GrowthWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def began(self, pid: int) -> None:
        """Add a process."""
        self._samples[pid] = []

    @property
    def findings(self) -> list[Finding]:
        """Return the findings about all processes."""
        return [finding for samples in self._samples.values() for finding in growth(samples)]

    def _work(self) -> None:
        while not self._over.wait(INTERVAL):
            for pid, samples in list(self._samples.items()):
                measured = sample(pid, time.monotonic())
                if measured is not None:
                    samples.append(measured)
