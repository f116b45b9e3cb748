"""The connection of a consumer without sockets: to its coordinator, or to a known broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.consuming.dialer import Connect, Disconnect
from barnabas.designs.framing import Frames

FRAME_LIMIT: Final = 8 << 20
"""Bytes of the largest frame."""


class Connector:
    """The target and the state of a consumer's connection, and the bytes of an incomplete frame."""

    def __init__(self, bootstrap: Sequence[Address]) -> None:
        self.coordinator: Address | None = None
        """The address to connect to; None: the known brokers in turn."""
        self.address: Address | None = None
        """The address of the connection, or of the attempt."""
        self.up = False
        self.deadline = 0
        """The deadline of connecting; a core may use it later for other timeouts."""
        self.frames = Frames(FRAME_LIMIT)
        self._bootstrap = bootstrap
        self._turn = 0
        """The index of the next known broker."""

    @property
    def to_coordinator(self) -> bool:
        """Return whether the connection goes to the known coordinator."""
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
