"""The framings of a connection: one for each direction of each of its flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.captures.kafka.framing.frame_resync import Asked, FrameResync
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.tcp.events import FlowName
from barnabas.specs.frames import Direction


class FlowFramings(dict[tuple[FlowName, Direction], Framing]):
    """Makes a framing when the first bytes of its flow and direction come.

    first: the numbers of the first frames that arrive, where they are not 0. asked: the requests that wait.
    keeps: see `Framing.keeps`, for the responses that arrive.
    """

    def __init__(
        self, first: Mapping[Direction, int], asked: Callable[[], Asked], keeps: int = 0
    ) -> None:
        super().__init__()
        self._first = first
        self._asked = asked
        self._keeps = keeps

    def __missing__(self, key: tuple[FlowName, Direction]) -> Framing:
        flow, direction = key
        first = self._first.get(direction, 0)
        if flow == "left":
            made = Framing(linked=True)
        elif direction == "request":
            made = Framing(search=FrameResync(), ordinal=first)
        else:
            made = Framing(search=FrameResync(self._asked), keeps=self._keeps, ordinal=first)
        self[key] = made
        return made

    @property
    def skipped(self) -> int:
        """Bytes that could not be taken apart."""
        return sum(framing.skipped for framing in self.values())
