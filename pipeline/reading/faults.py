"""What of a file could not be read."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.captures.files.pcapng import CaptureError


class Fault(NamedTuple):
    """Bytes of a file that could not be read, from an offset on."""

    offset: int
    bytes: int
    kind: str
    reason: str


def unread(offset: int, size: int, problem: CaptureError) -> Fault:
    """A block of so many bytes that has a problem."""
    return Fault(offset, size, "corrupt", f"byte {problem.offset}: {problem.reason}")
