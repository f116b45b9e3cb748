"""The processes of a client's program, and the sessions that run in each."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.targets.clients.child import Child
from barnabas.fuzz.targets.processor import spent

REMEMBERED: Final = 16
"""Cases before a death that may be to blame for it."""

LIFE: Final = 2000
"""Sessions of one process, where it runs several at once: what they leave behind ends with it."""
GIVEN_UP: Final = 8
"""And so many of them that hang."""


@dataclass(slots=True, eq=False)
class Process:
    """A child and the sessions that are in it, by their numbers; a valid one has no case.

    highest: the most memory that there was during a session, until it was measured anew. beside: the most
    others that there were. before: the latest cases that it had, oldest first. spent: its processor time when
    its latest session was over. closing: it begins no more sessions, and ends with the last.
    """

    child: Child
    ready: bool
    running: dict[int, Case | None] = field(default_factory=dict)
    highest: dict[int, int] = field(default_factory=dict)
    beside: dict[int, int] = field(default_factory=dict)
    before: deque[Case] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    begun: int = 0
    given_up: int = 0
    spent: float = 0.0
    closing: bool = False
    _death: Death | None = None
    _told: bool = False

    def death(self) -> Death:
        """Return how the process ended."""
        if self._death is None:
            self._death = self.child.death()
        return self._death

    def is_ready(self) -> bool:
        """Return whether the program has printed its first line, which says that it is ready."""
        if not self.ready and self.child.answers:
            del self.child.answers[0]
            self.ready = True
        return self.ready

    def answer(self, number: int) -> dict[str, Any] | None:
        """Return what the program said at the end of a session; None: it goes on."""
        for one in self.child.answers:
            if one.get("number") == number:
                self.child.answers.remove(one)
                return one
        return None

    def suspects(self, number: int) -> list[Case]:
        """Return the cases, beside that session's, that may be to blame for its end, the likeliest last.

        A second call returns none: they are looked at once.
        """
        others = (case for one, case in self.running.items() if one != number and case is not None)
        found = [] if self._told else [*self.before, *others]
        self._told = True
        return found

    def measure(self) -> None:
        """Reset the process's peak of memory; each running session keeps the peak so far."""
        if self.running:
            most = self.child.highest_memory()
            self.highest = {one: max(self.highest.get(one, 0), most) for one in self.running}
        self.child.forget_memory()


class Processes:
    """The processes of one selector.

    start: of a child, for a session at an address. at_once: sessions that one runs side by side at most.
    much_s: processor time that one may take without a session. each: a child for every session, which ends by
    itself.
    """

    def __init__(
        self,
        start: Callable[[selectors.BaseSelector, str], Child],
        selector: selectors.BaseSelector,
        *,
        at_once: int,
        much_s: float,
        each: bool,
    ) -> None:
        self._start, self.selector = start, selector
        self._at_once, self._much_s = at_once, much_s
        self.each = each
        self._all: list[Process] = []

    def enter(self, number: int, case: Case | None, bootstrap: str) -> Process:
        """Return a process for a session; a new one if all others are full. Raises OSError."""
        process = self._with_room()
        if process is None:
            process = Process(self._start(self.selector, bootstrap), ready=self.each)
            self._all.append(process)
        process.measure()
        process.running[number] = case
        others = len(process.running) - 1
        process.beside = {one: max(process.beside.get(one, 0), others) for one in process.running}
        process.begun += 1
        process.closing = self.each or (self._at_once > 1 and process.begun >= LIFE)
        return process

    def _with_room(self) -> Process | None:
        """Return the fullest process with room: one with few sessions has not yet loaded what they take."""
        room = [one for one in self._all if not one.closing and len(one.running) < self._at_once]
        for process in sorted(room, key=lambda one: -len(one.running)):
            if not self._relieved(process):
                return process
        return None

    def give_up(self, process: Process, number: int) -> None:
        """Leave a session that waits for ever; it goes on in its process if other sessions do."""
        process.given_up += 1
        ends = len(process.running) == 1 or process.given_up >= GIVEN_UP
        self.leave(process, number, ends=ends)

    def leave(self, process: Process, number: int, *, ends: bool) -> None:
        """Take note that a session is over. ends: its process is to end, once its other sessions have."""
        case = process.running.pop(number)
        process.closing |= ends
        if case is not None:
            process.before.append(case)
        if process.running:
            return
        if process.closing:
            self._end(process)
        else:
            process.spent = spent(process.child.pid) or 0.0

    def relieve(self) -> None:
        """End processes that compute without a session: a thread was left behind."""
        for process in [*self._all]:
            self._relieved(process)

    def _relieved(self, process: Process) -> bool:
        if process.running:
            return False
        used = (spent(process.child.pid) or 0.0) - process.spent
        if used >= self._much_s:
            self._end(process)
        return used >= self._much_s

    def end(self) -> None:
        """End all processes that have no session."""
        for process in [one for one in self._all if not one.running]:
            self._end(process)

    def _end(self, process: Process) -> None:
        self._all.remove(process)
        process.child.end()
