"""Alarms: observations for which a case runs again, alone: the process's end, a hang, memory, wrong data."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.observations.case_labels import api_and_change, api_and_field, last_change
from barnabas.fuzz.observations.client_outcome import (
    LIMIT,
    WRONG_DATA,
    client_end,
    is_throttled,
    memory_growth,
)

AlarmKind = tuple[str, ...]
"""Alarms of one kind are one finding; a hang that computes differs from a hang that waits."""

BESIDE: Final = "beside"
"""The fact that a session had this many others in its process at a time: any of them may be to blame for what
became of the process."""

UNSURE: Final = "unsure"
"""The fact that an exception in the background may be another session's."""

_OUT_OF_MEMORY: Final = ("OutOfMemoryError", "MemoryError")
"""Errors, also within another exception's message."""

OF_SESSION: Final = ("hung", SPINS, WRONG_DATA)
"""The first items of the kinds of alarms that neither an earlier nor a concurrent session can cause."""


def alarm(observation: Observation, memory: int = LIMIT) -> AlarmKind | None:
    """Return the kind of alarm that an observation raises; None for none.

    Equal kinds need to be confirmed only once. A client that waits because of a throttle raises none.
    """
    if observation.death is not None:
        end = client_end(observation)
        return None if end is None else ("died", *end.behaviour)
    probe = observation.probe
    if probe is not None and not probe.answered:
        if is_throttled(observation.case):
            return None
        spins = dict(observation.facts).get(SPINS)
        return (spinning if spins else waiting)(observation.case)
    if memory_growth(observation) >= memory:
        return "memory", *last_change(observation.case)
    wrong = dict(observation.facts).get(WRONG_DATA)
    if isinstance(wrong, list):
        return WRONG_DATA, *wrong[:2]
    return (UNSURE, *api_and_change(observation.case)) if _unsure(observation) else None


def is_own(kind: AlarmKind, observation: Observation) -> bool:
    """Return whether an alarm, if it is confirmed, can't be caused by another session of the process."""
    return kind[0] in OF_SESSION or not dict(observation.facts).get(BESIDE)


def _unsure(observation: Observation) -> bool:
    """Return whether another session of the process may have caused the exception."""
    facts = dict(observation.facts)
    message = observation.raised.partition("\n")[0]
    without_memory = any(error in message for error in _OUT_OF_MEMORY)
    return bool(facts.get(UNSURE) or (facts.get(BESIDE) and without_memory))


def waiting(case: Case) -> AlarmKind:
    """Return the kind of alarm of a client that waits without end."""
    return "hung", *api_and_field(case)


def spinning(case: Case) -> AlarmKind:
    """Return the kind of alarm of a client that computes without end."""
    return SPINS, *api_and_field(case)
