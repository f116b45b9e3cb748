"""Where responses have addresses of brokers, and how to replace them while copying all other bytes.

A client that learns a broker's real address bypasses the proxy. So the table lists every such field; a test
compares it with all declarations.
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
    ENVELOPE,
    FETCH,
    FETCH_SNAPSHOT,
    FIND_COORDINATOR,
    METADATA,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
    STREAMS_GROUP_DESCRIBE,
    STREAMS_GROUP_HEARTBEAT,
    UPDATE_RAFT_VOTER,
    VOTE,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

NodeKind = Literal["broker", "controller"]

Resolve = Callable[[NodeKind, int, str, int], tuple[str, int] | None]
"""(kind, node id, host, port) -> the address to write instead, or None to keep the address.

The host is decoded as Java decodes it. Host and port may be unreachable or invalid."""

EXPLAINED: Final = 1 << 16
"""The largest body, in bytes, for which the careful decoder looks for the reason of an error."""


class AddressFields(NamedTuple):
    """The fields with addresses in some versions of a response.

    Attributes:
        path: The prefix of the fields `host` and `port`.
        owner: The path of the id of the node that has the address.
    """

    first: int
    last: int
    path: str
    owner: str
    kind: NodeKind = "broker"


def _endpoints(first: int, kind: NodeKind = "broker") -> tuple[AddressFields, ...]:
    """Return the location of the field with the endpoints of new leaders (KIP-951, KIP-853)."""
    return (AddressFields(first, FOREVER, "node_endpoints.", "node_endpoints.node_id", kind),)


ADDRESS_FIELDS: Final[dict[int, tuple[AddressFields, ...]]] = {
    PRODUCE: _endpoints(10),
    FETCH: _endpoints(16),
    METADATA: (AddressFields(0, FOREVER, "brokers.", "brokers.node_id"),),
    FIND_COORDINATOR: (
        AddressFields(0, 3, "", "node_id"),
        AddressFields(4, FOREVER, "coordinators.", "coordinators.node_id"),
    ),
    VOTE: _endpoints(1, "controller"),
    BEGIN_QUORUM_EPOCH: _endpoints(1, "controller"),
    END_QUORUM_EPOCH: _endpoints(1, "controller"),
    DESCRIBE_QUORUM: (
        AddressFields(2, FOREVER, "nodes.listeners.", "nodes.node_id", "controller"),
    ),
    FETCH_SNAPSHOT: _endpoints(1, "controller"),
    DESCRIBE_CLUSTER: (AddressFields(0, FOREVER, "brokers.", "brokers.broker_id"),),
    SHARE_FETCH: _endpoints(0),
    SHARE_ACKNOWLEDGE: _endpoints(0),
    UPDATE_RAFT_VOTER: (
        AddressFields(0, FOREVER, "current_leader.", "current_leader.leader_id", "controller"),
    ),
}
"""The locations of addresses that `patch` replaces, by API key."""

NOT_OURS: Final[dict[int, str]] = {
    ENVELOPE: "what a controller tells a broker (KIP-590), which knows controllers by its configuration",
    STREAMS_GROUP_HEARTBEAT: "endpoints of Streams applications (KIP-1071), not of brokers",
    STREAMS_GROUP_DESCRIBE: "endpoints of Streams applications (KIP-1071), not of brokers",
}
"""Addresses that stay unchanged, by API key, with the reason."""


@functools.cache
def leaks(key: int, version: int | None = None) -> bool:
    """Return whether responses of an API (in this version) may have addresses that `patch` can't replace.

    Without a version, for example if a header is unreadable, the result says whether some version has
    addresses. A future version of an API with addresses has them in unknown fields.

    >>> leaks(3, 13), leaks(3, 99), leaks(55, 2), leaks(12), leaks(3)
    (False, True, False, False, True)
    """
    if version is None:
        return key in ADDRESS_FIELDS
    return key in ADDRESS_FIELDS and not api(key).versions[0] <= version <= api(key).versions[1]


@functools.cache
def address_fields(key: int, version: int) -> AddressFields | None:
    """Return the location of the addresses in a version of a response, or None if it has none."""
    if key > STEP:
        paths = of_key(key)[1].addresses
        return None if paths is None else AddressFields(0, FOREVER, *paths)
    for location in ADDRESS_FIELDS.get(key, ()):
        if location.first <= version <= location.last:
            return location
    return None


Locate = Callable[[bytes], tuple[list, list]]  # type: ignore[type-arg]


@functools.cache
def _locator(key: int, version: int, location: AddressFields) -> tuple[Locate, struct.Struct]:
    """Return the function that finds the addresses in a body, and the encoding of their ports."""
    codec = api(key).response.codec(version)
    locate = codec.locate(location.owner, f"{location.path}host", f"{location.path}port")
    port = codec.layout.find(f"{location.path}port")
    assert port is not None  # noqa: S101
    return locate, struct.Struct(f">{CHARS[port.node.kind]}")  # the quorum's take two bytes


def patch(key: int, version: int, body: bytes, resolve: Resolve) -> bytes | None:
    """Return the body with its addresses replaced, or None if no address changes.

    All other bytes are copied. A node without an address (empty host) stays. A node of the quorum may have
    several listeners: all of them get the address that replaces the first.

    Raises:
        Malformed: Not every address can be found. Such a body must not reach a client.
    """
    location = address_fields(key, version)
    if location is None:
        return None
    response = api(key).response.codec(version)
    locate, port_form = _locator(key, version, location)
    try:
        addresses, boxes = locate(body)
    except IRREGULAR as problem:
        raise _unclear(response, location, body, problem) from None
    kind = location.kind
    if key == DESCRIBE_CLUSTER and version >= 1:
        # KIP-919: 2 asks for the controllers, whose ids may equal brokers' ids
        kind = (
            "controller" if response.project("endpoint_type")(body)["endpoint_type"] == 2 else kind
        )
    compact = response.layout.flexible
    edits: list[tuple[int, int, bytes]] = []
    first = _first_of_each(resolve)
    for node, raw, port, start, end in addresses:
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
    """Return a function that resolves the first address of each node, and returns it for the others."""
    addresses: dict[int, tuple[str, int] | None] = {}

    def first(kind: NodeKind, node: int, host: str, port: int) -> tuple[str, int] | None:
        if node not in addresses:
            addresses[node] = resolve(kind, node, host, port)
        return addresses[node]

    return first


def resolved(
    kind: NodeKind, node: int, host: str, port: int, resolve: Resolve
) -> tuple[str, int] | None:
    """Return the address to write instead of an address, or None if it stays."""
    if not host and port <= 0:
        return None
    to = resolve(kind, node, host, port)
    return None if to == (host, port) else to


def _unclear(
    response: Codec, location: AddressFields, body: bytes, problem: Exception
) -> Malformed:
    """Return an error that says why the addresses can't be found: invalid bytes, or too many oddities."""
    reason = str(problem)
    if len(body) <= EXPLAINED:
        try:
            odd = response.inspect(body)[1]
        except Malformed as found:
            return found
        reason = "; ".join(f"{oddity.path}: {oddity.what}" for oddity in odd[:3])
    return Malformed(location.path.rstrip("."), 0, f"addresses not found: {reason}")
