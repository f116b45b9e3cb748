"""Provide a bounded mapping that drops the least recently used entries, and counts them."""

from __future__ import annotations

import functools
from collections import OrderedDict, deque
from collections.abc import Iterator, MutableMapping
from typing import Any, Final, SupportsIndex, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST: Final = 100_000
"""Entries of a mapping at most, by default."""

BYTES: Final = 32 << 20
"""Approximate bytes of its texts and numbers at most: a name may have 32 KiB, a member 100,000 partitions."""

ELEMENT: Final = 64
"""Bytes that an element of a collection takes in addition to its text."""

_TEXTS: Final = (str, bytes)
_COLLECTIONS: Final = (tuple, list, set, frozenset, deque)


def weight(value: Any) -> int:
    """Return the approximate bytes of a value beyond those of any entry.

    Values other than text, numbers and collections report their `weight` attribute.

    >>> weight("name"), weight(("a", 1)), weight(None)
    (4, 129, 0)
    """
    if isinstance(value, _TEXTS):
        return len(value)
    if isinstance(value, _COLLECTIONS):
        inside = sum(map(weight, value)) if any(map(_weighs, set(map(type, value)))) else 0
        return ELEMENT * len(value) + inside
    if isinstance(value, dict):
        return sum(ELEMENT + weight(name) + weight(item) for name, item in value.items())
    return getattr(value, "weight", 0)


@functools.cache
def _weighs(value_type: type) -> bool:
    """Return whether instances of a type may have weight, so that elements without weight are not visited."""
    weighed_types = (*_TEXTS, *_COLLECTIONS, dict)
    return (
        issubclass(value_type, weighed_types)
        or hasattr(value_type, "weight")
        or value_type.__dictoffset__ != 0
    )


class Weighed(list[V]):
    """A list that tracks its weight while it grows; only `append` and `pop` are supported.

    >>> weighed = Weighed()
    >>> weighed.append("name")
    >>> weighed.weight
    68
    """

    def __init__(self) -> None:
        super().__init__()
        self.weight = 0

    def append(self, item: V) -> None:
        """Append an item with its current weight."""
        super().append(item)
        self.weight += ELEMENT + weight(item)

    def pop(self, index: SupportsIndex = -1) -> V:
        """Remove and return an item."""
        item = super().pop(index)
        self.weight -= ELEMENT + weight(item)
        return item


class Memory(MutableMapping[K, V]):
    """A mapping bounded by entries and bytes, which drops the least recently used entry first.

    After an entry grows, set it again, so that its weight is updated.

    >>> memory = Memory(most=2)
    >>> memory["a"], memory["b"] = 1, 2
    >>> _ = memory["a"]
    >>> memory["c"] = 3
    >>> sorted(memory), memory.forgotten
    (['a', 'c'], 1)
    """

    def __init__(self, most: int = MOST, bytes_: int = BYTES) -> None:
        self.forgotten = 0
        self._most = most
        self._most_bytes = bytes_
        self.weight = 0
        """Approximate bytes of all entries."""
        self._weights: dict[K, int] = {}
        """Weights of the entries that have one."""
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __getitem__(self, key: K) -> V:
        value = self._entries[key]
        self._entries.move_to_end(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        self._weigh(key, weight(key) + weight(value))
        while len(self._entries) > self._most or (
            self.weight > self._most_bytes and len(self._entries) > 1
        ):
            forgotten, _ = self._entries.popitem(last=False)
            self._weigh(forgotten, 0)
            self.forgotten += 1

    def _weigh(self, key: K, now: int) -> None:
        self.weight += now - self._weights.pop(key, 0)
        if now:
            self._weights[key] = now

    def __delitem__(self, key: K) -> None:
        del self._entries[key]
        self._weigh(key, 0)

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._entries))  # reading an entry moves it

    def __len__(self) -> int:
        return len(self._entries)
