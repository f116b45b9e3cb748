"""Where the blocks of a capture go, and the counts of what was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.captures.files.pcapng import Buffer


@dataclass(slots=True)
class Stats:
    """What was written and what was not. `lost_bytes` are payload, `bytes` are of the file."""

    packets: int = 0
    bytes: int = 0
    lost_packets: int = 0
    lost_bytes: int = 0
    stopped: str | None = None
    """Why nothing more is written: its size limit, or the system's reason."""
    segments: int = 0
    """Files that were closed and have their names, if it is written in segments."""


class Behind(Exception):
    """Another segment has begun since `segment` was asked for: who writes a block must introduce its flow."""


class BlockSink(Protocol):
    """Where the blocks of a capture go; see `Sink` for what each method does."""

    @property
    def stats(self) -> Stats:
        """What was written and lost so far."""

    @property
    def segment(self) -> int:
        """The number of the file that the next blocks go to, from 1."""

    @property
    def losing(self) -> bool:
        """Whether all is lost that comes now, so that it need not be made: see `lose`."""

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers are free again on return. False if they are lost.

        Raises Behind where other processes write, too: nothing was written.
        """

    def lose(self, packets: int, payload: int) -> bool:
        """Count what is not written. Always False."""

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write what waits, and what `last` says of it all."""
