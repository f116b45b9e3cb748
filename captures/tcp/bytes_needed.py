"""Tell a flow how many bytes its reader needs next, so that the flow gathers them into one chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.specs.frames import DIRECTIONS, OPPOSITE, Direction


@dataclass(slots=True, unsafe_hash=True)
class BytesNeeded:
    """A count of bytes in one direction that its reader can only use once all have arrived.

    The reader of a connection's chunks may set it after each chunk, for example to the missing bytes of a
    frame. 0, the initial value, means that the reader takes each chunk as it arrives. It is not part of the
    capture, so all instances are equal.
    """

    bytes: int = field(default=0, compare=False)


Needs = Mapping[Direction, BytesNeeded]
"""The bytes needed in both directions of a connection."""


def swapped(needs: Needs) -> Needs:
    """Return the bytes needed with the two directions exchanged."""
    return {direction: needs[OPPOSITE[direction]] for direction in needs}


NO_NEEDS: Final[Needs] = {direction: BytesNeeded() for direction in DIRECTIONS}
"""For events from a source that never gathers, whatever their reader needs."""
