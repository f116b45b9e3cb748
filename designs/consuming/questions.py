"""Whether brokers that do not answer a consumer of one design speak another one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import endpoint_text, possible
from barnabas.designs.brokers.listener import Address
from barnabas.designs.consuming.connector import FRAME_LIMIT
from barnabas.designs.framing import Frames, Refused
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


async def refuse_others(brokers: Iterable[Address], questions: Sequence[Question]) -> None:
    """Raise UnableError if a broker answers the question of another design."""
    for address, question in itertools.product(brokers, questions):
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
