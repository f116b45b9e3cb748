"""Frames and request headers: sizes, API keys, versions, correlation ids, client ids."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check

HEAD: Final = ">ihhi"
"""Size, API key, version, correlation id."""


async def _refused(broker: Broker, data: bytes) -> None:
    """Send bytes on a connection of their own; expect that it is closed, and that others are served."""
    other = await broker.connect()
    await other.raw(data)
    await other.expect_closed()
    (await broker.send("ApiVersions", 0)).expect(error_code="NONE")


@check(
    "frame/size-negative",
    "NetworkReceive, InvalidReceiveException",
)
async def size_negative(broker: Broker) -> None:
    """The broker closes a connection that sends a frame of negative size, and serves others."""
    await _refused(broker, struct.pack(">i", -5) + b"\0" * 8)


@check(
    "frame/unknown-api-key",
    "ApiKeys.forId, InvalidRequestException",
)
async def unknown_api_key(broker: Broker) -> None:
    """The broker closes a connection that sends an unknown API key, and serves others."""
    await _refused(broker, struct.pack(HEAD, 11, 999, 0, 5) + b"\0\1c")


@check(
    "frame/two-in-one-segment",
    "NetworkReceive, SocketServer",
)
async def two_in_one_segment(broker: Broker) -> None:
    """The broker answers two requests that arrive together, in order."""
    await broker.main.write("ApiVersions", 0)
    await broker.main.write("Metadata", topics=[])
    (await broker.main.read()).expect(error_code="NONE")
    await broker.main.read()


@check(
    "frame/correlation-id",
    "ResponseHeader.json",
)
async def correlation_id(broker: Broker) -> None:
    """A response has the correlation id of its request, whatever its value."""
    for number in (0, -1, 2**31 - 1, -(2**31)):
        await broker.main.write_body("ApiVersions", 0, b"", correlation_id=number)
        await broker.main.read()


CHECKS: Final[tuple[Check, ...]] = (
    size_negative,
    unknown_api_key,
    two_in_one_segment,
    correlation_id,
)
