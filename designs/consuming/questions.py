"""The check whether brokers that do not respond to a consumer speak another design's protocol."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import endpoint_text, possible
from barnabas.designs.brokers.listener import Address
from barnabas.designs.consuming.connector import FRAME_LIMIT
from barnabas.designs.framing import Frames, FramingError
from barnabas.specs.malformed import Malformed

TIMEOUT: Final = 2.0
"""Timeout of a response in seconds."""

READ: Final = 1 << 16


class UnableError(RuntimeError):
    """The brokers do not support this consumer."""


class Question(NamedTuple):
    """The first request of a design's consumer.

    read: decodes the response, without its size; raises Malformed.
    """

    design: str
    api: str
    request: bytes
    read: Callable[[bytes], Any]


async def refuse_others(brokers: Iterable[Address], questions: Sequence[Question]) -> None:
    """Raise UnableError if a broker responds to another design's request."""
    for address, question in itertools.product(brokers, questions):
        try:
            async with asyncio.timeout(TIMEOUT):
                question.read(await _answer(address, question.request))
        except (OSError, TimeoutError, FramingError, Malformed):
            continue
        raise UnableError(
            f"{endpoint_text(address)} speaks another design: it answers {question.api} of "
            f"{question.design}; try `peers consume {question.design}`"
        )


async def _answer(address: Address, request: bytes) -> bytes:
    """Send a request, and return the first frame that comes back. Raises OSError, FramingError."""
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
