"""Splits bytes into frames: each passes as its bytes arrive, or is collected."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, Protocol

from barnabas.captures.kafka.framing.protocol_detection import begins_with_request
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.captures.kafka.notes import how_closed, partial
from barnabas.captures.writing.masked_flow import Hidden
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Hide
from barnabas.proxy.connection.ingress import Ingress, Mode
from barnabas.proxy.connection.state import State
from barnabas.specs.frames import Direction, Short
from barnabas.specs.malformed import Malformed
from barnabas.specs.node_endpoints import BEGIN, ResponseTail
from barnabas.specs.registry import NAMES

MAX_HEADER: Final = 64 << 10
"""The longest request header that is read; a client id and its tags need far less."""

MIN_FIRST_BYTES: Final = 14
"""The bytes that distinguish a Kafka request from another protocol: the size, and a header up to the length
of the client id."""

_SIZE = struct.Struct(">i")


class Handler(Protocol):
    """The part of a connection that takes the frames of one direction."""

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """Read the first bytes of a frame and return whether it must be whole before it leaves.

        Raises:
            Short: The header is incomplete.
            Malformed: The header cannot be read.
        """

    def unreadable(self, view: memoryview | bytes, now: int) -> bool:
        """Return whether a frame with an unreadable header must be whole before it leaves."""

    def passed(self, frame: bytes | None, now: int) -> None:
        """Account for a frame that has passed unchanged; `frame` is its copy, if one was made."""

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """Handle a complete collected frame, or its tail, or no bytes if the tail cannot be found."""

    def cut_off(self, note: str, now: int) -> None:
        """End the exchange of a frame that will never be complete; the note counts its bytes."""


class Framing:
    """The framing of both directions of a connection."""

    def __init__(
        self, state: State, actions: ActionBuffer, handlers: Mapping[Direction, Handler]
    ) -> None:
        self.state = state
        self.actions = actions
        self.handlers = handlers

    def go_on(self, direction: Direction, data: memoryview, at: int, now: int) -> int:
        """Take the next bytes of an incomplete frame from an offset of a chunk.

        Returns:
            The offset after the frame's bytes.
        """
        ingress = self.state.ingress[direction]
        end = min(at + ingress.missing, len(data))
        if ingress.mode is Mode.PASSING and ingress.tail is not None:
            at = self._find_tail(direction, ingress.tail, data, at, end, now)
            if self.state.over:
                return at
        ingress.missing -= end - at
        if ingress.mode is Mode.PASSING:
            self.actions.send_piece(direction, data, at, end)
            if ingress.copy is not None:
                ingress.copy += data[at:end]
            if not ingress.missing:
                self._passed(direction, now)
        else:
            ingress.buffer += data[at:end]
            if not ingress.missing:
                self._whole(direction, ingress.take(), now, end)
        return end

    def _find_tail(
        self,
        direction: Direction,
        tail: ResponseTail,
        data: memoryview,
        at: int,
        end: int,
        now: int,
    ) -> int:
        """Search the next bytes for the frame's tail; collect the tail if it has any content.

        Returns the offset of the first byte that was not sent.
        """
        ingress = self.state.ingress[direction]
        try:
            tail_start = tail.find(data, at, end, ingress.missing - (end - at))
        except Malformed:
            self.handlers[direction].whole(b"", now, at)
            return at
        if tail_start is None:
            return at
        if tail.empty(data[tail_start]):
            ingress.tail = None
            return at
        if tail_start > at:
            self.actions.send_piece(direction, data, at, tail_start)
        ingress.keep_tail(tail_start - at)
        return tail_start

    def cut_off(self, direction: Direction, now: int, by: Direction | None = None) -> None:
        """End the exchange of a frame that has begun and will never be complete.

        `by` is the direction whose sender closed its side.
        """
        ingress = self.state.ingress[direction]
        if ingress.missing:
            size = 4 + ingress.size
            note = partial(direction, size - ingress.missing, size, how_closed(by, reset=False))
            self.handlers[direction].cut_off(note, now)

    def begin(self, direction: Direction, data: memoryview, at: int, now: int) -> int:
        """Take the first bytes of a frame, including buffered ones; pass or collect the frame.

        Returns:
            The offset after the frame's bytes.
        """
        state, ingress = self.state, self.state.ingress[direction]
        before = len(ingress.buffer)
        view = _first_bytes(ingress, data, at)
        if view is None:
            return len(data)
        size: int = _SIZE.unpack_from(view)[0]
        if not 0 <= size <= state.limits.frame:
            self._reject(direction, bytes(view[:4]), size)
            return at
        ingress.size = size
        ingress.hidden = None
        have = min(len(view), 4 + size)
        collect = self._collects(direction, view, have, now, at)
        if collect is None:
            # a header may arrive in tiny pieces, and is parsed from its beginning each time
            ingress.enough = min(have + 1 + have // 4, 4 + size, MAX_HEADER)
            ingress.wait(Mode.HEADER, view[:have])
            return at + have - before
        if ingress.tail is not None:  # later bytes pass as they arrive, see `go_on`
            have = BEGIN
        ingress.frames += 1
        at += have - before
        missing = 4 + size - have
        if collect and missing:
            ingress.wait(Mode.COLLECTING, view[:have], missing)
            return at
        if collect:
            self._whole(direction, bytes(view[:have]), now, at)
            return at
        if before:
            self.actions.send(direction, bytes(view[:have]))
        else:
            self.actions.send_piece(direction, data, at - have, at)
        if state.observed and size <= state.limits.copy:
            ingress.copy = bytearray(view[:have])
        ingress.missing = missing
        if not missing:
            self._passed(direction, now)
        return at

    def _collects(
        self, direction: Direction, view: memoryview | bytes, have: int, now: int, at: int
    ) -> bool | None:
        """Return whether a frame is collected until it is whole; None while its header is incomplete."""
        handler, frames = self.handlers[direction], self.state.ingress[direction].frames
        try:
            return handler.begin(view, have, now, at)
        except Short:
            if have < MAX_HEADER:
                return None
            self.actions.flag(direction, frames, at, "a header of over 64 KiB")
        except Malformed as problem:
            self.actions.flag(direction, frames, at, self.state.reason(problem))
        return handler.unreadable(view, now)

    def _passed(self, direction: Direction, now: int) -> None:
        """Account for a passing frame whose last byte has arrived."""
        ingress = self.state.ingress[direction]
        copy, ingress.copy = ingress.copy, None
        self.handlers[direction].passed(None if copy is None else bytes(copy), now)

    def _whole(self, direction: Direction, frame: bytes, now: int, at: int) -> None:
        """Handle a collected frame whose last byte has arrived; it ends at offset `at`."""
        ingress = self.state.ingress[direction]
        if ingress.hidden is not None:
            hidden = Hidden(at, len(frame), ingress.frames - 1, *ingress.hidden)
            self.actions.append(Hide(direction, hidden))
        self.handlers[direction].whole(frame, now, at)

    def _reject(self, direction: Direction, first: bytes, size: int) -> None:
        state = self.state
        broker = "the bootstrap broker" if state.broker is None else f"broker {state.broker}"
        peer = f"client {state.client}" if direction == "request" else broker
        protocol = foreign(first)
        if protocol:
            reason = f"{peer} speaks {protocol}, not Kafka in plain text"
        elif size < 0:
            reason = f"{peer} sent a frame of negative size {size}"
        else:
            reason = f"{peer} sent a frame of {size} bytes; the limit is {state.limits.frame}"
        side = "client" if direction == "request" else "broker"
        self.actions.give_up(reason, f": give --{side}-tls" if "TLS" in (protocol or "") else "")


def _first_bytes(ingress: Ingress, data: memoryview, at: int) -> memoryview | bytes | None:
    """Return the frame from its first byte on, as far as it has arrived; None if more bytes are needed."""
    first: memoryview | bytes = data[at:]
    if ingress.buffer:
        ingress.buffer += data[at : at + MAX_HEADER]
        if len(ingress.buffer) < ingress.enough:
            return None
        first = ingress.take()
    if len(first) < 4:
        ingress.enough = 4
        ingress.wait(Mode.HEADER, first)
        return None
    return first


def foreign(first: bytes) -> str | None:
    """Return the protocol whose first bytes arrived where a frame's size should be; None if unknown.

    >>> foreign(b"GET "), foreign(bytes.fromhex("16030100")), foreign(bytes(4))
    ('HTTP', 'TLS', None)
    """
    if first[:2] == b"\x16\x03":
        return "TLS"
    if first[:2] == b"\x15\x03":
        return "a TLS alert"
    if first[:4] in (b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC", b"HTTP"):
        return "HTTP"
    return None


def begins(first: bytes) -> bool:
    r"""Return whether a client's first bytes begin a Kafka request.

    If the first chunk is shorter than `MIN_FIRST_BYTES`, its size decides, and its key if present. A chunk
    without a whole size is foreign.

    >>> begins(bytes.fromhex("00000017 0012 0003 00000001 0003")), begins(b"*1\r\n$4\r\nPING\r\n")
    (True, False)
    >>> begins(bytes.fromhex("00000017")), begins(bytes.fromhex("050100"))
    (True, False)
    """
    if len(first) >= MIN_FIRST_BYTES:
        return begins_with_request(first)
    key_known = len(first) < 6 or int.from_bytes(first[4:6]) in NAMES
    return (
        len(first) >= 4 and 8 <= int.from_bytes(first[:4], signed=True) <= FRAME_LIMIT and key_known
    )
