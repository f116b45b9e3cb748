"""Define a sink for the blocks of a capture, and the counts of written and lost packets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.captures.files.pcapng import Buffer


@dataclass(slots=True)
class Stats:
    """Counts of written and lost packets. `lost_bytes` are payload, `bytes` are bytes of the file."""

    packets: int = 0
    bytes: int = 0
    lost_packets: int = 0
    lost_bytes: int = 0
    stopped: str | None = None
    """Why writing has stopped: the size limit, or the system's error; None: it continues."""
    segments: int = 0
    """Closed segments with their final names, if the capture is written in segments."""


class Behind(Exception):
    """An error: another segment has begun since `segment` was read, so the flow needs an introduction."""


class BlockSink(Protocol):
    """A destination for the blocks of a capture; see `Sink`."""

    @property
    def stats(self) -> Stats:
        """Return the counts so far."""

    @property
    def segment(self) -> int:
        """Return the number of the file that the next blocks go to, from 1."""

    @property
    def losing(self) -> bool:
        """Return whether all blocks are lost now, so that callers `lose` packets without making blocks."""

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers may be reused on return. False: they are lost.

        Raises Behind, without writing, if other processes write to the sink, too.
        """

    def lose(self, packets: int, payload: int) -> bool:
        """Count packets that are not written. Always False."""

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write waiting blocks, and the bytes that `last` makes of the final counts."""
