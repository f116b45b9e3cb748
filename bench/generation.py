"""What it costs to have the codecs: the import, and making each of them."""

from __future__ import annotations

import contextlib
import functools
import gc
import subprocess
import sys
import timeit
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from rich.table import Table

from barnabas import specs
from barnabas.specs.codec import Codec
from bench.table import percentile, plain_table


@dataclass(frozen=True, slots=True)
class Generation:
    """Seconds and bytes; one figure for each version of each message, and one for each import."""

    bare: list[float]
    imports: list[float]
    seconds: dict[str, float]
    sizes: dict[str, int]


def codecs() -> Iterator[Codec]:
    """Yield a new codec for each version of each message of each API."""
    for key, _, _ in specs.REGISTRY:
        api = specs.api(key)
        for message in (api.request, api.response):
            for version in range(api.versions[0], api.versions[1] + 1):
                yield Codec(message.layout(version), f"{message.name} v{version}")


def make(codec: Codec) -> None:
    """Both halves of a codec, which are made on first use."""
    with contextlib.suppress(specs.Malformed):
        codec.decode(b"")
    with contextlib.suppress(specs.Unfit):
        codec.encode({})


def measure(rounds: int, progress: Callable[[str], None]) -> Generation:
    """Measure imports in processes of their own, and time and memory of making each codec."""
    bare: list[float] = []
    imports: list[float] = []
    for number in range(rounds):
        progress(f"import: round {number + 1} of {rounds}")
        for code, results in (("", bare), ("from barnabas import specs", imports)):
            work = functools.partial(subprocess.run, [sys.executable, "-c", code], check=True)
            results.append(timeit.timeit(work, number=1))
    progress("making all codecs")
    fresh = list(codecs())
    seconds = {
        codec.name: timeit.timeit(functools.partial(make, codec), number=1) for codec in fresh
    }
    sizes = {}
    tracemalloc.start()
    for codec in codecs():
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        make(codec)
        gc.collect()
        sizes[codec.name] = tracemalloc.get_traced_memory()[0] - before
        fresh.append(codec)  # what is shared by codecs counts for the first of them
    tracemalloc.stop()
    return Generation(bare, imports, seconds, sizes)


def table(results: Generation) -> Table:
    """Tabulate import time, and time and memory of a codec."""
    shown = plain_table(
        "having the codecs", f"{len(results.seconds)} codecs: every version of every API, both ways"
    )
    for name in ("", "median", "p99", "most", "", "all"):
        shown.add_column(name, justify="left" if not name else "right")
    spent = [row - other for row, other in zip(results.imports, results.bare, strict=True)]
    shown.add_row("import of specs, ms beside Python's own", f"{median(spent) * 1e3:.0f}")
    for title, figures, unit, digits in (
        ("making a codec, ms", results.seconds, 1e3, 1),
        ("memory of a codec, KiB", results.sizes, 1 / 1024, 0),
    ):
        values = [value * unit for value in figures.values()]
        largest = max(figures, key=lambda name: figures[name])
        cells = (median(values), percentile(values, 99), max(values))
        texts = [f"{cell:,.{digits}f}" for cell in cells]
        shown.add_row(title, *texts, largest, f"{sum(values):,.0f}")
    return shown
