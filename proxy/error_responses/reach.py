"""Which entries of a message can be refused, and which requests the broker may get whole."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from barnabas.proxy.error_responses.pairs import Pair, pairs
from barnabas.specs import api
from barnabas.specs.entities import entity_fields

_READS: Final = (
    *("Describe", "List", "Find", "Read", "Get", "Fetch", "Metadata", "ApiVersions"),
    "OffsetForLeaderEpoch",
)
"""The beginnings of names of APIs that only read."""

_ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "topic_id": ("topic",),
    "instance": ("member",),
    "records": ("producer_id",),
    "coordinator": ("group", "transactional_id"),
    "resource_type": (),
}
"""Kinds of fields -> the kinds of things by which an entry with such a field can be chosen."""


@functools.cache
def is_read(key: int) -> bool:
    """Return whether an API only reads: its requests may reach the broker whole, whatever is refused.

    A Fetch without a partition of its session would end that partition's part in the session (KIP-227).
    ShareFetch counts as a read, though it carries acknowledgements.

    >>> is_read(1), is_read(78), is_read(0), is_read(6)
    (True, True, False, False)
    """
    name = api(key).name
    return name.startswith(_READS) or name.endswith(("Fetch", "Describe"))


@functools.cache
def nameable(key: int, version: int) -> frozenset[str]:
    """Return the kinds of things by which entries of a request or its response can be chosen.

    >>> sorted(nameable(0, 9)), sorted(nameable(3, 0))
    (['partition', 'producer_id', 'topic', 'transactional_id'], ['partition', 'topic'])
    """
    return named_by_request(key, version) | named_by_response(key, version)


@functools.cache
def named_by_request(key: int, version: int) -> frozenset[str]:
    """Return the kinds of things that fields of a request name, if an entry of the response answers them."""
    arrays = {branch.name for branch in branches(pairs(key, version))}
    deep = not arrays and not is_read(key)
    return _kinds(
        kind
        for path, kind in entity_fields(key, "request", version).items()
        if len(path) == 1 or deep or path[0] in arrays
    )


@functools.cache
def named_by_response(key: int, version: int) -> frozenset[str]:
    """Return the kinds of things that entries of a read's response name."""
    if not is_read(key):
        return frozenset()
    entries = {path for pair in pairs(key, version) for path in _paths(pair, ())}
    response = entity_fields(key, "response", version)
    return _kinds(k for path, k in response.items() if path[:-1] in entries and k != "records")


def _kinds(fields: Iterable[str]) -> frozenset[str]:
    """Return the kinds of things by which an entry with such fields can be chosen."""
    return frozenset(each for kind in fields for each in _ALSO.get(kind, (kind,)))


class Branch(NamedTuple):
    """An array of a request whose elements get entries in the response, and such arrays below it."""

    name: str
    inner: tuple[Branch, ...]


def branches(answered: Iterable[Pair]) -> tuple[Branch, ...]:
    """Return the arrays of a request whose elements get entries in the response.

    >>> branches(pairs(34, 2))
    (Branch(name='dirs', inner=(Branch(name='topics', inner=(Branch(name='partitions', inner=()),)),)),)
    """
    by_name: dict[str, Branch] = {}
    for pair in answered:
        for twin in pair.twins:
            branch = Branch(twin.path[-1], branches(pair.inner))
            for name in reversed(twin.path[:-1]):
                branch = Branch(name, (branch,))
            by_name.setdefault(branch.name, branch)
    return tuple(by_name.values())


def _paths(pair: Pair, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of a response's array, and of those in its entries."""
    path = (*above, pair.name)
    yield path
    for inner in pair.inner:
        yield from _paths(inner, path)
