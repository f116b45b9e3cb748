"""Writes the connections of checks to a capture, and remembers the packet of each frame.

Wireshark numbers packets from 1; a frame has the number of its last packet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.conform.verdicts import Evidence
from barnabas.specs.frames import Direction


@dataclass(slots=True)
class Traffic:
    """The capture of a run.

    Args:
        writer: writes the file.
        clock: returns the time in ns since the epoch.
    """

    writer: CaptureWriter
    clock: Callable[[], int]
    _connections: int = 0

    def of(self, check: str) -> CheckTraffic:
        """Return the part of a check, which the connections' comments name."""
        return CheckTraffic(self, check)

    def open(self, check: str, client: Endpoint, server: Endpoint) -> FlowWriter:
        """Begin a connection."""
        self._connections += 1
        comment = {"check": check}
        return self.writer.open(self._connections, client, server, self.clock(), comment)


@dataclass(slots=True)
class CheckTraffic:
    """The connections of one check."""

    traffic: Traffic
    check: str
    _flows: dict[int, FlowWriter] = field(default_factory=dict)
    _packets: dict[int, int] = field(default_factory=dict)
    """Hash of a frame without its size -> number of its last packet."""

    def opened(self, connection: int, client: Endpoint, server: Endpoint) -> None:
        """Begin a connection of the check."""
        self._flows[connection] = self.traffic.open(self.check, client, server)

    def passed(self, connection: int, direction: Direction, data: bytes) -> None:
        """Write bytes that were sent or received: one frame with its size, or any part of one."""
        if data:
            self._flows[connection].arrived(direction, data, self.traffic.clock())
            self._packets[hash(data[4:])] = self.traffic.writer.packets

    def closed(self, connection: int, reset: bool = False) -> None:
        """End a connection."""
        self._flows[connection].close(self.traffic.clock(), reset)

    def packets(self, evidence: Evidence) -> tuple[int, ...]:
        """Return the packet numbers of a request and its response; frames that were cut have none."""
        frames = evidence.request, evidence.response
        numbers = (self._packets.get(hash(frame)) for frame in frames if frame is not None)
        return tuple(number for number in numbers if number is not None)
