"""The windows of `reorder`, on one connection or over several.

A frame in a window waits aside on its own connection. When the window is full, or its time is up, its frames
leave in the window's order: the first frame is due, and each other one when the frame before it has been
queued. A frame that was lost, or whose connection has ended, is skipped.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from barnabas.proxy.connection.send_queue import HeldFrame
from barnabas.proxy.effects import Shuffle
from barnabas.specs.frames import Direction

Member = tuple[int, HeldFrame]
"""The number of a connection, and a frame of it."""


@dataclass(slots=True)
class Gathering:
    """A window that is filling."""

    order: tuple[int, ...]
    deadline: int
    members: list[Member] = field(default_factory=list)


class Windows:
    """The windows of a proxy; it adds the numbers of connections with due frames to `ready`."""

    def __init__(self, ready: set[int]) -> None:
        self._ready = ready
        self._filling: dict[tuple[str, str | int, Direction], Gathering] = {}
        """The windows that are filling: by rule, scope or number of the connection, and direction."""
        self._open: list[deque[Member]] = []

    def gather(
        self, direction: Direction, effect: Shuffle, connection: int, held: HeldFrame, now: int
    ) -> None:
        """Put a frame that waits aside into its rule's window; start the window when it is full."""
        self.expire(now)
        key = (held.rule, effect.scope or connection, direction)
        window = self._filling.get(key)
        members = [] if window is None else _present(window.members)
        if window is None or not members:
            window = self._filling[key] = Gathering(effect.order, now + effect.at_most)
        window.members = [*members, (connection, held)]
        held.deadline = window.deadline
        if len(window.members) == len(window.order):
            self._start(self._filling.pop(key))

    def expire(self, now: int) -> None:
        """Start the windows whose time is up."""
        for key in [key for key, window in self._filling.items() if window.deadline <= now]:
            self._start(self._filling.pop(key))

    def release(self, rule: str) -> None:
        """Start the windows of a rule."""
        for key in [key for key in self._filling if key[0] == rule]:
            self._start(self._filling.pop(key))

    def end(self, connection: int, direction: Direction) -> None:
        """Start the windows of one connection and direction: no more frames will arrive in it."""
        for key in [key for key in self._filling if key[1:] == (connection, direction)]:
            self._start(self._filling.pop(key))

    def _start(self, window: Gathering) -> None:
        """Let the frames of a window leave in its order; missing ones are skipped."""
        members = _present(window.members)
        for _, held in members:
            held.deadline = None
        self._open.append(deque(members[index] for index in window.order if index < len(members)))
        self.advance()

    def forget(self) -> None:
        """Remove the windows that have no frames any more, after a connection has closed."""
        self._filling = {
            key: window for key, window in self._filling.items() if _present(window.members)
        }
        self.advance()

    def advance(self) -> None:
        """Make the first remaining frame of each started window due."""
        for members in self._open:
            while members and members[0][1].over:
                members.popleft()
            if members and not members[0][1].due:
                connection, held = members[0]
                held.due = True
                self._ready.add(connection)
        if self._open:
            self._open = [members for members in self._open if members]


def _present(members: list[Member]) -> list[Member]:
    return [member for member in members if not member[1].over]
