"""One direction's way in: where in the stream of frames the bytes received so far end."""

from __future__ import annotations

from dataclasses import dataclass, field

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.specs.frames import RequestHead


@dataclass(slots=True)
class Inbound:
    """The frame under way in one direction. At most one of its four ways of being is on."""

    frames: int = 0
    """Frames begun so far; the ordinal of the next one."""
    passing: int = 0
    """Bytes of the present frame that are still to be passed on as they come."""
    start: bytearray = field(default_factory=bytearray)
    """The first bytes of a frame whose head is not complete."""
    enough: int = 0
    """With how many of them it is looked at again."""
    frame: bytearray = field(default_factory=bytearray)
    """A frame that is collected whole ..."""
    need: int = 0
    """... and how many of its bytes are missing."""
    copy: bytearray | None = None
    """A copy of the passing frame, for the log."""
    size: int = 0
    """The size of the present frame, without its prefix."""
    hidden: tuple[int, int] | None = None
    """Key and version of the present frame, if it is collected to be masked for the capture."""
    head: RequestHead | None = None
    pending: Pending | None = None

    @property
    def between(self) -> bool:
        """Whether the next byte begins a frame."""
        return not (self.passing or self.need or self.start)


def foreign(first: bytes) -> str | None:
    """What another protocol's first bytes are, where they would be the size of a frame.

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
