"""Windows of `reorder`, on one connection or over several.

A frame in a window stands aside on its own connection. Once there are enough, or the time is up,
they leave in the window's order: the first is due, and each other when the one before it has gone
from where it stood. A frame whose connection has ended, or that was lost, counts no longer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from barnabas.proxy.connection.send_queue import Held
from barnabas.proxy.effects import Shuffle
from barnabas.specs.frames import Direction

Member = tuple[int, Held]
"""A frame, and the number of its connection."""


@dataclass(slots=True)
class Gathering:
    """A window that fills."""

    order: tuple[int, ...]
    deadline: int
    members: list[Member] = field(default_factory=list)


class Windows:
    """The windows of a proxy. `ready` gets the numbers of connections that have a frame due."""

    def __init__(self, ready: set[int]) -> None:
        self._ready = ready
        self._filling: dict[tuple[str, str | int, Direction], Gathering] = {}
        """By rule, scope or number of the connection, and direction."""
        self._open: list[deque[Member]] = []

    def gather(
        self, direction: Direction, effect: Shuffle, connection: int, held: Held, now: int
    ) -> None:
        """Put a frame that stands aside into its rule's window; a full one opens."""
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
        """Open those whose time is up."""
        for key in [key for key, window in self._filling.items() if window.deadline <= now]:
            self._start(self._filling.pop(key))

    def release(self, rule: str) -> None:
        """Open those of a rule."""
        for key in [key for key in self._filling if key[0] == rule]:
            self._start(self._filling.pop(key))

    def end(self, connection: int, direction: Direction) -> None:
        """Open those of one connection: nothing more will arrive in this direction."""
        for key in [key for key in self._filling if key[1:] == (connection, direction)]:
            self._start(self._filling.pop(key))

    def _start(self, window: Gathering) -> None:
        """Let the frames leave in the window's order; one that did not fill keeps to it as far as it goes."""
        members = _present(window.members)
        for _, held in members:
            held.deadline = None
        self._open.append(deque(members[place] for place in window.order if place < len(members)))
        self.advance()

    def forget(self) -> None:
        """A connection is over: let go the windows that had frames of it alone."""
        self._filling = {key: one for key, one in self._filling.items() if _present(one.members)}
        self.advance()

    def advance(self) -> None:
        """Of each window that is open the first frame that is still there is due."""
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
