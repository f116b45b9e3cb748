"""Read a live stream like a capture: its exchanges, and the notes between them."""

from __future__ import annotations

import io
import os
import select
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from barnabas.captures.capture import spoken_in
from barnabas.captures.comments import document, meta_of
from barnabas.captures.files.pcapng import Packet, Run, Section, Statistics
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol
from barnabas.captures.live.ring import Ring
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tls.decryption import Decryption, TlsCounts
from barnabas.captures.tls.keylog import KeyLog

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Note = dict[str, Any]

PAUSE: Final = 0.002
"""Seconds between two polls after recent data, so that traffic wakes no process ..."""

LOOKS: Final = 25
"""... and polls without data before the reader sleeps."""

ALONE: Final = 1.0
"""Seconds after which a sleeping reader checks that its writer still exists."""


class RingFile(io.BufferedIOBase):
    """The bytes of a ring as a file; it ends when the ring is closed, or its writer is gone.

    Args:
        ring: The ring.
        idle: Called when all available bytes were read, before waiting for more.
        parent: The process that will close the ring, if it is the reader's parent.
    """

    def __init__(
        self, ring: Ring, idle: Callable[[], None] = lambda: None, parent: int | None = None
    ) -> None:
        self._ring = ring
        self._idle = idle
        self._parent = parent

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read available bytes, at least one; 0: the stream is over."""
        looks = 0
        while not (taken := self._ring.take(buffer)):
            if self._ring.closed or self._parent not in (None, os.getppid()):
                return self._ring.take(buffer)
            if not looks:
                self._idle()
            looks += 1
            await_more(self._ring, looks)
        return taken


def await_more(ring: Ring, looks: int) -> None:
    """Pause until the next poll, after `looks` polls without data."""
    if looks < LOOKS:
        time.sleep(PAUSE)
        return
    ring.sleep(True)
    if not (ring.waiting or ring.closed):
        select.select([ring.woken], [], [], ALONE)
    ring.sleep(False)
    ring.clear()


class LiveReader:
    """The exchanges of a stream; use each before requesting the next.

    `note` is called with each note between them. `restarts` counts how often blocks were lost, so that the
    stream restarted.
    """

    def __init__(self, file: io.BufferedIOBase, note: Callable[[Note], None]) -> None:
        self.restarts = -1
        self.under_way: Callable[[], list[Exchange]] = list
        """Returns the exchanges in progress, empty for a dialect. Any thread may call it."""
        self._note = note
        self._blocks = read_runs(file)
        self._meta: dict[str, Any] | None = None
        """Metadata of the next section; None: the stream is over, or has not begun."""

    def __iter__(self) -> Iterator[Exchange]:
        list(self._events())
        while (meta := self._meta) is not None:
            self.restarts += 1
            dialect = spoken_in(meta)
            source = Conversations() if dialect is None else DialectConversations(dialect)
            self.under_way = source.under_way if isinstance(source, Conversations) else list
            for exchange in source.exchanges(self._events()):
                if self._meta is not None:  # it was in progress when blocks were lost
                    break
                yield exchange

    def _events(self) -> Iterator[Event]:
        """Yield the events up to the next section."""
        self._meta = None
        packets, number = Packets(), 0
        left_out: Counter[tuple[int, OtherProtocol]] = Counter()
        section = SectionReader(True, 0, left_out, Decryption(KeyLog(), TlsCounts(), left_out), {})
        for block in self._blocks:
            if isinstance(block, Run):
                yield from section.run(block, packets, number + 1)
                number += len(block.places)
            elif isinstance(block, Packet):
                number += 1
                yield from section.packet(block, packets, number)
            elif isinstance(block, Statistics):
                for text in block.comments:
                    self._note(document(text))
            elif isinstance(block, Section):
                self._meta = meta_of(block)
                return
