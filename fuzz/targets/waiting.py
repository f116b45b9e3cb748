"""The cases of a flow that are still to be sent, by the session that they want."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from barnabas.fuzz.cases.case import Case


class Waiting:
    """Places of cases, in their order within each session."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._queues: dict[str, deque[int]] = {}
        for place, case in enumerate(cases):
            self._queues.setdefault(case.recipe.session, deque()).append(place)
        self.last = -1
        """The last place that was taken."""

    def __bool__(self) -> bool:
        return bool(self._queues)

    def __contains__(self, session: str) -> bool:
        return session in self._queues

    @property
    def session(self) -> str:
        """The one that was wanted first."""
        return next(iter(self._queues))

    def take(self, session: str) -> int:
        """The next place of a session."""
        queue = self._queues[session]
        place = queue.popleft()
        self.last = max(self.last, place)
        if not queue:
            del self._queues[session]
        return place

    def stop(self) -> None:
        """Give up what stands behind the last that was taken."""
        before = {
            session: deque(place for place in queue if place < self.last)
            for session, queue in self._queues.items()
        }
        self._queues = {session: queue for session, queue in before.items() if queue}

    def clear(self) -> None:
        """Give up all."""
        self._queues = {}
