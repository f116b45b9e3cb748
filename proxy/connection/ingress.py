"""The frame that is being received in one direction, and how much of it is here."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import Enum

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.specs.frames import RequestHead
from barnabas.specs.node_endpoints import ResponseTail

_SIZE = struct.Struct(">i")


class Mode(Enum):
    """What is done with the bytes of the present frame."""

    PASSING = "passing"
    """They pass as they come. Between two frames none are missing."""
    HEADER = "header"
    """They wait until there are enough of them to read the header."""
    COLLECTING = "collecting"
    """They wait until the frame is whole."""


@dataclass(slots=True)
class Ingress:
    """The frame under way in one direction."""

    mode: Mode = Mode.PASSING
    missing: int = 0
    """Bytes of the present frame that are still to come, passing or collecting."""
    buffer: bytearray = field(default_factory=bytearray)
    """Its bytes so far, if they wait."""
    enough: int = 0
    """With how many of them its header is looked at again."""
    frames: int = 0
    """Frames begun so far; the ordinal of the next one."""
    copy: bytearray | None = None
    """A copy of the passing frame, for the log."""
    size: int = 0
    """The size of the present frame, without its prefix."""
    hidden: tuple[int, int] | None = None
    """Key and version of the present frame, if it is collected to be masked for the capture."""
    withheld: str = ""
    """Why the present frame may not pass, if it may not: it is collected all the same, for the capture."""
    tail: ResponseTail | None = None
    """Finds the tail of the present frame, up to which it passes, and from which on it is collected."""
    head: RequestHead | None = None
    pending: Pending | None = None

    @property
    def between(self) -> bool:
        """Whether the next byte begins a frame."""
        return not (self.missing or self.buffer)

    @property
    def passing(self) -> bool:
        """Whether a frame that passes as it comes is under way: nothing may come in between."""
        return self.missing > 0 and (self.mode is Mode.PASSING or self.tail is not None)

    @property
    def to_end(self) -> int:
        """Bytes up to the end of the frame under way, as far as is known: 4 between frames."""
        if self.missing:
            return self.missing
        begun = len(self.buffer)
        if begun < 4:
            return 4 - begun
        return 4 + int(_SIZE.unpack_from(self.buffer)[0]) - begun

    @property
    def unknown(self) -> int:
        """Bytes that came of a frame of which it is not known yet what it is, or that is to be masked and
        not whole."""
        return 0 if self.mode is Mode.COLLECTING and self.hidden is None else len(self.buffer)

    def wait(self, mode: Mode, begun: memoryview | bytes, missing: int = 0) -> None:
        """Keep the first bytes of a frame until more have come."""
        self.mode, self.buffer, self.missing = mode, bytearray(begun), missing

    def keep_tail(self, passed: int) -> None:
        """The tail of a passing frame is there behind so many more bytes: it is collected."""
        self.wait(Mode.COLLECTING, b"", self.missing - passed)

    def take(self) -> bytes:
        """The bytes that wait, taken out; nothing is missing any longer."""
        taken = bytes(self.buffer)
        self.mode, self.buffer, self.missing = Mode.PASSING, bytearray(), 0
        return taken
