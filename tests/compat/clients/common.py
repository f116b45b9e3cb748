"""What all clients share: what they are asked, what they send, how they answer.

A client's process prints one line of JSON: {"result": ..., "addresses": [...]}, or {"error": ...,
"addresses": [...]}. Results are free of addresses, names and times, so that those of two runs can be
compared. `addresses` are the brokers as host:port that metadata told the client, and those to which it was
seen connected.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tests.compat.clients.connections import Watch

PARTITIONS: Final = 4
RECORDS: Final = 40
PATIENCE: Final = 20.0
"""Seconds that a client waits for what it was asked to see."""

SLOW: Final = 3.0
"""Seconds between commits that are seldom: a member of KIP-848 beats every 5 s."""

SELDOM: Final = 3
"""Commits of that kind."""

COMPRESSIONS: Final = ("none", "gzip", "snappy", "lz4", "zstd")

Record = tuple[int, int, str | None, str]
"""Partition, offset, key, value."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client is to do it with.

    version: the broker's, as numbers; empty for the embedded cluster. name: no other run uses it; names
    of topics and groups begin with it.
    """

    bootstrap: str
    version: tuple[int, ...]
    name: str
    addresses: set[str] = field(default_factory=set)

    @property
    def embedded(self) -> bool:
        """Whether the brokers are librdkafka's mock cluster."""
        return not self.version

    @property
    def groupless(self) -> bool:
        """Whether the brokers keep offsets of groups but know no members: JoinGroup came with 0.9."""
        return (0,) < self.version < (0, 9)

    @property
    def consumer_protocol(self) -> bool:
        """Whether the brokers have groups of KIP-848 without being asked to."""
        return self.version >= (4, 0)

    def compressions(self, *lacking: str) -> list[str]:
        """Those that the broker knows (zstd: KIP-110), and the client with it."""
        known = COMPRESSIONS if self.embedded or self.version >= (2, 1) else COMPRESSIONS[:-1]
        return [name for name in known if name not in lacking]


class Member(Protocol):
    """A consumer in a group, used by one thread."""

    def poll(self) -> None:
        """Wait a moment for records, and take part in the group."""

    def owned(self) -> list[int]:
        """The partitions that are its own now."""

    def close(self) -> None:
        """Leave the group."""


def sent(label: str, count: int = RECORDS) -> Iterator[tuple[int, bytes, bytes]]:
    """Partition, key and value of each record to send."""
    for number in range(count):
        yield number % PARTITIONS, f"k{number}".encode(), f"{label}-{number}".encode()


def until(ready: Callable[[], bool], what: Callable[[], str], pause: float = 0.05) -> None:
    """Wait until it is so. Raises TimeoutError, saying what was there instead."""
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {PATIENCE:g} s: {what()}")
        time.sleep(pause)


@contextmanager
def _joined(member: Member) -> Iterator[list[list[int]]]:
    """A member in a thread of its own, until the end; what it owns now is the list's last."""
    owned: list[list[int]] = [[]]
    leave = threading.Event()
    problems: list[BaseException] = []

    def work() -> None:
        try:
            while not leave.is_set():
                member.poll()
                owned[:] = [sorted(member.owned())]
        except Exception as problem:  # noqa: BLE001 - raised again by who waits for it
            problems.append(problem)
        finally:
            member.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield owned
    finally:
        leave.set()
        thread.join(PATIENCE)
        if problems and sys.exc_info()[0] in (None, TimeoutError):
            raise problems[0]


def shared(join: Callable[[], Member]) -> dict[str, list[list[int]]]:
    """Who owns what when a group has one member, when a second one has come, and after it has left."""
    everything = list(range(PARTITIONS))
    with _joined(join()) as first:
        until(lambda: first[-1] == everything, lambda: f"the only member owns {first[-1]}")
        with _joined(join()) as second:
            until(
                lambda: (
                    sorted(first[-1] + second[-1]) == everything
                    and bool(first[-1])
                    and bool(second[-1])
                ),
                lambda: f"two members own {first[-1]} and {second[-1]}",
            )
            both = sorted([first[-1], second[-1]])
        until(lambda: first[-1] == everything, lambda: f"the member that is left owns {first[-1]}")
        return {"alone": [everything], "two": both, "left": [first[-1]]}


ADMIN: Final = (
    ("nodes", (0,)),
    ("create", (0, 10, 1)),  # CreateTopics, DeleteTopics: KIP-4
    ("described", (0, 10, 1)),
    ("more", (1, 0)),  # CreatePartitions: KIP-195
    ("grown", (1, 0)),
    ("cluster", (0, 10, 1)),
    ("configs", (0, 11)),  # DescribeConfigs: KIP-133
    ("delete", (0, 10, 1)),
    ("commit", (0, 9)),
    ("groups", (0, 9)),
    ("group", (0, 9)),
    ("offsets", (0, 9)),
)
"""Admin calls in their order, and the version that brought what they need."""

EMBEDDED: Final = ("nodes", "commit", "offsets")
"""Those that librdkafka's mock cluster knows; its own client waits in vain for an answer to others."""

MADE: Final = 3
GROWN: Final = 5
"""Partitions of the topic that the admin job makes, and to how many it grows."""


def administer(asked: Asked, calls: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each call gives, of those that the client has and the broker should know."""
    return {
        name: outcome(calls[name])
        for name, since in ADMIN
        if name in calls and (name in EMBEDDED if asked.embedded else asked.version >= since)
    }


def eventually(look: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    """What there is to see when it is good; after a while what there is then, or the error that it is."""
    deadline = time.monotonic() + PATIENCE / 2
    while True:
        over = time.monotonic() > deadline
        try:
            found = look()
            if over or good(found):
                return found
        except Exception:  # e.g. a broker that has not heard yet of a new topic
            if over:
                raise
        time.sleep(0.1)


def settled(partitions: Callable[[], list[Any]], count: int) -> list[Any]:
    """A topic's partitions when there are so many."""
    found: list[Any] = eventually(partitions, lambda found: len(found) == count)
    return found


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the name of the error in which it ends."""
    try:
        return call()
    except Exception as problem:  # noqa: BLE001 - which one it is, is the result
        named = getattr(problem.args[0], "name", None) if problem.args else None  # librdkafka's
        return f"error: {named() if callable(named) else type(problem).__name__}"


def main(*jobs: Callable[[Asked], Any]) -> None:
    """Do what the command line asks for, and answer."""
    name, asked_as = sys.argv[1:]
    asked = Asked(**{**json.loads(asked_as), "version": tuple(json.loads(asked_as)["version"])})
    job = next(job for job in jobs if job.__name__ == name)
    answers = os.fdopen(os.dup(1), "w")  # what a library prints must not stand in the answer
    os.dup2(2, 1)
    with Watch() as watch:
        try:
            given = job(asked)
            result = asyncio.run(given) if asyncio.iscoroutine(given) else given
            answer: dict[str, Any] = {"result": result}
        except Exception as problem:  # noqa: BLE001 - the answer
            answer = {"error": f"{type(problem).__name__}: {problem}"}
    answer["addresses"] = sorted(asked.addresses | watch.addresses)
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    os._exit(0)  # a client's threads that hang must not hold it


def by_partition(offsets: Sequence[tuple[int, int]]) -> dict[str, list[int]]:
    """Partition -> offsets in order."""
    found: dict[str, list[int]] = {}
    for partition, offset in sorted(offsets):
        found.setdefault(str(partition), []).append(offset)
    return found
