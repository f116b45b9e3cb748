"""Node endpoints (KIP-951, KIP-853) at the end of a response, replaced while the response passes.

They tell clients where new leaders are, behind all records, and clients do without them: Java's, librdkafka
and franz-go then ask for metadata. So a long response need not wait for them. A walker, see
`barnabas.specs.codec.tail_walker`, finds their place; only from there on it is kept. They are replaced in as
many bytes, since the frame's size has left already: all or none, as clients differ in what they make of some.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.specs.broker_addresses import Kind, Resolve, place_of, resolved
from barnabas.specs.codec import Codec
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.codec.tail_walker import Walk, tail_walker
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

NAME: Final = "node_endpoints"

BEGIN: Final = 8
"""Bytes of a response with its size up to the tags of its header: these any may let pass."""

_PADDING: Final = (127, 1 << 7, 1 << 14, 1 << 21)
"""Numbers for a tag that nobody knows, which take from one to four bytes: so any gap can be filled but a very
small one."""


class _Form(NamedTuple):
    """How to read one version of a response that ends with them."""

    walker: Callable[[int, int], Walk]
    tail: Codec
    """Of the last plain field, if that is it, and of the tagged section."""
    empty: int
    """The first byte of a tail without any, at most."""
    kind: Kind


@functools.cache
def _form(key: int, version: int) -> _Form | None:
    place = place_of(key, version)
    if place is None or place.path != f"{NAME}.":
        return None
    message = api(key).response
    layout = message.layout(version)
    front = [slot for slot in layout.plain if slot.name != NAME]
    behind = tuple(slot for slot in layout.slots if slot not in front)
    origin = f"{message.name} v{version}, tail"
    tail = Codec(Layout(behind, flexible=True, foreign_tags=layout.foreign_tags), origin)
    return _Form(tail_walker(front, origin), tail, len(layout.plain) - len(front), place.kind)


def ends_with_endpoints(key: int, version: int) -> bool:
    """Whether such a response may hold node endpoints, and no other address.

    >>> ends_with_endpoints(1, 16), ends_with_endpoints(78, 1), ends_with_endpoints(3, 12)
    (True, True, False)
    """
    return _form(key, version) is not None


class ResponseTail:
    """One response on its way that may end with node endpoints."""

    def __init__(self, key: int, version: int, size: int, *, keep: bool = False) -> None:
        form = _form(key, version)
        assert form is not None  # noqa: S101
        self.key = key
        self.version = version
        self.size = size
        """Bytes of the frame without its prefix."""
        self._form = form
        self.kept = bytearray() if keep else None
        """What stands in front of the tail, if it is kept."""
        self._walk = form.walker(BEGIN, 4 + size)
        self._skip = next(self._walk)
        self._passed = 0
        self._problem: Malformed | None = None

    def find(self, data: memoryview | bytes, start: int, end: int, rest: int) -> int | None:
        """data[start:end] comes next, and `rest` bytes behind it: where in it the tail begins, if it does.

        Raises Malformed, from then on, if it can't be told; then nothing more of the response may pass.
        """
        ahead = start + self._skip
        try:
            if self._problem is not None:
                raise self._problem
            if ahead < end:
                ahead = end + self._walk.send((data, ahead, end, self._passed - start))
            if ahead - end >= rest:
                raise Irregular
        except StopIteration as found:
            at = int(found.value)
            if self.kept is not None:
                self.kept += data[start:at]
            return at
        except Irregular:
            self._problem = _unclear("what stands before them can't be read")
            raise self._problem from None
        self._skip = ahead - end
        self._passed += end - start
        if self.kept is not None:
            self.kept += data[start:end]
        return None

    def empty(self, first: int) -> bool:
        """Whether there is nothing in a tail that begins with this byte."""
        return first <= self._form.empty

    def replaced(self, tail: bytes, resolve: Resolve) -> tuple[bytes, int]:
        """As many bytes with the addresses replaced, and how many nodes were left out: all, if they did not
        fit. What is left over becomes a tagged field that nobody knows.

        Raises Malformed if not every address can be told: then nobody may see the tail.
        """
        if self._problem is not None:
            raise self._problem
        codec, size = self._form.tail, len(tail)
        try:
            values = codec.decode(tail)
        except Malformed as problem:
            raise _unclear(problem.reason) from None
        nodes = [_replaced(self._form.kind, node, resolve) for node in values[NAME] or ()]
        fitted = _fitted(codec, values | {NAME: nodes}, size)
        if fitted is not None:
            return fitted, 0
        fitted = _fitted(codec, values | {NAME: []}, size)
        if fitted is None:
            raise _unclear(f"{size} bytes can't be filled")
        return fitted, len(nodes)


def _unclear(why: str) -> Malformed:
    return Malformed(NAME, 0, f"addresses not found: {why}")


def _replaced(kind: Kind, node: Mapping[str, Any], resolve: Resolve) -> Mapping[str, Any]:
    to = resolved(kind, node["node_id"], node["host"], node["port"], resolve)
    return node if to is None else {**node, "host": to[0], "port": to[1]}


def _fitted(codec: Codec, values: dict[str, Any], size: int) -> bytes | None:
    """A tail in so many bytes; None if it is longer, or one byte shorter."""
    tail = codec.encode(values)
    spare, tags = size - len(tail), values.get("_tags", {})
    if not spare:
        return tail
    free = max(tags, default=0) + 1
    for number in {max(number, free): None for number in _PADDING if free < 1 << 31}:
        for content in range(max(spare - 8, 0), spare - 1):
            tail = codec.encode(values | {"_tags": tags | {number: bytes(content)}})
            if len(tail) == size:
                return tail
    return None
