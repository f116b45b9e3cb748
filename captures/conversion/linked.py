"""Frames of a linked flow (those that left otherwise than they came), rewritten for another capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.captures.conversion.hiding import SIZE, Hiding
from barnabas.captures.conversion.spans import DROPPED, NOBODYS
from barnabas.captures.conversion.stream import Named, Piece, as_it_came
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.tcp.events import Chunk
from barnabas.specs.frames import Direction


@dataclass(slots=True)
class LinkedStream:
    """One direction of a linked flow. A frame ends where its comment stands, whatever its size says:
    a rule may have cut it short."""

    direction: Direction
    named: Mapping[int, Named]
    """Frames that arrived in the same direction."""
    replies: Mapping[int, int]
    """The verdict on what the proxy answered itself, by number of its packet."""
    hiding: Hiding
    sliced: bool
    _framing: Framing = field(default_factory=lambda: Framing(linked=True))
    _held: list[tuple[int, bytes]] = field(default_factory=list)

    def take(self, chunk: Chunk) -> list[Piece]:
        """What is to be written when a chunk has come."""
        self._held.append((chunk.ts_ns, chunk.data))
        if not chunk.comments:
            return []
        begins = not (self._framing.broken or self._framing.rest)
        data = b"".join(piece for _, piece in self._held)
        read = list(self._framing.feed(data, chunk.ts_ns))
        number = next((c["frame"] for c in chunk.comments if isinstance(c.get("frame"), int)), -1)
        named = self.named.get(number) or Named(number, self.replies.get(chunk.packet, NOBODYS))
        if self.sliced and (named.verdict in (DROPPED, NOBODYS) or not (begins or read)):
            # what stood behind a frame that was cut short was not read, and shall not be
            self._held = []
            return []
        masked = self.hiding.judged(data, self.direction, named.verdict)
        pieces = [Piece(ts_ns, [piece]) for ts_ns, piece in as_it_came(masked.data, self._held)]
        self._held = []
        last = pieces[-1].comments
        for comment in chunk.comments:
            same = comment.get("frame") in (None, named.ordinal)
            last.append(comment if same else {**comment, "frame": named.ordinal})
        if masked.payload:
            last.append({"frame": named.ordinal, "payload": masked.payload})
        return pieces

    def lose(self, count: int, ts_ns: int) -> list[Piece]:
        """Bytes are missing: what is written before, and then they are missing there, too."""
        self._framing.lose(count)
        pieces = self.end()
        return [] if self.sliced else [*pieces, Piece(ts_ns, missing=count or 1)]

    def end(self) -> list[Piece]:
        """Nothing more will come: what is there of a frame that is not whole."""
        shown = SIZE
        pieces = []
        for ts_ns, piece in [] if self.sliced else self._held:
            count = min(shown, len(piece))
            pieces.append(Piece(ts_ns, [self.hiding.rest(piece, count)]))
            shown -= count
        self._held = []
        return pieces
