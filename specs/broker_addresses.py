"""Where brokers' addresses stand in responses, and how to replace them and copy all the rest.

A client that learns a broker's real address goes past the proxy. So every place is listed here;
a test compares the list with all declarations.
"""

from __future__ import annotations

import functools
import struct
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from barnabas.specs.codec import Codec
from barnabas.specs.codec.careful_decoder import text_of
from barnabas.specs.codec.careful_encoder import uvarint
from barnabas.specs.codec.codegen import CHARS
from barnabas.specs.codec.decoder import IRREGULAR
from barnabas.specs.declaration import FOREVER
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.keys import (
    BEGIN_QUORUM_EPOCH,
    DESCRIBE_CLUSTER,
    DESCRIBE_QUORUM,
    END_QUORUM_EPOCH,
    FETCH,
    FETCH_SNAPSHOT,
    FIND_COORDINATOR,
    METADATA,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
    UPDATE_RAFT_VOTER,
    VOTE,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

Kind = Literal["broker", "controller"]

Resolve = Callable[[Kind, int, str, int], tuple[str, int] | None]
"""(kind, node id, host, port) -> the address to put there, or None to leave it as it is.

The host is as Java reads it; it and the port may be none that anybody can reach.
"""

EXPLAINED: Final = 1 << 16
"""Bytes of a body up to which the careful reader is asked why its addresses are not found."""


class Place(NamedTuple):
    """The versions of a response that hold addresses, and where.

    Hosts and ports stand below `path`; `owner` is the path of the id of the node that they belong to.
    """

    first: int
    last: int
    path: str
    owner: str
    kind: Kind = "broker"


def _endpoints(first: int, kind: Kind = "broker") -> tuple[Place, ...]:
    """Return the place of the field that tells where new leaders are (KIP-951, KIP-853)."""
    return (Place(first, FOREVER, "node_endpoints.", "node_endpoints.node_id", kind),)


PLACES: Final[dict[int, tuple[Place, ...]]] = {
    PRODUCE: _endpoints(10),
    FETCH: _endpoints(16),
    METADATA: (Place(0, FOREVER, "brokers.", "brokers.node_id"),),
    FIND_COORDINATOR: (
        Place(0, 3, "", "node_id"),
        Place(4, FOREVER, "coordinators.", "coordinators.node_id"),
    ),
    VOTE: _endpoints(1, "controller"),
    BEGIN_QUORUM_EPOCH: _endpoints(1, "controller"),
    END_QUORUM_EPOCH: _endpoints(1, "controller"),
    DESCRIBE_QUORUM: (Place(2, FOREVER, "nodes.listeners.", "nodes.node_id", "controller"),),
    FETCH_SNAPSHOT: _endpoints(1, "controller"),
    DESCRIBE_CLUSTER: (Place(0, FOREVER, "brokers.", "brokers.broker_id"),),
    SHARE_FETCH: _endpoints(0),
    SHARE_ACKNOWLEDGE: _endpoints(0),
    UPDATE_RAFT_VOTER: (
        Place(0, FOREVER, "current_leader.", "current_leader.leader_id", "controller"),
    ),
}
"""By API key: the places that `patch` understands."""

NOT_OURS: Final[dict[int, str]] = {
    58: "what a controller tells a broker (KIP-590), which knows controllers by its configuration",
    88: "endpoints of Streams applications (KIP-1071), not of brokers",
    89: "endpoints of Streams applications (KIP-1071), not of brokers",
}
"""By API key: addresses that are left alone, and why."""


@functools.cache
def leaks(key: int, version: int | None = None) -> bool:
    """Whether responses of an API (in this version) may hold addresses that `patch` can't replace.

    Without a version, as where a header can't be read: whether some version has any. That an API has
    addresses is known; where they stand in a version to come is not.

    >>> leaks(3, 13), leaks(3, 99), leaks(55, 2), leaks(12), leaks(3)
    (False, True, False, False, True)
    """
    if version is None:
        return key in PLACES
    return key in PLACES and not api(key).versions[0] <= version <= api(key).versions[1]


@functools.cache
def place_of(key: int, version: int) -> Place | None:
    """Where the addresses stand in this version's response; None if it has none."""
    if key > STEP:
        paths = of_key(key)[1].addresses
        return None if paths is None else Place(0, FOREVER, *paths)
    for place in PLACES.get(key, ()):
        if place.first <= version <= place.last:
            return place
    return None


Locate = Callable[[bytes], tuple[list, list]]  # type: ignore[type-arg]


@functools.cache
def _locator(key: int, version: int, place: Place) -> tuple[Locate, struct.Struct]:
    """Return what finds the addresses in a body, and how a port is written there."""
    codec = api(key).response.codec(version)
    locate = codec.locate(place.owner, f"{place.path}host", f"{place.path}port")
    port = codec.layout.find(f"{place.path}port")
    assert port is not None  # noqa: S101
    return locate, struct.Struct(f">{CHARS[port.node.kind]}")  # the quorum's take two bytes


def patch(key: int, version: int, body: bytes, resolve: Resolve) -> bytes | None:
    """The body with its addresses replaced; None if none had to be. All else is copied.

    Nodes without an address (empty host) stay. A node of the quorum may have several listeners: all of
    them get the address that stands for the first. Raises Malformed if not every address can be told:
    then nobody may see the body.
    """
    place = place_of(key, version)
    if place is None:
        return None
    response = api(key).response.codec(version)
    locate, port_form = _locator(key, version, place)
    try:
        found, boxes = locate(body)
    except IRREGULAR as problem:
        raise _unclear(response, place, body, problem) from None
    kind = place.kind
    if key == DESCRIBE_CLUSTER and version >= 1:
        # KIP-919: 2 asks for the controllers, whose ids may equal brokers' ids
        kind = (
            "controller" if response.project("endpoint_type")(body)["endpoint_type"] == 2 else kind
        )
    compact = response.layout.flexible
    edits: list[tuple[int, int, bytes]] = []
    first = _first_of_each(resolve)
    for node, raw, port, start, end in found:
        to = resolved(kind, node, text_of(raw), port, first)
        if to is None:
            continue
        name = to[0].encode()
        length = uvarint(len(name) + 1) if compact else struct.pack(">h", len(name))
        edits.append((start, end, length + name + port_form.pack(to[1])))
    if not edits:
        return None
    begins = [begin for begin, _, _ in edits]
    grown = [0, *accumulate(len(new) - (stop - begin) for begin, stop, new in edits)]
    for at, start, end in boxes:
        more = grown[bisect_left(begins, end)] - grown[bisect_left(begins, start)]
        edits.append((at, start, uvarint(end - start + more)))
    out: list[bytes] = []
    copied = 0
    for start, end, new in sorted(edits):
        out += (body[copied:start], new)
        copied = end
    out.append(body[copied:])
    return b"".join(out)


def _first_of_each(resolve: Resolve) -> Resolve:
    """Return a function that resolves the first address of each node, and gives it for the others."""
    addresses: dict[int, tuple[str, int] | None] = {}

    def first(kind: Kind, node: int, host: str, port: int) -> tuple[str, int] | None:
        if node not in addresses:
            addresses[node] = resolve(kind, node, host, port)
        return addresses[node]

    return first


def resolved(
    kind: Kind, node: int, host: str, port: int, resolve: Resolve
) -> tuple[str, int] | None:
    """The address to put in the place of one; None if it stays, as that of a node without any does."""
    if not host and port <= 0:
        return None
    to = resolve(kind, node, host, port)
    return None if to == (host, port) else to


def _unclear(response: Codec, place: Place, body: bytes, problem: Exception) -> Malformed:
    """Why no reader is sure of the addresses: Kafka would not read it, or it is too odd."""
    why = str(problem)
    if len(body) <= EXPLAINED:
        try:
            odd = response.inspect(body)[1]
        except Malformed as found:
            return found
        why = "; ".join(f"{one.path}: {one.what}" for one in odd[:3])
    return Malformed(place.path.rstrip("."), 0, f"addresses not found: {why}")
