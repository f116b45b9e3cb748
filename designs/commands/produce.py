"""`barnabas peers produce`: lines of stdin as records."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from barnabas.cli.console.output import Output
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.names import sendable
from barnabas.designs.options import addresses
from barnabas.designs.protocol_guide.client_0_8 import Client, Message, Produced
from barnabas.plural import plural
from barnabas.specs.error_codes import error_name
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble, reason_of

CHUNK: Final = 1 << 16
"""Bytes of stdin that are sent together, if so many are there: a line need not wait for others."""

LINE_LIMIT: Final = 10 << 20
"""Bytes of a line. Brokers take a megabyte, unless they are told otherwise (message.max.bytes)."""

PATIENCE: Final = 30.0
"""s in which a partition has to have a leader."""


def produce(servers: str, topic: str, output: Output | None = None) -> int:
    """Send lines with acknowledgements, and report their number. Raises Trouble."""
    sendable("--topic", topic)
    try:
        bootstrap = addresses(servers)
    except ValueError as problem:
        raise Trouble(f"--bootstrap-server: {problem}") from None
    output, sending = output or Output(), Sending()
    turn = count()
    try:
        with interruptible(), Client(bootstrap, patience=PATIENCE) as client:
            partitions = client.refresh([topic]).partitions.get(topic)
            if partitions is None:
                raise Trouble(f"the brokers have no topic {topic!r}", COULD_NOT_RUN)
            for lines in _lines():
                sets: dict[TopicPartition, list[Message]] = {}
                for line in lines:
                    partition = topic, next(turn) % partitions
                    sets.setdefault(partition, []).append(Message(None, line))
                sending.unknown = len(lines)
                refused = sending.count(sets, client.produce(sets))
                for (_, number), error in refused.items():
                    raise Trouble(
                        f"{topic}[{number}] takes no records: {error_name(error)}; {sending}",
                        COULD_NOT_RUN,
                    )
    except KeyboardInterrupt:
        pass
    except LineTooLongError as problem:
        raise Trouble(f"{problem}; {sending}", COULD_NOT_RUN) from None
    except OSError as problem:
        raise Trouble(f"{reason_of(problem)}; {sending}", COULD_NOT_RUN) from None
    output.note(str(sending))
    return FINE


class LineTooLongError(ValueError):
    """A line of stdin has more than LINE_LIMIT bytes."""


@dataclass
class Sending:
    """The numbers of acknowledged records, and of records with an unknown outcome.

    >>> str(Sending(7)), str(Sending(1, 2))
    ('7 records sent', '1 record sent, and perhaps 2 more')
    """

    sent: int = 0
    unknown: int = 0
    """Of those under way."""

    def count(
        self,
        sets: Mapping[TopicPartition, Sequence[Message]],
        results: Mapping[TopicPartition, Produced],
    ) -> dict[TopicPartition, int]:
        """Count responses, and return their errors."""
        self.unknown = 0
        self.sent += sum(
            len(sets[partition]) for partition, result in results.items() if not result.error
        )
        return {partition: result.error for partition, result in results.items() if result.error}

    def __str__(self) -> str:
        more = f", and perhaps {self.unknown} more" if self.unknown else ""
        return f"{plural(self.sent, 'record')} sent{more}"


def _lines() -> Iterator[Sequence[bytes]]:
    """Return the lines of stdin that are available. Raises LineTooLongError."""
    rest: list[bytes] = []
    size = 0
    while data := os.read(sys.stdin.fileno(), CHUNK):
        first, *lines = data.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LINE_LIMIT:
            raise LineTooLongError(f"a line of stdin has more than {LINE_LIMIT} bytes")
        if lines:
            *whole, last = b"".join(rest), *lines
            rest, size = [last], len(last)
            yield whole
    if size:
        yield [b"".join(rest)]
