"""Manage the framings of a connection: one for each direction of each of its flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.captures.kafka.framing.frame_resync import FrameResync, InFlight
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.tcp.events import FlowName
from barnabas.specs.frames import Direction


class FlowFramings(dict[tuple[FlowName, Direction], Framing]):
    """The framings of a connection; each is created for the first bytes of its flow and direction.

    Args:
        first: Numbers of the first frames that arrive, where they are not 0.
        in_flight: Returns the requests in flight.
        keeps: `Framing.keeps` of the responses that arrive.
    """

    def __init__(
        self, first: Mapping[Direction, int], in_flight: Callable[[], InFlight], keeps: int = 0
    ) -> None:
        super().__init__()
        self._first = first
        self._in_flight = in_flight
        self._keeps = keeps

    def __missing__(self, key: tuple[FlowName, Direction]) -> Framing:
        flow, direction = key
        first = self._first.get(direction, 0)
        if flow == "left":
            framing = Framing(linked=True)
        elif direction == "request":
            framing = Framing(search=FrameResync(), ordinal=first)
        else:
            framing = Framing(search=FrameResync(self._in_flight), keeps=self._keeps, ordinal=first)
        self[key] = framing
        return framing

    @property
    def skipped(self) -> int:
        """Return the bytes that could not be cut into frames."""
        return sum(framing.skipped for framing in self.values())
