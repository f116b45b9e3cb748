"""Which arrays of a response have an entry for each element of an array of the request.

An array of the response belongs to the array of the request whose elements have most fields in common with
its own. `TWINS` has the exceptions. A test compares the resulting error responses with Kafka's classes, for
every API and version.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from barnabas.specs import api
from barnabas.specs.layout import Layout, Node, Slot

COMMON_NAMES: Final = {
    "partition": "partition_index",
    "partition_id": "partition_index",
    "index": "partition_index",
    "topic": "name",
    "user": "name",
    "topic_name": "name",
    "topics": "name",
    "coordinator_keys": "key",
    "groups_names": "group_id",
    "group": "group_id",
    "groups": "group_id",
    "group_ids": "group_id",
    "transactional_ids": "transactional_id",
    "consumer_group_ids": "group_id",
    "topic_names": "name",
}
"""Different names of a field in requests and responses -> one common name."""

TWINS: Final = {
    (4, "partition_errors"): ("topic_states.partition_states",),
    (5, "partition_errors"): ("topics.partition_indexes", "topic_states.partition_states"),
    (30, "results"): ("creations",),
    (31, "filter_results"): ("filters",),
    (34, "results"): ("dirs.topics",),
    (50, "results"): ("users",),
    (51, "results"): ("deletions", "upsertions"),
}
"""(API key, array of its response) -> arrays of its request, where the names do not match."""

_NOTHING: Final = Layout((), False)


class Twin(NamedTuple):
    """An array of a request to which an array of the response corresponds."""

    path: tuple[str, ...]
    element: Node


class Pair(NamedTuple):
    """An array of a response, with the request's arrays whose elements its entries answer."""

    name: str
    element: Layout
    """The entries of the response's array."""
    twins: tuple[Twin, ...]
    """The request's arrays; none if only the broker knows the entries, as the partitions in Metadata."""
    inner: tuple[Pair, ...]
    """The pairs within an entry; paths of their twins begin at the request's element."""


@functools.cache
def pairs(key: int, version: int) -> tuple[Pair, ...]:
    """Return the pairs of an API's version on the top level of its response.

    Only arrays whose entries can contain an error code are paired.

    >>> [(pair.name, pair.twins[0].path, pair.inner[0].name) for pair in pairs(0, 9)]
    [('responses', ('topic_data',), 'partition_responses')]
    """
    declaration = api(key)
    response, request = declaration.response.layout(version), declaration.request.layout(version)
    named = {
        slot.name: [
            twin for path in TWINS.get((key, slot.name), ()) for twin in _twin(request, path)
        ]
        for slot in response.slots
    }
    return tuple(_pairs(response, request, named))


def is_code(slot: Slot) -> bool:
    """Return whether a field has an error code."""
    return slot.node.kind == "int16" and slot.name.endswith("error_code")


def _pairs(response: Layout, request: Layout, named: dict[str, list[Twin]]) -> Iterator[Pair]:
    for slot in response.slots:
        element = None if slot.node.element is None else slot.node.element.struct
        if element is not None and any(is_code(located.slot) for located in element.walk()):
            twins = tuple(named.get(slot.name) or _most_similar(slot.name, element, request))
            inner = twins[0].element.struct if twins else None
            yield Pair(slot.name, element, twins, tuple(_pairs(element, inner or _NOTHING, {})))


def _most_similar(name: str, element: Layout, request: Layout) -> Iterable[Twin]:
    """Return the request's array whose elements have most fields in common with a response's."""
    best: tuple[int, list[Twin]] = (0, [])
    names = {(COMMON_NAMES.get(s.name, s.name), s.node.kind) for s in element.slots}
    kinds = [s.node.kind for s in element.slots if not s.name.endswith(("error_code", "message"))]
    for twin in (twin for slot in request.slots for twin in _twin(request, slot.name)):
        inner = twin.element
        if inner.struct is not None:
            request_names = {
                (COMMON_NAMES.get(s.name, s.name), s.node.kind) for s in inner.struct.slots
            }
            score = 2 * len(names & request_names)
        else:
            score = int(inner.kind in kinds)
        score += twin.path == (name,)
        if score > best[0]:
            best = score, [twin]
    return best[1]


def _twin(request: Layout, path: str) -> Iterator[Twin]:
    """Yield the array at a dotted path of a request, if there is one in this version."""
    slot = request.find(path)
    if slot is not None and slot.node.element is not None:
        yield Twin(tuple(path.split(".")), slot.node.element)
