"""Sends a case again when others may have caused what was seen, or when more is to be learnt.

Pure: `Again` sends cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.delayed_responses import PARKED
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.targets.observed import REUSED

CONFIRMED: Final = 2
"""Unanswered requests of an API and version that are waited for once more, alone and for long."""

OUT_OF_MEMORY: Final = "java.lang.OutOfMemoryError"

FRESH: Final = 12
"""Restarts at most for the sake of a stack trace."""

Send = Callable[[Case], Observation]


@dataclass(frozen=True, slots=True)
class Again:
    """Ways to send a case again, alone and with a probe behind it."""

    apart: Send
    """On a connection of its own."""
    anew: Send
    """To a target that was started anew."""
    patiently: Send
    """Waiting for an answer as long as any may take."""


class SecondLooks:
    """Looks again where that may tell more, a few times for each kind."""

    def __init__(self, again: Again) -> None:
        self._again = again
        self._fresh: set[str] = set()
        self._confirmed: Counter[tuple[int, int]] = Counter()

    def look(self, observation: Observation) -> Observation:
        """The observation, or the one of a second look."""
        return self._confirmed_late(self._with_stack(self._unspoilt(observation)))

    def _unspoilt(self, observation: Observation) -> Observation:
        """Whose connection ended without a word, or brought another's answer, may suffer from the case
        that had it before: it is run again on one of its own."""
        due = [one for one in question(observation.sent).requests if one.answered]
        if not due or not dict(observation.facts).get(REUSED) or observation.death is not None:
            return observation
        if observation.replies:
            spoilt = observation.replies[0][:4] != due[0].correlation_id.to_bytes(4, signed=True)
        else:
            spoilt = observation.ending != "open" and not observation.log
        return self._again.apart(observation.case) if spoilt else observation

    def _with_stack(self, observation: Observation) -> Observation:
        """A JVM tells where memory ran out for its first errors only (its preallocated ones): such a
        case is run alone on a fresh one."""
        if not any(OUT_OF_MEMORY in entry and "\tat " not in entry for entry in observation.log):
            return observation
        changes = observation.case.recipe.changes
        kind = changes[-1].mutator if changes else ""
        if kind in self._fresh or len(self._fresh) >= FRESH:
            return observation
        self._fresh.add(kind)
        again = self._again.anew(observation.case)
        return again if again.log else observation

    def _confirmed_late(self, observation: Observation) -> Observation:
        """An answer that is overdue is waited for again, alone."""
        if not observation.overdue:
            return observation
        due = [one for one in question(observation.sent).requests if one.answered]
        if len(observation.replies) >= len(due):
            return observation
        late = due[len(observation.replies)]
        if late.key in PARKED or self._confirmed[late.key, late.version] >= CONFIRMED:
            return observation
        self._confirmed[late.key, late.version] += 1
        return self._again.patiently(observation.case)
