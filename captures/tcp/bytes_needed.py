"""How many bytes of a flow its reader needs next: until they have come, they are gathered into one chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.specs.frames import DIRECTIONS, OPPOSITE, Direction


@dataclass(slots=True, unsafe_hash=True)
class BytesNeeded:
    """Bytes of one direction of which its reader can use none before the last of them has come.

    Who reads a connection's chunks may say so after each one, e.g. what is missing of a frame; 0, as at
    the beginning: each chunk as it comes. It is no part of what was captured: equal to any other.
    """

    bytes: int = field(default=0, compare=False)


Needs = Mapping[Direction, BytesNeeded]
"""Those of both directions of a connection."""


def swapped(needs: Needs) -> Needs:
    """The same where the two ends have changed their places."""
    return {way: needs[OPPOSITE[way]] for way in needs}


NEVER_SAID: Final[Needs] = {way: BytesNeeded() for way in DIRECTIONS}
"""Of events whose maker gathers nothing, whatever their reader says."""
