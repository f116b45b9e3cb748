"""Interfaces of a registry of small, versioned entries, and of an election.

Both are based on ZooKeeper: a write may depend on the version that was read, and a leader has created a node
that ends with its session. Calls may take a network round trip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol


class Entry(NamedTuple):
    """The contents of a path. The first version of an entry is 0, each write adds 1."""

    data: bytes
    version: int


class Leader(NamedTuple):
    """The leader and its term: a later leader has a higher term."""

    candidate: int
    term: int


Rank = Callable[[int], float]
"""The rank of a candidate: the least leads."""


def no_rank(_: int) -> float:
    """Rank all candidates equally."""
    return 0


ABSENT = -1
"""The version of an entry that does not exist."""


ENTRY_LIMIT: Final = 900_000
"""Bytes of an entry. ZooKeeper accepts 1 MiB, including the path (jute.maxbuffer), and closes the connection
of a larger write: a broker that retried it would coordinate nothing."""


def bounded(path: str, data: bytes) -> bytes:
    """Check the size of an entry's data, and return the data. Raises ValueError above ENTRY_LIMIT."""
    if len(data) > ENTRY_LIMIT:
        raise ValueError(f"{len(data)} bytes for {path[:80]}; the most is {ENTRY_LIMIT}")
    return data


class Registry(Protocol):
    """Entries by path, as `/groups/g`."""

    def read(self, path: str) -> Entry | None:
        """Return an entry; None: it does not exist."""

    def write(self, path: str, data: bytes, version: int) -> bool:
        """Replace an entry of this version, or create one that is ABSENT; False: it has another version.

        Raises ValueError above ENTRY_LIMIT bytes.
        """

    def children(self, path: str) -> list[str]:
        """Return the names of the entries right below a path, sorted."""

    def watch(self, path: str, changed: Callable[[], None]) -> None:
        """Call back after each change of the entry, or of the set of entries right below it.

        The callback may run in another thread, and before or after `write` returns.
        """


class Elector(Protocol):
    """An election: the oldest candidate of the least rank leads."""

    def enter(self, candidate: int) -> None:
        """Stand for election."""

    def leave(self, candidate: int) -> None:
        """Withdraw a candidate, also one that has died; if it led, another one leads."""

    def leader(self) -> Leader | None:
        """Return the leader as last known, without a request.

        None: there is no leader, or the registry is unreachable.
        """

    def watch(self, changed: Callable[[], None]) -> None:
        """Call back after each change, perhaps in another thread."""
