"""What of an observation is worth running its case again, alone: an end, a hang, memory."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.observations.changed_fields import api_and_change, changed
from barnabas.fuzz.observations.client_end import client_end
from barnabas.fuzz.observations.client_memory import LIMIT, grown
from barnabas.fuzz.observations.told_to_wait import told_to_wait

Kind = tuple[str, ...]
"""Alarms of one kind are one finding; a hang that computes is another one than a hang that waits."""

BESIDE: Final = "beside"
"""The fact that a session had so many others beside it in its process at a time: any of them may be to blame
for what became of the process."""

UNSURE: Final = "unsure"
"""The fact that what was raised in the background may be another session's."""

_OUT_OF_MEMORY: Final = ("java.lang.OutOfMemoryError", "MemoryError")

HANGS: Final = ("hung", SPINS)
"""What kinds of hangs begin with."""


def alarm(observation: Observation, memory: int = LIMIT) -> Kind | None:
    """What kind of alarm it is, None for none: equal ones need to be confirmed only once. Who waits as it was
    told to raises none."""
    if observation.death is not None:
        end = client_end(observation)
        return None if end is None else ("died", *end.behaviour)
    probe = observation.probe
    if probe is not None and not probe.answered:
        if told_to_wait(observation.case):
            return None
        spins = dict(observation.facts).get(SPINS)
        return (spinning if spins else waiting)(observation.case)
    if grown(observation) >= memory:
        return "memory", *changed(observation.case)
    return (UNSURE, *api_and_change(observation.case)) if _unsure(observation) else None


def is_own(kind: Kind, observation: Observation) -> bool:
    """Whether an alarm is the case's, if it is one: no session beside it in its process can be meant."""
    return kind[0] in HANGS or not dict(observation.facts).get(BESIDE)


def _unsure(observation: Observation) -> bool:
    """Whether another session beside it may be the reason of what it raised."""
    facts = dict(observation.facts)
    named = observation.raised.partition(":")[0]
    return bool(facts.get(UNSURE) or (facts.get(BESIDE) and named in _OUT_OF_MEMORY))


def waiting(case: Case) -> Kind:
    """The kind of alarm if the client waits without end."""
    return "hung", *api_and_change(case)


def spinning(case: Case) -> Kind:
    """The kind of alarm if the client computes without end."""
    return SPINS, *api_and_change(case)
