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
from barnabas.fuzz.targets.process_usage import forget_peak, memory_use, spent

REMEMBERED: Final = 16
"""Cases before a crash that may have caused it."""

LIFE: Final = 2000
"""Sessions of one process with concurrent sessions; what they leave behind ends with it."""
GIVEN_UP: Final = 8
"""Hanging sessions after which a process ends."""


@dataclass(slots=True, eq=False)
class ClientProcess:
    """A child process and its running sessions, by their numbers; a valid session has no case.

    Attributes:
        child: The process.
        ready: Whether it has printed its first line.
        running: The sessions.
        highest: The peak memory during a session, until it was measured again.
        beside: The maximal number of other sessions during a session.
        before: The latest cases, oldest first.
        begun: Sessions that were begun.
        given_up: Sessions that hang.
        spent: Processor time when the latest session ended.
        closing: The process begins no more sessions, and ends after the last.
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
        """Return whether the program has printed its first line, which reports that it is ready."""
        if not self.ready and self.child.answers:
            del self.child.answers[0]
            self.ready = True
        return self.ready

    def answer(self, number: int) -> dict[str, Any] | None:
        """Return the program's message at the end of a session; None if the session goes on."""
        for message in self.child.answers:
            if message.get("number") == number:
                self.child.answers.remove(message)
                return message
        return None

    def suspects(self, number: int) -> list[Case]:
        """Return the cases of other sessions that may have caused a session's end, the likeliest last.

        A second call returns none: they are tried once.
        """
        others = (
            case for other, case in self.running.items() if other != number and case is not None
        )
        suspects = [] if self._told else [*self.before, *others]
        self._told = True
        return suspects

    def measure(self) -> None:
        """Reset the process's peak memory; each running session keeps the peak so far."""
        if self.running:
            most = memory_use(self.child.pid).peak
            self.highest = {
                session: max(self.highest.get(session, 0), most) for session in self.running
            }
        forget_peak(self.child.pid)


class ClientProcesses:
    """The processes of one selector.

    Args:
        start: Starts a child for a session at an address.
        selector: The selector.
        at_once: Concurrent sessions of one process.
        much_s: Processor time that a process may use without a session.
        each: Each session has its own child, which ends by itself.
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
        self._all: list[ClientProcess] = []

    def enter(self, number: int, case: Case | None, bootstrap: str) -> ClientProcess:
        """Return a process for a session; a new one if all are full. Raises OSError."""
        process = self._with_room()
        if process is None:
            process = ClientProcess(self._start(self.selector, bootstrap), ready=self.each)
            self._all.append(process)
        process.measure()
        process.running[number] = case
        others = len(process.running) - 1
        process.beside = {
            session: max(process.beside.get(session, 0), others) for session in process.running
        }
        process.begun += 1
        process.closing = self.each or (self._at_once > 1 and process.begun >= LIFE)
        return process

    def _with_room(self) -> ClientProcess | None:
        """Return the fullest process with room: one with few sessions has not yet loaded all code."""
        room = [
            candidate
            for candidate in self._all
            if not candidate.closing and len(candidate.running) < self._at_once
        ]
        for process in sorted(room, key=lambda candidate: -len(candidate.running)):
            if not self._relieved(process):
                return process
        return None

    def give_up(self, process: ClientProcess, number: int) -> None:
        """Leave a session that hangs; it stays in its process while other sessions run there."""
        process.given_up += 1
        ends = len(process.running) == 1 or process.given_up >= GIVEN_UP
        self.leave(process, number, ends=ends)

    def leave(self, process: ClientProcess, number: int, *, ends: bool) -> None:
        """Note that a session is over. ends: the process ends, once its other sessions have."""
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
        """End processes that compute without a session: a thread was left running."""
        for process in [*self._all]:
            self._relieved(process)

    def _relieved(self, process: ClientProcess) -> bool:
        if process.running:
            return False
        used = (spent(process.child.pid) or 0.0) - process.spent
        if used >= self._much_s:
            self._end(process)
        return used >= self._much_s

    def end(self) -> None:
        """End all processes without a session."""
        for process in [candidate for candidate in self._all if not candidate.running]:
            self._end(process)

    def _end(self, process: ClientProcess) -> None:
        self._all.remove(process)
        process.child.end()
