"""The cases that a broker target runs at once, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation


class Batch:
    """Cases that are run, and the observations of them that were not yielded yet."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.found: dict[int, tuple[Observation, int]] = {}
        """By the case's place; with each, how many restarts there had been when it was sent."""
        self.told = 0
        """How many observations were yielded."""
        self.stopped = False

    def left(self) -> list[int]:
        """Return the places of the cases that have no observation."""
        return [index for index in range(self.told, len(self.cases)) if index not in self.found]

    def ends(self, left: Sequence[int]) -> bool:
        """Return whether a stopped batch ends before the cases that are left: a campaign that goes on sends
        them."""
        if self.stopped and (self.told or 0 in self.found):
            self.cases = self.cases[: left[0]]
            return True
        return False

    def set_aside(self, places: Iterable[int]) -> None:
        """Give cases that are not sent the observation that says so."""
        self.found |= {
            index: (Observation(self.cases[index], facts=((SET_ASIDE, True),)), 0)
            for index in places
        }
