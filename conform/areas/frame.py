"""Frames and request headers: sizes, API keys, versions, correlation ids, client ids, tagged fields."""

from __future__ import annotations

import struct
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.operations import Sleep
from barnabas.specs.keys import API_VERSIONS, METADATA
from barnabas.specs.registry import api

HEAD: Final = ">hhi"
"""API key, version, correlation id."""

FLEXIBLE: Final = 9
"""The first flexible version of Metadata."""

NO_TOPICS: Final = b"\0\0\0\0"
"""The body of Metadata v1 for no topic."""


METADATA_REQUEST: Final = api("Metadata").request


def framed(data: bytes) -> bytes:
    """Put a frame's size in front of it."""
    return struct.pack(">i", len(data)) + data


def header(key: int, version: int, correlation_id: int, client_id: bytes | None = b"c") -> bytes:
    """Return a request header v1."""
    size = -1 if client_id is None else len(client_id)
    return (
        struct.pack(HEAD, key, version, correlation_id)
        + struct.pack(">h", size)
        + (client_id or b"")
    )


async def refused(broker: Broker, data: bytes) -> None:
    """Send bytes on a connection of their own; expect that it is closed, and that others are served."""
    other = await broker.connect()
    await other.raw(data)
    await other.expect_closed()
    await served(broker)


async def survived(broker: Broker, data: bytes) -> None:
    """Send bytes on a connection of their own; expect that others are served, whatever the answer."""
    other = await broker.connect()
    await other.raw(data)
    await Sleep(0.1)
    await served(broker)


async def served(broker: Broker) -> None:
    """Expect that another connection is answered."""
    connection = await broker.connect()
    (await connection.send("ApiVersions", 0)).expect(error_code="NONE")
    await connection.close()


@check("frame/slow-bytes", "NetworkReceive")
async def slow_bytes(broker: Broker) -> None:
    """The broker answers a request that arrives byte by byte."""
    data = framed(header(API_VERSIONS, 0, 0))
    broker.main.expected("ApiVersions", 0, data)
    for byte in data:
        await broker.main.raw(bytes([byte]))
        await Sleep(0.005)
    (await broker.main.read()).expect(error_code="NONE")


@check("frame/two-in-one-segment", "NetworkReceive, SocketServer")
async def two_in_one_segment(broker: Broker) -> None:
    """The broker answers two requests that arrive together, in order."""
    broker.version("Metadata", 1, 1)
    first, second = framed(header(API_VERSIONS, 0, 0)), framed(header(METADATA, 1, 1) + NO_TOPICS)
    broker.main.expected("ApiVersions", 0, first)
    broker.main.expected("Metadata", 1, second)
    await broker.main.raw(first + second)
    (await broker.main.read()).expect(error_code="NONE")
    (await broker.main.read()).expect(topics=[])


@check("frame/half-then-rest", "NetworkReceive")
async def half_then_rest(broker: Broker) -> None:
    """The broker answers a request that arrives in two parts, wherever it is cut."""
    data = framed(header(API_VERSIONS, 0, 0))
    for cut in range(1, len(data)):
        broker.main.expected("ApiVersions", 0, data)
        await broker.main.raw(data[:cut])
        await Sleep(0.01)
        await broker.main.raw(data[cut:])
        (await broker.main.read()).expect(error_code="NONE")


@check("frame/size-negative", "NetworkReceive, InvalidReceiveException")
async def size_negative(broker: Broker) -> None:
    """The broker closes a connection that sends a frame of negative size, and serves others."""
    await refused(broker, struct.pack(">i", -5) + b"\0" * 8)


@check("frame/size-zero", "NetworkReceive, RequestHeader.parse")
async def size_zero(broker: Broker) -> None:
    """The broker closes a connection that sends an empty frame, and serves others."""
    await refused(broker, struct.pack(">i", 0))


@check("frame/size-over-maximum", "socket.request.max.bytes")
async def size_over_maximum(broker: Broker) -> None:
    """The broker closes a connection that announces 2 GiB, before they arrive, and serves others."""
    await refused(broker, struct.pack(">i", 2**31 - 1) + b"\0" * 8)


@check("frame/truncated-body", "RequestContext.parseRequest")
async def truncated_body(broker: Broker) -> None:
    """The broker closes a connection whose request announces more topics than it has, and serves others."""
    await refused(broker, framed(header(METADATA, 1, 0) + struct.pack(">i", 5)))


@check("frame/trailing-bytes", "RequestContext.parseRequest", level=SHOULD)
async def trailing_bytes(broker: Broker) -> None:
    """The broker survives a request with a byte too many."""
    await survived(broker, framed(header(METADATA, 1, 0) + NO_TOPICS + b"\0"))


@check("frame/unknown-api-key", "ApiKeys.forId, InvalidRequestException")
async def unknown_api_key(broker: Broker) -> None:
    """The broker closes a connection that sends an unknown API key, and serves others."""
    await refused(broker, framed(header(999, 0, 5)))


@check("frame/negative-api-key", "ApiKeys.forId, InvalidRequestException")
async def negative_api_key(broker: Broker) -> None:
    """The broker closes a connection that sends a negative API key, and serves others."""
    await refused(broker, framed(header(-1, 0, 5)))


@check("frame/unsupported-version", "RequestContext, UnsupportedVersionException")
async def unsupported_version(broker: Broker) -> None:
    """The broker closes a connection that sends an unsupported version, and serves others."""
    await refused(broker, framed(header(METADATA, 99, 5) + b"\0" * 8))


@check("frame/negative-version", "RequestContext, UnsupportedVersionException")
async def negative_version(broker: Broker) -> None:
    """The broker closes a connection that sends a negative version, and serves others."""
    await refused(broker, framed(header(METADATA, -1, 5) + NO_TOPICS))


@check("frame/correlation-id", "ResponseHeader.json")
async def correlation_id(broker: Broker) -> None:
    """A response has the correlation id of its request, whatever its value."""
    for number in (0, -1, 2**31 - 1, -(2**31)):
        await broker.main.write_body("ApiVersions", 0, b"", correlation_id=number)
        await broker.main.read()


@check("frame/client-id-null", "RequestHeader.json, client_id")
async def client_id_null(broker: Broker) -> None:
    """The broker answers a request with a null client id."""
    await _answers_client_id(broker, None)


@check("frame/client-id-empty", "RequestHeader.json, client_id")
async def client_id_empty(broker: Broker) -> None:
    """The broker answers a request with an empty client id."""
    await _answers_client_id(broker, "")


@check("frame/client-id-long", "RequestHeader.json, client_id")
async def client_id_long(broker: Broker) -> None:
    """The broker answers a request with a client id of 32,767 bytes."""
    await _answers_client_id(broker, "x" * 32_767)


async def _answers_client_id(broker: Broker, client_id: str | None) -> None:
    await broker.main.write_body("ApiVersions", 0, b"", client_id=client_id)
    (await broker.main.read()).expect(error_code="NONE")


@check("frame/client-id-not-utf-8", "RequestHeader.json, client_id", level=SHOULD)
async def client_id_not_utf_8(broker: Broker) -> None:
    """The broker survives a client id that is not UTF-8."""
    await survived(broker, framed(header(API_VERSIONS, 0, 0, b"\xff\xfe")))


@check("frame/client-id-cut-off", "RequestHeader.parse")
async def client_id_cut_off(broker: Broker) -> None:
    """The broker closes a connection whose client id is longer than the frame, and serves others."""
    head = struct.pack(HEAD, API_VERSIONS, 0, 0) + struct.pack(">h", 100) + b"c"
    await refused(broker, framed(head))


@check("frame/header-tags", "KIP-482", needs={"Metadata": FLEXIBLE})
async def header_tags(broker: Broker) -> None:
    """The broker ignores an unknown tagged field in the request header."""
    await _metadata_with(broker, {"_tags": {99: b"x"}}, {})


@check("frame/body-tags", "KIP-482", needs={"Metadata": FLEXIBLE})
async def body_tags(broker: Broker) -> None:
    """The broker ignores an unknown tagged field in the request body."""
    await _metadata_with(broker, {}, {"_tags": {99: b"x"}})


async def _metadata_with(broker: Broker, head: dict[str, Any], body: dict[str, Any]) -> None:
    version = broker.version("Metadata", FLEXIBLE)
    data = METADATA_REQUEST.codec(version).encode({"topics": [], **body})
    await broker.main.write_body("Metadata", version, data, **head)
    (await broker.main.read()).expect(topics=[])


@check("frame/tag-twice", "KIP-482", level=SHOULD, needs={"Metadata": FLEXIBLE})
async def tag_twice(broker: Broker) -> None:
    """The broker survives a tagged field that stands twice in a request."""
    version = broker.version("Metadata", FLEXIBLE)
    body = METADATA_REQUEST.codec(version).encode({"topics": []})
    tags = b"\2\x63\0\x63\0"  # in place of the count of 0 that ends the body
    await survived(broker, framed(header(METADATA, version, 0) + b"\0" + body[:-1] + tags))


@check("frame/varint-overlong", "ByteUtils.readUnsignedVarint", needs={"Metadata": FLEXIBLE})
async def varint_overlong(broker: Broker) -> None:
    """The broker closes a connection that sends a varint of six bytes, and serves others."""
    version = broker.version("Metadata", FLEXIBLE)
    await refused(broker, framed(header(METADATA, version, 0) + b"\0" + b"\x80" * 6 + b"\0" * 8))


@check(
    "frame/response-header",
    "KIP-482, KIP-511, ApiKeys.responseHeaderVersion",
    needs={"Metadata": FLEXIBLE},
)
async def response_header(broker: Broker) -> None:
    """Responses of flexible versions have header v1, except ApiVersions, which always has v0."""
    (await broker.send("Metadata", broker.version("Metadata", FLEXIBLE), topics=[])).expect(
        topics=[]
    )
    version = broker.version("ApiVersions")
    fields = {"client_software_name": "barnabas", "client_software_version": "1.0"}
    (await broker.send("ApiVersions", version, **fields)).expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    slow_bytes,
    two_in_one_segment,
    half_then_rest,
    size_negative,
    size_zero,
    size_over_maximum,
    truncated_body,
    trailing_bytes,
    unknown_api_key,
    negative_api_key,
    unsupported_version,
    negative_version,
    correlation_id,
    client_id_null,
    client_id_empty,
    client_id_long,
    client_id_not_utf_8,
    client_id_cut_off,
    header_tags,
    body_tags,
    tag_twice,
    varint_overlong,
    response_header,
)
