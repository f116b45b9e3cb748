"""`barnabas peers consume`: a consumer of a design that prints its records."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.designs.brokers.processes.designs import DESIGNS
from barnabas.designs.commands import either
from barnabas.designs.consuming.questions import UnableError
from barnabas.designs.consuming.topics import say_missing
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.names import sendable
from barnabas.designs.options import addresses
from barnabas.designs.protocol_guide.client_0_8 import Message
from barnabas.nearest import choices
from barnabas.plural import plural
from barnabas.stop_signals import stop_signals
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble

BACKOFF: Final = 500
"""ms until a coordinator is looked for again."""


def consume(
    design: str,
    servers: str,
    group: str,
    topic: str,
    *,
    as_json: bool = False,
    output: Output | None = None,
) -> int:
    """Consume until a signal. Raises Trouble."""
    if design not in DESIGNS:
        raise Trouble(f"unknown design {design!r}{choices(design, DESIGNS)}")
    sendable("--group", group)
    sendable("--topic", topic)
    try:
        bootstrap = addresses(servers)
    except ValueError as problem:
        raise Trouble(f"--bootstrap-server: {problem}") from None
    output, name = output or Output(), f"consumer-{os.getpid()}"
    taken = 0

    def take(partition: TopicPartition, offset: int, message: Message) -> None:
        nonlocal taken
        taken += 1
        if as_json:
            output.raw(json_text(row(partition, offset, message)))
        else:
            output.line(f"{partition[0]}[{partition[1]}] {offset} {_text(message.value)}")

    async def run() -> None:
        over = asyncio.Event()
        for number in stop_signals():
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        looks = asyncio.create_task(say_missing(bootstrap, name, topic, output.note))
        try:
            await either.consume(
                *(design, bootstrap, group, name, topic, take, output.note, over),
                backoff_ms=BACKOFF,
            )
        finally:
            looks.cancel()

    try:
        asyncio.run(run())
    except UnableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    output.note(f"{plural(taken, 'record')} consumed")
    return FINE


def row(partition: TopicPartition, offset: int, message: Message) -> dict[str, Any]:
    r"""Return a record as JSON; bytes that are not text have `\x` escapes.

    >>> row(("t", 0), 7, Message(None, b"a\xff"))
    {'topic': 't', 'partition': 0, 'offset': 7, 'key': None, 'value': 'a\\xff'}
    """
    return {
        "topic": partition[0],
        "partition": partition[1],
        "offset": offset,
        "key": None if message.key is None else _text(message.key),
        "value": None if message.value is None else _text(message.value),
    }


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode("utf-8", "backslashreplace")
