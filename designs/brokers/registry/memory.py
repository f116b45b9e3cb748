"""The registry and the election in memory: for one process, safe for its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from barnabas.designs.brokers.registry.interface import (
    ABSENT,
    Entry,
    Leader,
    Rank,
    bounded,
    no_rank,
)


class MemoryRegistry:
    """Entries in a dict.

    >>> registry = MemoryRegistry()
    >>> registry.write("/a", b"1", ABSENT), registry.write("/a", b"2", 0), registry.write("/a", b"3", 0)
    (True, True, False)
    >>> registry.read("/a")
    Entry(data=b'2', version=1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._watches: dict[str, list[Callable[[], None]]] = {}
        """Callbacks by path: a write must not take longer because other paths are watched."""

    def read(self, path: str) -> Entry | None:
        """See `Registry`."""
        with self._lock:
            return self._entries.get(path)

    def write(self, path: str, data: bytes, version: int) -> bool:
        """See `Registry`."""
        with self._lock:
            entry = self._entries.get(path)
            if (ABSENT if entry is None else entry.version) != version:
                return False
            self._entries[path] = Entry(bounded(path, data), version + 1)
            parent = path.rpartition("/")[0] if entry is None else None
            places = (path,) if parent is None else (path, parent)
            callbacks = [
                call for path_or_folder in places for call in self._watches.get(path_or_folder, ())
            ]
        for call in callbacks:
            call()
        return True

    def children(self, path: str) -> list[str]:
        """See `Registry`."""
        with self._lock:
            below = (name.rpartition("/") for name in self._entries)
            return sorted(name for parent, _, name in below if parent == path)

    def watch(self, path: str, changed: Callable[[], None]) -> None:
        """See `Registry`."""
        with self._lock:
            self._watches.setdefault(path, []).append(changed)


class MemoryElector:
    """One election.

    >>> elector = MemoryElector()
    >>> elector.enter(1); elector.enter(2); elector.leader()
    Leader(candidate=1, term=1)
    >>> elector.leave(1); elector.leader()
    Leader(candidate=2, term=2)
    """

    def __init__(self, rank: Rank = no_rank) -> None:
        self._rank = rank
        self._lock = threading.Lock()
        self._standing: list[int] = []
        """Candidates by rank, then by age."""
        self._term = 0
        self._watches: list[Callable[[], None]] = []

    def enter(self, candidate: int) -> None:
        """See `Elector`."""
        with self._lock:
            if candidate in self._standing:
                return
            self._standing.append(candidate)
            self._standing.sort(key=self._rank)
            leads = self._standing[0] == candidate
            self._term += leads
        if leads:
            self._tell()

    def leave(self, candidate: int) -> None:
        """See `Elector`."""
        with self._lock:
            if candidate not in self._standing:
                return
            led = self._standing[0] == candidate
            self._standing.remove(candidate)
            self._term += led and bool(self._standing)
        if led:
            self._tell()

    def leader(self) -> Leader | None:
        """See `Elector`."""
        with self._lock:
            return Leader(self._standing[0], self._term) if self._standing else None

    def watch(self, changed: Callable[[], None]) -> None:
        """See `Elector`."""
        with self._lock:
            self._watches.append(changed)

    def _tell(self) -> None:
        for call in tuple(self._watches):
            call()
