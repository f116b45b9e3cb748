"""A mapping that keeps what was used last: bounded, and it counts what it forgets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST: Final = 100_000
"""Entries of a kind that are remembered."""


class Memory(MutableMapping[K, V]):
    """At most `most` entries; the one that was not looked at for longest is forgotten first.

    >>> memory = Memory(most=2)
    >>> memory["a"], memory["b"] = 1, 2
    >>> _ = memory["a"]
    >>> memory["c"] = 3
    >>> sorted(memory), memory.forgotten
    (['a', 'c'], 1)
    """

    def __init__(self, most: int = MOST) -> None:
        self.forgotten = 0
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()

    def __getitem__(self, key: K) -> V:
        value = self._kept[key]
        self._kept.move_to_end(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
            self.forgotten += 1

    def __delitem__(self, key: K) -> None:
        del self._kept[key]

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._kept))  # a look at an entry moves it

    def __len__(self) -> int:
        return len(self._kept)
