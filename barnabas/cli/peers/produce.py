"""`barnabas peers produce`: lines of stdin as records."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from barnabas.cli.console.output import Output
from barnabas.endings import interruptible
from barnabas.peers.client_0_8 import Client, Message
from barnabas.peers.leaders import Place
from barnabas.peers.options import addresses
from barnabas.plural import plural
from barnabas.specs.error_codes import error_name
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble, reason_of

CHUNK: Final = 1 << 16
"""Bytes of stdin that are sent together, if so many are there: a line need not wait for others."""

PATIENCE: Final = 30.0
"""s in which a partition has to have a leader."""


def produce(servers: str, topic: str, output: Output | None = None) -> int:
    """Send lines, each acknowledged, and say how many. Raises Trouble."""
    try:
        bootstrap = addresses(servers)
    except ValueError as problem:
        raise Trouble(f"--bootstrap-server: {problem}") from None
    output = output or Output()
    turn, sent = count(), 0
    try:
        with interruptible(), Client(bootstrap, patience=PATIENCE) as client:
            partitions = client.refresh([topic]).partitions.get(topic)
            if partitions is None:
                raise Trouble(f"the brokers have no topic {topic!r}", COULD_NOT_RUN)
            for lines in _lines():
                sets: dict[Place, list[Message]] = {}
                for line in lines:
                    place = topic, next(turn) % partitions
                    sets.setdefault(place, []).append(Message(None, line))
                for (_, number), one in client.produce(sets).items():
                    if one.error:
                        raise Trouble(
                            f"{topic}[{number}] takes no records: {error_name(one.error)}; {sent} were taken",
                            COULD_NOT_RUN,
                        )
                sent += len(lines)
    except KeyboardInterrupt:
        pass
    except OSError as problem:
        raise Trouble(
            f"{reason_of(problem)}; {plural(sent, 'record')} sent", COULD_NOT_RUN
        ) from None
    output.note(f"{plural(sent, 'record')} sent")
    return FINE


def _lines() -> Iterator[Sequence[bytes]]:
    """Lines of stdin, as many as are there."""
    rest = b""
    while data := os.read(sys.stdin.fileno(), CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]
