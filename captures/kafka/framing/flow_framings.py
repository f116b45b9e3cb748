"""The framings of a connection: one for each direction of each of its flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.captures.kafka.framing.frame_resync import Asked, FrameResync
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.tcp.events import FlowName
from barnabas.specs.frames import Direction


class FlowFramings:
    """Makes a framing when the first bytes of its flow and direction come.

    first: the numbers of the first frames that arrive, where they are not 0. asked: the requests that wait.
    keeps: see `Framing.keeps`, for the responses that arrive.
    """

    def __init__(
        self, first: Mapping[Direction, int], asked: Callable[[], Asked], keeps: int = 0
    ) -> None:
        self._first = first
        self._asked = asked
        self._keeps = keeps
        self._made: dict[tuple[FlowName, Direction], Framing] = {}

    def of(self, flow: FlowName, direction: Direction) -> Framing:
        """The framing of a flow's direction."""
        found = self._made.get((flow, direction))
        if found is None:
            found = self._made[flow, direction] = self._new(flow, direction)
        return found

    @property
    def skipped(self) -> int:
        """Bytes that could not be taken apart."""
        return sum(framing.skipped for framing in self._made.values())

    def _new(self, flow: FlowName, direction: Direction) -> Framing:
        if flow == "left":
            return Framing(linked=True)
        first = self._first.get(direction, 0)
        if direction == "request":
            return Framing(search=FrameResync(), ordinal=first)
        return Framing(search=FrameResync(self._asked), keeps=self._keeps, ordinal=first)
