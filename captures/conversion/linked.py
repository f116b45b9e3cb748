"""Rewrite the frames of a linked flow (those that left changed or delayed) for another capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.captures.conversion.frame_masking import SIZE, FrameMasking
from barnabas.captures.conversion.spans import DROPPED, NO_EXCHANGE
from barnabas.captures.conversion.stream import Named, Piece, in_pieces
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.tcp.events import Chunk
from barnabas.specs.frames import Direction


@dataclass(slots=True)
class LinkedStream:
    """One direction of a linked flow.

    A frame ends where its comment is, even if its size differs, since a rule may cut it.
    """

    direction: Direction
    named: Mapping[int, Named]
    """Frames that arrived in the same direction."""
    replies: Mapping[int, int]
    """The verdict on responses of the proxy itself, by number of their packet."""
    frame_masking: FrameMasking
    sliced: bool
    _framing: Framing = field(default_factory=lambda: Framing(linked=True))
    _held: list[tuple[int, bytes]] = field(default_factory=list)

    def take(self, chunk: Chunk) -> list[Piece]:
        """Return the pieces to write after a chunk."""
        self._held.append((chunk.ts_ns, chunk.data))
        if not chunk.comments:
            return []
        begins = not (self._framing.broken or self._framing.rest)
        data = b"".join(piece for _, piece in self._held)
        read = list(self._framing.feed(data, chunk.ts_ns))
        number = next((c["frame"] for c in chunk.comments if isinstance(c.get("frame"), int)), -1)
        named = self.named.get(number) or Named(number, self.replies.get(chunk.packet, NO_EXCHANGE))
        if self.sliced and (named.verdict in (DROPPED, NO_EXCHANGE) or not (begins or read)):
            # bytes after a truncated frame were not read, and must not be
            self._held = []
            return []
        masked = self.frame_masking.by_verdict(data, self.direction, named.verdict)
        pieces = [Piece(ts_ns, [piece]) for ts_ns, piece in in_pieces(masked.data, self._held)]
        self._held = []
        last = pieces[-1].comments
        for comment in chunk.comments:
            same = comment.get("frame") in (None, named.ordinal)
            last.append(comment if same else {**comment, "frame": named.ordinal})
        if masked.payload:
            last.append({"frame": named.ordinal, "payload": masked.payload})
        return pieces

    def lose(self, count: int, ts_ns: int) -> list[Piece]:
        """Return the pieces to write before missing bytes, and the gap."""
        self._framing.lose(count)
        pieces = self.end()
        return [] if self.sliced else [*pieces, Piece(ts_ns, missing=count or 1)]

    def end(self) -> list[Piece]:
        """Return the bytes of an incomplete frame at the end of the flow."""
        shown_bytes = SIZE
        pieces = []
        for ts_ns, piece in [] if self.sliced else self._held:
            count = min(shown_bytes, len(piece))
            pieces.append(Piece(ts_ns, [self.frame_masking.rest(piece, count)]))
            shown_bytes -= count
        self._held = []
        return pieces
