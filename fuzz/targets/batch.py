"""A batch of cases that a broker target runs, and their observations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation


class Batch:
    """Cases that are run together, and the observations that were not yielded yet."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.observations: dict[int, tuple[Observation, int]] = {}
        """By the case's index: its observation, and the number of restarts when it was sent."""
        self.yielded = 0
        """Observations that were yielded."""
        self.stopped = False

    def remaining(self) -> list[int]:
        """Return the indices of the cases that have no observation."""
        return [
            index
            for index in range(self.yielded, len(self.cases))
            if index not in self.observations
        ]

    def ends_before(self, remaining: Sequence[int]) -> bool:
        """Return whether a stopped batch ends before the remaining cases.

        A campaign that continues later sends them.
        """
        if self.stopped and (self.yielded or 0 in self.observations):
            self.cases = self.cases[: remaining[0]]
            return True
        return False

    def set_aside(self, indices: Iterable[int], reason: str) -> None:
        """Give cases that are not sent an observation with the fact SET_ASIDE."""
        self.observations |= {
            index: (Observation(self.cases[index], facts=((SET_ASIDE, reason),)), 0)
            for index in indices
        }
