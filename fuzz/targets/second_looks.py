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
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, may_wait
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.observations.requests import Asked, question
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
        self._silent: set[int] = set()
        """APIs of which a request stayed unanswered, alone and for long: another one tells nothing new."""

    def due(self, observation: Observation) -> bool:
        """Whether a look would send the case again."""
        kind = self._stackless(observation)
        known = kind is None or kind in self._stacks
        return not known or _spoilt(observation) or self._late(observation) is not None

    def look(self, observation: Observation) -> Observation:
        """The observation, or the one of a second look."""
        return self._confirmed_late(self._with_stack(self._unspoilt(observation)))

    def _unspoilt(self, observation: Observation) -> Observation:
        return self._again.apart(observation.case) if _spoilt(observation) else observation

    def _stackless(self, observation: Observation) -> tuple[str, ...] | None:
        """The kind of a case whose error left no stack; None: it had none, or its stack."""
        if not any(OUT_OF_MEMORY in entry and "\tat " not in entry for entry in observation.log):
            return None
        return (api_of(observation), *changed(observation.case))

    def _with_stack(self, observation: Observation) -> Observation:
        """A JVM tells where memory ran out for its first errors only (its preallocated ones): the first such
        case of a kind is run alone on a fresh one, and those behind it are told by what that said."""
        kind = self._stackless(observation)
        if kind is None:
            return observation
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

    def _late(self, observation: Observation) -> Asked | None:
        """The request that is to be waited for again, if one is."""
        if not observation.overdue:
            return None
        late = _unanswered(observation)
        if late is None or may_wait(late) or late.key in self._silent:
            return None
        return late if self._confirmed[late.key, late.version] < CONFIRMED else None

    def _confirmed_late(self, observation: Observation) -> Observation:
        """An answer that is overdue is waited for again, alone."""
        late = self._late(observation)
        if late is None:
            return observation
        self._confirmed[late.key, late.version] += 1
        again = self._again.patiently(observation.case)
        if again.overdue and again.took_ms >= LIMIT_MS and _unanswered(again) is not None:
            self._silent.add(late.key)
        return again


def _unanswered(observation: Observation) -> Asked | None:
    """The first request that is due an answer and has none."""
    due = [one for one in question(observation.sent).requests if one.answered]
    return due[len(observation.replies)] if len(observation.replies) < len(due) else None


def _spoilt(observation: Observation) -> bool:
    """Whether its connection ended without a word, or brought another's answer: it may suffer from the case
    that had the connection before, and is run again on one of its own."""
    due = [one for one in question(observation.sent).requests if one.answered]
    if not due or not dict(observation.facts).get(REUSED) or observation.death is not None:
        return False
    if observation.replies:
        return observation.replies[0][:4] != due[0].correlation_id.to_bytes(4, signed=True)
    return observation.ending != "open" and not observation.log


def _stack(observation: Observation) -> tuple[str, ...]:
    """Where memory ran out, if the log says it."""
    found = (one for entry in observation.log for one in raised(entry))
    return next((one.frames for one in found if one.name == OUT_OF_MEMORY and one.frames), ())
