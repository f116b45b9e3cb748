"""The frame that is being received in one direction, and how much of it has arrived."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import Enum

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.specs.frames import RequestHead
from barnabas.specs.node_endpoints import ResponseTail

_SIZE = struct.Struct(">i")


class Mode(Enum):
    """The treatment of the present frame's bytes."""

    PASSING = "passing"
    """The bytes pass as they arrive. Between two frames none are missing."""
    HEADER = "header"
    """The bytes are buffered until the header can be read."""
    COLLECTING = "collecting"
    """The bytes are buffered until the frame is whole."""


@dataclass(slots=True)
class Ingress:
    """The frame under way in one direction."""

    mode: Mode = Mode.PASSING
    missing: int = 0
    """Bytes of the present frame that have not arrived, in mode PASSING or COLLECTING."""
    buffer: bytearray = field(default_factory=bytearray)
    """The buffered bytes of the present frame."""
    enough: int = 0
    """The number of buffered bytes at which the header is read again."""
    frames: int = 0
    """The number of frames begun so far; the ordinal of the next frame."""
    copy: bytearray | None = None
    """A copy of the passing frame, for the log."""
    size: int = 0
    """The size of the present frame, without its prefix."""
    hidden: tuple[int, int] | None = None
    """Key and version of the present frame, if it is collected to be masked for the capture."""
    withheld: str = ""
    """The reason for which the present frame may not pass; it is still collected, for the capture."""
    tail: ResponseTail | None = None
    """Finds the tail of the present frame: the frame passes up to its tail, which is collected."""
    head: RequestHead | None = None
    pending: Pending | None = None

    @property
    def between(self) -> bool:
        """Return whether the next byte begins a frame."""
        return not (self.missing or self.buffer)

    @property
    def passing(self) -> bool:
        """Return whether a passing frame is under way, so that no other bytes may be sent."""
        return self.missing > 0 and (self.mode is Mode.PASSING or self.tail is not None)

    @property
    def to_end(self) -> int:
        """Return the bytes up to the end of the frame under way, as far as it is known.

        Between two frames these are the 4 bytes of the next size.
        """
        if self.missing:
            return self.missing
        begun = len(self.buffer)
        if begun < 4:
            return 4 - begun
        return 4 + int(_SIZE.unpack_from(self.buffer)[0]) - begun

    @property
    def unknown(self) -> int:
        """Return how many buffered bytes the capture must not have yet.

        They belong to a frame of unknown kind, or to a masked frame that is not whole.
        """
        return 0 if self.mode is Mode.COLLECTING and self.hidden is None else len(self.buffer)

    def wait(self, mode: Mode, begun: memoryview | bytes, missing: int = 0) -> None:
        """Buffer the first bytes of a frame until more have arrived."""
        self.mode, self.buffer, self.missing = mode, bytearray(begun), missing

    def keep_tail(self, passed_bytes: int) -> None:
        """Collect the tail of a passing frame, which begins after so many more bytes."""
        self.wait(Mode.COLLECTING, b"", self.missing - passed_bytes)

    def take(self) -> bytes:
        """Remove and return the buffered bytes; no more bytes are expected."""
        data = bytes(self.buffer)
        self.mode, self.buffer, self.missing = Mode.PASSING, bytearray(), 0
        return data
