"""The one connection of a consumer without sockets: to its coordinator, or to a known broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.consuming.dialer import Connect, Disconnect
from barnabas.designs.framing import Frames

FRAME_LIMIT: Final = 8 << 20
"""Bytes of the largest frame."""


class Connector:
    """Where the connection goes, how far it is, and what has come of the next frame."""

    def __init__(self, bootstrap: Sequence[Address]) -> None:
        self.coordinator: Address | None = None
        """Where to connect; None: to the known brokers in turn."""
        self.address: Address | None = None
        """Where it is connected, or connects to."""
        self.up = False
        self.deadline = 0
        """Of connecting; a core may use it for what comes then."""
        self.frames = Frames(FRAME_LIMIT)
        self._bootstrap = bootstrap
        self._turn = 0
        """Of the known brokers, which is next."""

    @property
    def to_coordinator(self) -> bool:
        """Whether it goes to the coordinator, as far as that is known."""
        return self.address is not None and self.address == self.coordinator

    def dial(self, deadline: int) -> Connect:
        """Connect."""
        self.address = self.coordinator
        if self.address is None:
            self.address = self._bootstrap[self._turn % len(self._bootstrap)]
            self._turn += 1
        self.deadline = deadline
        return Connect(self.address)

    def hang_up(self) -> list[Disconnect]:
        """Close the connection, if there is one."""
        actions = [] if self.address is None else [Disconnect()]
        self.address, self.up, self.frames = None, False, Frames(FRAME_LIMIT)
        return actions
