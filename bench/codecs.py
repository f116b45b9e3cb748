"""Measures the codecs side by side on the same bytes, in interleaved rounds."""

from __future__ import annotations

import functools
import math
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from rich.table import Table

from barnabas import specs
from barnabas.specs.broker_addresses import patch
from barnabas.specs.frames import Direction
from bench import messages
from bench.contestants import Absent, contestants, differs
from bench.machine import version as version_of
from bench.messages import Values
from bench.table import beside, microseconds, plain_table

DECODE: Final = "decode"
ENCODE: Final = "encode"
CONTENT: Final = (
    "Metadata: 100 topics of 10 partitions; Fetch: 50 partitions of 1 KiB; Produce: 16 KiB; "
    "FindCoordinator: 10 groups; OffsetCommit: 10 topics of 10 partitions; JoinGroup: 20 members"
)
EXTRA: Final = ("find addresses", "patch addresses")


@dataclass(frozen=True, slots=True)
class Case:
    """A body that all codecs read and write."""

    name: str
    api: str
    direction: Direction
    version: int
    values: Values


@dataclass(slots=True)
class Task:
    """One codec doing one thing to one body."""

    case: str
    codec: str
    label: str
    work: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)
    """For one call, a figure a round."""
    number: int = 0
    """How often it is done in a round; 0: not known yet."""


def cases() -> list[Case]:
    """Return the messages that codecs read and write."""
    results: tuple[tuple[str, Direction, int, Values], ...] = (
        ("Metadata", "response", 12, messages.metadata()),
        ("Fetch", "response", 13, messages.fetched(50, 1024)),
        ("Produce", "request", 9, messages.produce(16 << 10)),
        ("FindCoordinator", "response", 4, messages.coordinators(10)),
        ("OffsetCommit", "request", 8, messages.offsets(10, 10)),
        ("JoinGroup", "response", 7, messages.joined(20)),
    )
    return [Case(f"{api} v{v}", api, direction, v, values) for api, direction, v, values in results]


def prepare() -> tuple[list[Task], list[str]]:
    """Return the timed tasks, after a check that all codecs agree, and notes on missing contestants."""
    tasks: list[Task] = []
    remarks: dict[str, list[str]] = {}
    for case in cases():
        message = specs.api(case.api).message(case.direction)
        body = message.codec(case.version).encode(case.values)
        expected = message.codec(case.version).decode(body)
        for entry in contestants(case.api, case.direction, case.version):
            if isinstance(entry, Absent):
                remarks.setdefault(entry.name, []).append(entry.reason)
                continue
            value = entry.decode(body)
            problem = differs(expected, value)
            if problem is None and entry.encode(value) != body:
                problem = "it encodes other bytes than it decoded"
            if problem:
                problem = f"left out, {problem} ({case.name})"
                remarks.setdefault(entry.name, []).append(problem)
                continue
            for label, work in (
                (DECODE, functools.partial(entry.decode, body)),
                (ENCODE, functools.partial(entry.encode, value)),
            ):
                tasks.append(Task(case.name, entry.name, label, work))
    tasks += _addresses()
    return tasks, [
        f"{name}: {', '.join(dict.fromkeys(reasons))}" for name, reasons in remarks.items()
    ]


def _addresses() -> list[Task]:
    """Return tasks that read or replace the addresses in Metadata, as the proxy does."""
    response = specs.api("Metadata").response.codec(12)
    body = response.encode(messages.metadata())
    project = response.project("brokers.node_id", "brokers.host", "brokers.port")
    replaced = functools.partial(patch, 3, 12, body, lambda *_: ("127.0.0.1", 19092))
    works: tuple[Callable[[], Any], ...] = (functools.partial(project, body), replaced)
    return [Task(name, "barnabas", DECODE, work) for name, work in zip(EXTRA, works, strict=True)]


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[list[Task], str]:
    """All tasks, each for this long in every round; and a remark on who is missing."""
    progress("codecs: do they agree?")
    tasks, remarks = prepare()
    for number in range(rounds):
        progress(f"codecs: round {number + 1} of {rounds}")
        time(tasks, seconds)
    return tasks, "; ".join(remarks)


def time(tasks: list[Task], seconds: float) -> None:
    """Run a round: each task for a number of seconds."""
    for task in tasks:
        if not task.number:
            once = timeit.timeit(task.work, number=1)
            task.number = max(round(seconds / min(once, timeit.timeit(task.work, number=1))), 1)
        task.seconds.append(timeit.timeit(task.work, number=task.number) / task.number)


def table(
    tasks: list[Task], remark: str, title: str = "codecs: µs a message", content: str = CONTENT
) -> Table:
    """Tabulate the results; brackets hold the ratio of a codec to ours."""
    shown = plain_table(f"{title} (times barnabas)", f"{content}. {remark}".strip())
    shown.add_column("")
    results = {(task.case, task.codec, task.label): median(task.seconds) for task in tasks}
    codecs = list(dict.fromkeys(task.codec for task in tasks))
    for codec in codecs:
        shown.add_column(_titled(codec), justify="right")
    for case, label in dict.fromkeys((task.case, task.label) for task in tasks):
        mine = results[case, codecs[0], label]
        line = [case if case in EXTRA else f"{case} {label}"]
        for codec in codecs:
            took = results.get((case, codec, label), math.nan)
            line.append(beside(microseconds(took), took, mine))
        shown.add_row(*line)
    return shown


def _titled(codec: str) -> str:
    package = codec.partition(",")[0]
    return f"{codec}\n{version_of(package)}"
