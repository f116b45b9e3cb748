"""A mapping that keeps what was used last: bounded, and it counts what it forgets."""

from __future__ import annotations

import functools
from collections import OrderedDict, deque
from collections.abc import Iterator, MutableMapping
from typing import Any, Final, SupportsIndex, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST: Final = 100_000
"""Entries of a kind that are remembered."""

BYTES: Final = 32 << 20
"""Bytes of their texts and numbers, nearly: a name may have 32 KiB, a member 100,000 partitions."""

ELEMENT: Final = 64
"""What an element of a collection takes beside its text."""

_TEXTS: Final = (str, bytes)
_COLLECTIONS: Final = (tuple, list, set, frozenset, deque)


def weight(value: Any) -> int:
    """Bytes that a value takes beside what any entry takes, nearly; of what is no text, number or
    collection, that is its `weight`.

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
def _weighs(kind: type) -> bool:
    """Whether one of a type may weigh anything: collections of what does not are weighed again and again."""
    known = (*_TEXTS, *_COLLECTIONS, dict)
    return issubclass(kind, known) or hasattr(kind, "weight") or kind.__dictoffset__ != 0


class Weighed(list[V]):
    """A list that knows its weight, for one that grows while it is remembered: by `append` only.

    >>> weighed = Weighed()
    >>> weighed.append("name")
    >>> weighed.weight
    68
    """

    def __init__(self) -> None:
        super().__init__()
        self.weight = 0

    def append(self, item: V) -> None:
        """Add an item, which is weighed now."""
        super().append(item)
        self.weight += ELEMENT + weight(item)

    def pop(self, index: SupportsIndex = -1) -> V:
        """Take one away."""
        item = super().pop(index)
        self.weight -= ELEMENT + weight(item)
        return item


class Memory(MutableMapping[K, V]):
    """At most `most` entries of so many bytes; the one that was not looked at for longest is forgotten
    first. An entry that grows is to be put in again, so that it is weighed.

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
        """Bytes that its entries take, nearly."""
        self._weights: dict[K, int] = {}
        """Of the entries that weigh something."""
        self._kept: OrderedDict[K, V] = OrderedDict()

    def __getitem__(self, key: K) -> V:
        value = self._kept[key]
        self._kept.move_to_end(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        self._weigh(key, weight(key) + weight(value))
        while len(self._kept) > self._most or (
            self.weight > self._most_bytes and len(self._kept) > 1
        ):
            forgotten, _ = self._kept.popitem(last=False)
            self._weigh(forgotten, 0)
            self.forgotten += 1

    def _weigh(self, key: K, now: int) -> None:
        self.weight += now - self._weights.pop(key, 0)
        if now:
            self._weights[key] = now

    def __delitem__(self, key: K) -> None:
        del self._kept[key]
        self._weigh(key, 0)

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._kept))  # a look at an entry moves it

    def __len__(self) -> int:
        return len(self._kept)
