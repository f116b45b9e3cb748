"""A queue of a flow's cases that are not sent yet, by session."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from barnabas.fuzz.cases.case import Case


class CaseQueue:
    """Indices of cases, in order within each session."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._queues: dict[str, deque[int]] = {}
        for index, case in enumerate(cases):
            self._queues.setdefault(case.recipe.session, deque()).append(index)
        self.last = -1
        """The last index that was taken."""

    def __bool__(self) -> bool:
        return bool(self._queues)

    def __contains__(self, session: str) -> bool:
        return session in self._queues

    @property
    def session(self) -> str:
        """Return the session of the first case."""
        return next(iter(self._queues))

    def take(self, session: str) -> int:
        """Remove and return the next index of a session."""
        queue = self._queues[session]
        index = queue.popleft()
        self.last = max(self.last, index)
        if not queue:
            del self._queues[session]
        return index

    def stop(self) -> None:
        """Drop the cases after the last one that was taken."""
        before = {
            session: deque(index for index in queue if index < self.last)
            for session, queue in self._queues.items()
        }
        self._queues = {session: queue for session, queue in before.items() if queue}

    def clear(self) -> None:
        """Drop all cases."""
        self._queues = {}
