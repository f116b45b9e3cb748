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
    what: str
    work: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)
    """For one call, a figure a round."""
    number: int = 0
    """How often it is done in a round; 0: not known yet."""


def cases() -> list[Case]:
    """What is read and written."""
    found: tuple[tuple[str, Direction, int, Values], ...] = (
        ("Metadata", "response", 12, messages.metadata()),
        ("Fetch", "response", 13, messages.fetched(50, 1024)),
        ("Produce", "request", 9, messages.produce(16 << 10)),
        ("FindCoordinator", "response", 4, messages.coordinators(10)),
        ("OffsetCommit", "request", 8, messages.offsets(10, 10)),
        ("JoinGroup", "response", 7, messages.joined(20)),
    )
    return [Case(f"{api} v{v}", api, way, v, values) for api, way, v, values in found]


def prepare() -> tuple[list[Task], list[str]]:
    """What is timed, after a check that all codecs agree; and who can't take part."""
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
            for what, work in (
                (DECODE, functools.partial(entry.decode, body)),
                (ENCODE, functools.partial(entry.encode, value)),
            ):
                tasks.append(Task(case.name, entry.name, what, work))
    tasks += _addresses()
    return tasks, [
        f"{name}: {', '.join(dict.fromkeys(reasons))}" for name, reasons in remarks.items()
    ]


def _addresses() -> list[Task]:
    """What the proxy does to Metadata: only the addresses are read, or replaced."""
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
    """A round: each task for this long."""
    for task in tasks:
        if not task.number:
            once = timeit.timeit(task.work, number=1)
            task.number = max(round(seconds / min(once, timeit.timeit(task.work, number=1))), 1)
        task.seconds.append(timeit.timeit(task.work, number=task.number) / task.number)


def table(
    tasks: list[Task], remark: str, title: str = "codecs: µs a message", content: str = CONTENT
) -> Table:
    """The results; in brackets how many times ours a codec takes."""
    shown = plain_table(f"{title} (times barnabas)", f"{content}. {remark}".strip())
    shown.add_column("")
    found = {(task.case, task.codec, task.what): median(task.seconds) for task in tasks}
    codecs = list(dict.fromkeys(task.codec for task in tasks))
    for codec in codecs:
        shown.add_column(_titled(codec), justify="right")
    for case, what in dict.fromkeys((task.case, task.what) for task in tasks):
        mine = found[case, codecs[0], what]
        line = [case if case in EXTRA else f"{case} {what}"]
        for codec in codecs:
            took = found.get((case, codec, what), math.nan)
            line.append(beside(microseconds(took), took, mine))
        shown.add_row(*line)
    return shown


def _titled(codec: str) -> str:
    package = codec.partition(",")[0]
    return f"{codec}\n{version_of(package)}"
