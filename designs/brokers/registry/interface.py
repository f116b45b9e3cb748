"""The interfaces: a registry of small entries with versions, and an election.

Both are what ZooKeeper gives: a write may depend on the version that was read, and a leader is whoever
made a node that goes when its session does. Calls may take the time of a network round trip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol


class Entry(NamedTuple):
    """What a path holds. The first version of an entry is 0, each write adds 1."""

    data: bytes
    version: int


class Leader(NamedTuple):
    """Who leads, and in which term: a later leader has a higher one."""

    candidate: int
    term: int


Rank = Callable[[int], float]
"""How well a candidate is suited to lead: the least leads."""


def no_rank(_: int) -> float:
    """All are suited as well."""
    return 0


ABSENT = -1
"""The version of an entry that does not exist."""


ENTRY_LIMIT: Final = 900_000
"""Bytes of an entry. ZooKeeper takes 1 MiB, with the path (jute.maxbuffer), and closes the connection of who
writes more: a broker that tried again and again would coordinate nothing."""


def bounded(path: str, data: bytes) -> bytes:
    """What an entry is to hold. Raises ValueError for more than ENTRY_LIMIT."""
    if len(data) > ENTRY_LIMIT:
        raise ValueError(f"{len(data)} bytes for {path[:80]}; the most is {ENTRY_LIMIT}")
    return data


class Registry(Protocol):
    """Entries by path, as `/groups/g`."""

    def read(self, path: str) -> Entry | None:
        """An entry; None: there is none."""

    def write(self, path: str, data: bytes, version: int) -> bool:
        """Replace an entry that has this version, or make one that is ABSENT. False: it has another.

        Raises ValueError for more than ENTRY_LIMIT bytes.
        """

    def children(self, path: str) -> list[str]:
        """Names of the entries right below a path, sorted."""

    def watch(self, path: str, changed: Callable[[], None]) -> None:
        """Call back after each change of the entry, or of which entries are right below it.

        The callback may come in another thread, and before or after `write` returns.
        """


class Elector(Protocol):
    """One election: of those that stand one of the least rank leads, which has stood longest of these."""

    def enter(self, candidate: int) -> None:
        """Stand for election."""

    def leave(self, candidate: int) -> None:
        """Stand no longer, or have died: if it led, another one of those that stand leads."""

    def leader(self) -> Leader | None:
        """Who leads, as far as is known here; it is not asked, so this takes no time.

        None: nobody, or nobody knows, since what holds the election can't be reached.
        """

    def watch(self, changed: Callable[[], None]) -> None:
        """Call back after each change, perhaps in another thread."""
