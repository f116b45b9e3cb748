"""Whether brokers that do not answer a consumer of one design speak another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import endpoint_text, possible
from barnabas.peers.central_coordination import wire as central
from barnabas.peers.connector import FRAME_LIMIT
from barnabas.peers.consumer_rewrite import wire as rewrite
from barnabas.peers.framing import Frames, Refused
from barnabas.peers.listener import Address
from barnabas.specs.malformed import Malformed

TIMEOUT: Final = 2.0
"""s that a broker may take to answer."""

READ: Final = 1 << 16


class UnableError(RuntimeError):
    """A consumer can't be one of these brokers' group."""


class Question(NamedTuple):
    """What a consumer of a design asks first. read: the answer, without its size; raises Malformed."""

    design: str
    api: str
    request: bytes
    read: Callable[[bytes], Any]


REWRITE: Final = Question(
    "rewrite",
    "ConsumerMetadata",
    rewrite.request("ConsumerMetadata", 0, "", {"group_id": ""}),
    partial(rewrite.read_response, api="ConsumerMetadata"),
)
CENTRAL: Final = Question(
    "central",
    "ClusterMetadata",
    central.request("ClusterMetadata"),
    partial(central.read_response, api="ClusterMetadata"),
)


async def refuse_others(brokers: Iterable[Address], question: Question) -> None:
    """Raises UnableError if one of these brokers answers another design's question."""
    for address in brokers:
        try:
            async with asyncio.timeout(TIMEOUT):
                question.read(await _answer(address, question.request))
        except (OSError, TimeoutError, Refused, Malformed):
            continue
        raise UnableError(
            f"{endpoint_text(address)} speaks another design: it answers {question.api} of "
            f"{question.design}; try `peers consume {question.design}`"
        )


async def _answer(address: Address, request: bytes) -> bytes:
    """The first frame that comes back. Raises OSError, Refused."""
    reader, writer = await asyncio.open_connection(*possible(address))
    try:
        writer.write(request)
        frames = Frames(FRAME_LIMIT)
        while data := await reader.read(READ):
            for frame in frames.take(data):
                return frame
        raise ConnectionResetError("the broker closed the connection")
    finally:
        writer.close()
