"""No body takes more memory than a constant times its bytes."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec import Codec
from barnabas.specs.codec.codegen import CHARS, size_of
from barnabas.specs.layout import ZEROS, Layout, Node

MOST = 256
"""Bytes of memory for each byte of a body: two bytes may stand for a dict."""

SIZE = 400
"""Elements in the array that fills a body."""


def zero(node: Node) -> Any:
    """The shortest value that a field can have."""
    if node.nullable:
        return None
    if node.struct is not None:
        return shortest(node.struct)
    return [] if node.element is not None else ZEROS.get(node.kind, 0)


def shortest(layout: Layout) -> dict[str, Any]:
    return {slot.name: zero(slot.node) for slot in layout.plain}


def least(node: Node) -> int:
    """Bytes of the shortest value."""
    if node.kind in CHARS:
        return size_of(CHARS[node.kind])
    if node.struct is not None and not node.nullable:
        fields = sum(least(slot.node) for slot in node.struct.plain)
        return fields + (1 if node.struct.flexible else 0)
    return 1 if node.compact or node.struct is not None else 2 if node.kind == "string" else 4


def bodies(codec: Codec) -> list[bytes]:
    """For each array at the top of a message: a body that holds as many elements as it can."""
    found = []
    for slot in codec.layout.slots:
        if slot.node.element is not None and slot.tag is None:
            element = slot.node.element
            item = shortest(element.struct) if element.struct is not None else zero(element)
            values = shortest(codec.layout) | {slot.name: [item] * SIZE}
            found.append(codec.encode(values))
    return found


MESSAGES = [
    pytest.param(name, direction, id=f"{name}-{direction}")
    for _, name, _ in specs.REGISTRY
    for direction in ("request", "response")
]


@pytest.mark.slow("tracemalloc traces every message")
@pytest.mark.parametrize(("name", "direction"), MESSAGES)
def test_memory_is_a_constant_times_the_bytes(name: str, direction: str) -> None:
    message = specs.api(name).message(direction)
    codec = message.codec(message.versions[1])
    for body in bodies(codec):
        for broken in (body, body + b"\0"):  # the fast way, and the careful one
            assert peak(codec, broken) < MOST * len(body)


def peak(codec: Codec, body: bytes) -> int:
    codec.decode(codec.encode({}))  # the codec itself is made before anything is measured
    tracemalloc.start()
    try:
        codec.decode(body)
    except specs.Malformed:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


def test_every_element_takes_a_byte_at_least() -> None:
    for key, _, _ in specs.REGISTRY:
        api = specs.api(key)
        for message in (api.request, api.response):
            for version in range(message.versions[1] + 1):
                check(message.layout(version))


def check(layout: Layout) -> None:
    for slot in layout.slots:
        element = slot.node.element
        if element is not None:
            assert least(element) > 0  # a count of elements without bytes would be a loop for free
        inner = (element or slot.node).struct
        if inner is not None:
            check(inner)
