"""Second looks: a case is sent again if others may have caused the observation, or if more can be learned.

Pure: the functions of `Again` send cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REUSED, STACK, Observation
from barnabas.fuzz.observations.case_labels import api_of, last_change
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, may_wait
from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.observations.requests import SentRequest, parse_requests

CONFIRMED: Final = 2
"""Unanswered requests of one API and version that are sent again, alone and with a long wait."""

OUT_OF_MEMORY: Final = "java.lang.OutOfMemoryError"

FRESH: Final = 32
"""Restarts at most for the sake of a stack trace."""

Send = Callable[[Case], Observation]


@dataclass(frozen=True, slots=True)
class Again:
    """Functions that send a case again, alone and with a probe after it."""

    on_new_connection: Send
    """Sends on a new connection."""
    after_restart: Send
    """Sends to a restarted target."""
    with_long_wait: Send
    """Waits as long as any response may take."""


class SecondLooks:
    """Looks again where that may show more, a few times for each kind."""

    def __init__(self, again: Again) -> None:
        self._again = again
        self._stacks: dict[tuple[str, ...], tuple[str, ...]] = {}
        """API, mutator and field -> where memory ran out in a fresh process; () if unknown."""
        self._confirmed: Counter[tuple[int, int]] = Counter()
        self._silent: set[int] = set()
        """APIs of which a request stayed unanswered, alone and for long: another one shows nothing new."""

    def due(self, observation: Observation) -> bool:
        """Return whether a second look would send the case again."""
        kind = self._stackless(observation)
        has_known_stack = kind is None or kind in self._stacks
        return not has_known_stack or _spoilt(observation) or self._late(observation) is not None

    def look(self, observation: Observation) -> Observation:
        """Return the observation, or the one of a second look."""
        return self._confirmed_late(self._with_stack(self._unspoilt(observation)))

    def _unspoilt(self, observation: Observation) -> Observation:
        return (
            self._again.on_new_connection(observation.case) if _spoilt(observation) else observation
        )

    def _stackless(self, observation: Observation) -> tuple[str, ...] | None:
        """Return the kind of a case whose error left no stack; None for others."""
        if not any(OUT_OF_MEMORY in entry and "\tat " not in entry for entry in observation.log):
            return None
        return (api_of(observation), *last_change(observation.case))

    def _with_stack(self, observation: Observation) -> Observation:
        """Return the observation with the stack of its kind, as far as known.

        A JVM reports where memory ran out for its first errors only (the preallocated ones). So the first
        such case of a kind runs alone on a fresh JVM, and later ones get the stack of that run.
        """
        kind = self._stackless(observation)
        if kind is None:
            return observation
        if kind not in self._stacks:
            if len(self._stacks) >= FRESH:
                return observation
            self._stacks[kind] = ()
            repeated = self._again.after_restart(observation.case)
            if repeated.log:
                self._stacks[kind] = _stack(repeated)
                return repeated
        frames = self._stacks[kind]
        facts = (*observation.facts, (STACK, list(frames)))
        return replace(observation, facts=facts) if frames else observation

    def _late(self, observation: Observation) -> SentRequest | None:
        """Return the request whose response is to be waited for again, if there is one."""
        if not observation.overdue:
            return None
        late = _unanswered(observation)
        if late is None or may_wait(late) or late.key in self._silent:
            return None
        return late if self._confirmed[late.key, late.version] < CONFIRMED else None

    def _confirmed_late(self, observation: Observation) -> Observation:
        """Return the observation of an overdue case after another, longer wait."""
        late = self._late(observation)
        if late is None:
            return observation
        self._confirmed[late.key, late.version] += 1
        repeated = self._again.with_long_wait(observation.case)
        if repeated.overdue and repeated.took_ms >= LIMIT_MS and _unanswered(repeated) is not None:
            self._silent.add(late.key)
        return repeated


def _unanswered(observation: Observation) -> SentRequest | None:
    """Return the first request without a due response."""
    due = [request for request in parse_requests(observation.sent).requests if request.answered]
    return due[len(observation.replies)] if len(observation.replies) < len(due) else None


def _spoilt(observation: Observation) -> bool:
    """Return whether an earlier case on the connection may have caused this observation.

    That is so if the connection ended without a response, or brought another request's response; the case
    runs again on a new connection.
    """
    due = [request for request in parse_requests(observation.sent).requests if request.answered]
    if not due or not dict(observation.facts).get(REUSED) or observation.death is not None:
        return False
    if observation.replies:
        return observation.replies[0][:4] != due[0].correlation_id.to_bytes(4, signed=True)
    return observation.ending != "open" and not observation.log


def _stack(observation: Observation) -> tuple[str, ...]:
    """Return where memory ran out, if the log has it."""
    exceptions = (exception for entry in observation.log for exception in exceptions_in(entry))
    return next(
        (
            exception.frames
            for exception in exceptions
            if exception.name == OUT_OF_MEMORY and exception.frames
        ),
        (),
    )
