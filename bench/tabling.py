"""`python -m bench.tabling WAY FILE [MASTER]`: one way from a capture to tables, a process for each.

The pure core and `local[1]` are bound to one core: beside its task Spark has threads that compile, collect
and serialize, and a Python worker.

Prints a line of JSON, see `Spans`. What is written is Parquet in a folder that is gone afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import machine

EVERY: Final = 1.0
"""Seconds between two looks at the memory of the processes below this one: looking costs a little, too."""
CLUSTER: Final = "standalone"
"""In place of a master's URL: a cluster of two workers with a core each, started for the measurement."""
ONE_CORE: Final = "local[1]"
ROWS: Final = 1000
"""Of a batch that the pure core writes."""


class Spans(NamedTuple):
    """Start-up and work of one way: seconds, CPU seconds, MiB."""

    rows: int
    start_seconds: float
    start_cpu: float
    seconds: float
    cpu: float
    driver_mib: float
    """Peak of the Python process that was started."""
    jvm_mib: float
    """Peak of the JVM; 0: there is none."""
    worker_mib: float
    """Peak of the largest Python worker; 0: there is none."""
    findings_seconds: float = 0.0
    """Of `seconds`, those of the analysis findings; 0: nothing is analysed."""


class Peaks:
    """The highest peak of each process below one, by what it is. Linux only: elsewhere all 0."""

    def __init__(self, above: int) -> None:
        self._above = above
        self.jvm = self.worker = 0.0

    def look(self) -> None:
        """Look at them now."""
        for pid in machine.family(self._above)[1:]:
            peak = machine.peak_mib(pid) or 0.0
            if (machine.PROC / str(pid) / "comm").read_text().strip() == "java":
                self.jvm = max(self.jvm, peak)
            else:
                self.worker = max(self.worker, peak)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look again and again, and once more in the end."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(EVERY):
                self.glance()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self.glance()

    def glance(self) -> None:
        """Update the peaks from the current memory; processes that have ended are skipped."""
        try:
            self.look()
        except OSError:
            return


class Clock:
    """Wall and CPU seconds of this process and those below it, since it began."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def now(self) -> tuple[float, float]:
        """Both."""
        return time.perf_counter() - self._begun, machine.cpu_seconds(os.getpid()) or 0.0


def pure(path: Path, out: Path, *, bodies: bool) -> int:
    """Write the rows of a capture with the pure core in one process, and return their number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from barnabas.captures.kafka.context import Context
    from barnabas.captures.kafka.conversations import Conversations
    from barnabas.captures.kafka.exchange import Exchange
    from barnabas.captures.reader import CaptureReader
    from barnabas.cli.proxy.memory import keep_freed
    from barnabas.pipeline.rows.bodies import BODY, body_array
    from barnabas.pipeline.rows.bodies import body as body_of
    from barnabas.pipeline.rows.columns import EXCHANGES, arrow
    from barnabas.pipeline.rows.exchanges import batch, row

    keep_freed()  # as each command does
    context = Context()
    schema = arrow(EXCHANGES)

    def made(exchange: Exchange) -> dict[str, Any]:
        context.learn(exchange)
        results = row(exchange, context, capture=path.name)
        return results | {"body": body_of(exchange, context.topics)} if bodies else results

    def table(rows: list[dict[str, Any]]) -> pa.Table:
        results = batch(rows, EXCHANGES)
        if bodies:
            column = body_array([row["body"] for row in rows])
            results = results.append_column(pa.field("body", BODY), column)
        return pa.Table.from_batches([results])

    count = 0
    rows: list[dict[str, Any]] = []
    if bodies:
        schema = schema.append(pa.field("body", BODY))
    with pq.ParquetWriter(out / "exchanges.parquet", schema) as writer:
        for exchange in Conversations().exchanges(CaptureReader(path)):
            rows.append(made(exchange))
            if len(rows) == ROWS:
                writer.write_table(table(rows))
                count += len(rows)
                rows = []
        writer.write_table(table(rows))
    return count + len(rows)


def measure_pure(path: Path, out: Path, *, bodies: bool) -> Spans:
    """Measure the pure core; its start is Python's."""
    clock = Clock()
    rows = pure(path, out, bodies=bodies)
    seconds, cpu = clock.now()
    return Spans(rows, 0.0, 0.0, seconds, cpu, machine.peak_mib(os.getpid()) or 0.0, 0.0, 0.0)


def measure_spark(path: Path, out: Path, master: str, *, bodies: bool) -> Spans:
    """Measure the pipeline; its start ends when a Python worker of the session has answered."""
    clock, peaks = Clock(), Peaks(os.getpid())
    from barnabas.pipeline.spark.session import LIGHT, LIGHT_UP_TO, session
    from barnabas.pipeline.tables.tables import TableOptions, write

    options = TableOptions() if bodies else TableOptions(bodies=None)
    settings = LIGHT if path.stat().st_size < LIGHT_UP_TO else {}  # as `barnabas analyze` does
    with session(master, settings) as spark:
        spark.range(1).mapInArrow(lambda batches: batches, "id bigint").collect()
        begun, begun_cpu = clock.now()
        with peaks.watched():
            rows = write(spark, [path], out, options).exchanges
            seconds, cpu = clock.now()
    driver = machine.peak_mib(os.getpid()) or 0.0
    cost = seconds - begun, cpu - begun_cpu
    return Spans(rows, begun, begun_cpu, *cost, driver, peaks.jvm, peaks.worker)


def measure_decode(path: Path) -> Spans:
    """`barnabas decode --json`, a line each exchange; its start is that of Python."""
    clock = Clock()
    command = (sys.executable, "-m", "barnabas", "decode", "--json", str(path))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as decoding:
        assert decoding.stdout is not None
        rows = sum(1 for _ in decoding.stdout)
    seconds, _ = clock.now()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    return Spans(rows, 0.0, 0.0, seconds, cpu, used.ru_maxrss / 1024, 0.0, 0.0)


def measure_analyze(path: Path, out: Path, master: str) -> Spans:
    """`barnabas analyze`: tables, analyses and the report. What starting a cluster takes is not in it."""
    from barnabas.pipeline.analyze import analyze
    from barnabas.pipeline.spark.session import LIGHT, session
    from barnabas.pipeline.tables.tables import write
    from tests.pipeline.spark_processes import standalone

    peaks = Peaks(os.getpid())
    steps: list[tuple[str, float, int]] = []

    def note(_: int, __: int, label: str) -> None:
        steps.append((label, clock.now()[0], threading.get_ident()))

    with ExitStack() as stack:
        if master == CLUSTER:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-bench-"))
            master, settings = stack.enter_context(standalone(Path(folder))), {}
        else:
            settings = dict(LIGHT)  # as `barnabas analyze` does
        clock = Clock()
        spark = stack.enter_context(session(master, settings))
        begun, begun_cpu = clock.now()
        with peaks.watched():
            rows = write(spark, [path], out).exchanges
            analyze(spark, out, note)
            seconds, cpu = clock.now()
    at = next(at for at, (label, *_) in enumerate(steps) if label == "analysing: findings")
    _, findings_begun, thread = steps[at]
    # each thread has one analysis after the other
    over = next((moment for _, moment, who in steps[at + 1 :] if who == thread), seconds)
    driver = machine.peak_mib(os.getpid()) or 0.0
    cost = seconds - begun, cpu - begun_cpu
    results = over - findings_begun
    return Spans(rows, begun, begun_cpu, *cost, driver, peaks.jvm, peaks.worker, results)


WAYS: Final[dict[str, Callable[[Path, Path, str], Spans]]] = {
    "pure-exchanges": lambda path, out, _: measure_pure(path, out, bodies=False),
    "pure-bodies": lambda path, out, _: measure_pure(path, out, bodies=True),
    "pure-decode": lambda path, _, __: measure_decode(path),
    "spark-analyze": measure_analyze,
    "spark-exchanges": lambda path, out, master: measure_spark(path, out, master, bodies=False),
    "spark-bodies": lambda path, out, master: measure_spark(path, out, master, bodies=True),
}


def main() -> None:
    """Go one of the ways."""
    parser = argparse.ArgumentParser(prog="python -m bench.tabling", description=__doc__)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("file", type=Path)
    parser.add_argument("master", nargs="?", default="local[2]")
    options = parser.parse_args()
    if options.way.startswith("pure") or options.master == ONE_CORE:
        machine.bind_to_one_core()
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as out:
        results = WAYS[options.way](options.file.resolve(), Path(out), options.master)
    print(json.dumps(results._asdict()))


if __name__ == "__main__":
    main()
