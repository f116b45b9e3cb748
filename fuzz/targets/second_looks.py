"""Sends a case again when others may have caused what was seen, or when more is to be learnt.

Pure: `Again` sends cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import STACK, Observation
from barnabas.fuzz.observations.about import api_of
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.observations.delayed_responses import may_wait
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.targets.observed import REUSED

CONFIRMED: Final = 2
"""Unanswered requests of an API and version that are waited for once more, alone and for long."""

OUT_OF_MEMORY: Final = "java.lang.OutOfMemoryError"

FRESH: Final = 32
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
        self._stacks: dict[tuple[str, ...], tuple[str, ...]] = {}
        """API, mutator and field -> where memory ran out in a fresh process; () if that is not known."""
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
        """A JVM tells where memory ran out for its first errors only (its preallocated ones): the first such
        case of a kind is run alone on a fresh one, and those behind it are told by what that said."""
        if not any(OUT_OF_MEMORY in entry and "\tat " not in entry for entry in observation.log):
            return observation
        kind = (api_of(observation), *changed(observation.case))
        if kind not in self._stacks:
            if len(self._stacks) >= FRESH:
                return observation
            self._stacks[kind] = ()
            again = self._again.anew(observation.case)
            if again.log:
                self._stacks[kind] = _stack(again)
                return again
        known = self._stacks[kind]
        facts = (*observation.facts, (STACK, list(known)))
        return replace(observation, facts=facts) if known else observation

    def _confirmed_late(self, observation: Observation) -> Observation:
        """An answer that is overdue is waited for again, alone."""
        if not observation.overdue:
            return observation
        due = [one for one in question(observation.sent).requests if one.answered]
        if len(observation.replies) >= len(due):
            return observation
        late = due[len(observation.replies)]
        if may_wait(late) or self._confirmed[late.key, late.version] >= CONFIRMED:
            return observation
        self._confirmed[late.key, late.version] += 1
        return self._again.patiently(observation.case)


def _stack(observation: Observation) -> tuple[str, ...]:
    """Where memory ran out, if the log says it."""
    found = (one for entry in observation.log for one in raised(entry))
    return next((one.frames for one in found if one.name == OUT_OF_MEMORY and one.frames), ())
