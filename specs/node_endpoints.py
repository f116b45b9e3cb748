"""Node endpoints (KIP-951, KIP-853) at the end of a response, replaced while the response streams through.

They tell clients the new leaders. They follow all records, and clients work without them: Java's client,
librdkafka and franz-go request metadata instead. So a long response need not be buffered. A walker (see
`barnabas.specs.codec.tail_walker`) finds their offset, and only the bytes from there on are retained. The
replacement has the same size, since the frame's size was sent already. It replaces all endpoints or removes
all, as clients differ in how they treat a subset.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.specs.broker_addresses import NodeKind, Resolve, address_fields, resolved
from barnabas.specs.codec import Codec
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.codec.tail_walker import Walk, tail_walker
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

NAME: Final = "node_endpoints"

BEGIN: Final = 8
"""Bytes of a response from its size to its correlation id; they may always pass."""

_PADDING: Final = (127, 1 << 7, 1 << 14, 1 << 21)
"""Numbers for an unknown tag that take one to four bytes: with them any gap but a very small one can be
filled."""


class _Form(NamedTuple):
    """The codecs for one version of a response that ends with node endpoints."""

    walker: Callable[[int, int], Walk]
    tail: Codec
    """The codec of the tagged section, with the last plain field if that has the endpoints."""
    empty: int
    """The highest first byte of a tail without endpoints."""
    kind: NodeKind


@functools.cache
def _form(key: int, version: int) -> _Form | None:
    location = address_fields(key, version)
    if location is None or location.path != f"{NAME}.":
        return None
    message = api(key).response
    layout = message.layout(version)
    front = [slot for slot in layout.plain if slot.name != NAME]
    tail_slots = tuple(slot for slot in layout.slots if slot not in front)
    origin = f"{message.name} v{version}, tail"
    tail = Codec(Layout(tail_slots, flexible=True, foreign_tags=layout.foreign_tags), origin)
    return _Form(tail_walker(front, origin), tail, len(layout.plain) - len(front), location.kind)


def ends_with_endpoints(key: int, version: int) -> bool:
    """Return whether such a response may have node endpoints, and no other addresses.

    >>> ends_with_endpoints(1, 16), ends_with_endpoints(78, 1), ends_with_endpoints(3, 12)
    (True, True, False)
    """
    return _form(key, version) is not None


class ResponseTail:
    """A response in transit that may end with node endpoints."""

    def __init__(self, key: int, version: int, size: int, *, keep: bool = False) -> None:
        form = _form(key, version)
        assert form is not None  # noqa: S101
        self.key = key
        self.version = version
        self.size = size
        """Bytes of the frame without its size."""
        self._form = form
        self.kept = bytearray() if keep else None
        """The bytes before the tail, if they are retained."""
        self._walk = form.walker(BEGIN, 4 + size)
        self._skip = next(self._walk)
        self._passed = 0
        self._problem: Malformed | None = None

    def find(self, data: memoryview | bytes, start: int, end: int, rest: int) -> int | None:
        """Return the offset in data[start:end] at which the tail begins, or None if it begins later.

        data[start:end] are the next bytes of the response; `rest` bytes follow them.

        Raises:
            Malformed: The offset can't be determined, now and from then on. No more of the response may pass.
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
            self._problem = _unclear("the bytes before them can't be read")
            raise self._problem from None
        self._skip = ahead - end
        self._passed += end - start
        if self.kept is not None:
            self.kept += data[start:end]
        return None

    def empty(self, first: int) -> bool:
        """Return whether a tail with this first byte has no endpoints."""
        return first <= self._form.empty

    def replaced(self, tail: bytes, resolve: Resolve) -> tuple[bytes, int]:
        """Return the tail with replaced addresses and the same size, and the number of removed nodes.

        If the new addresses do not fit, all nodes are removed. Spare bytes become an unknown tagged field.

        Raises:
            Malformed: Not every address can be found. No client may see the tail.
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


def _unclear(reason: str) -> Malformed:
    return Malformed(NAME, 0, f"addresses not found: {reason}")


def _replaced(kind: NodeKind, node: Mapping[str, Any], resolve: Resolve) -> Mapping[str, Any]:
    to = resolved(kind, node["node_id"], node["host"], node["port"], resolve)
    return node if to is None else {**node, "host": to[0], "port": to[1]}


def _fitted(codec: Codec, values: dict[str, Any], size: int) -> bytes | None:
    """Return a tail of exactly this size, or None if the values need more bytes, or one byte less."""
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
