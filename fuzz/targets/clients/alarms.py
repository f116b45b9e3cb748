"""What of an observation is worth running its case again, alone: an end, a hang, memory."""

from __future__ import annotations

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.client_died import ended
from barnabas.fuzz.oracles.client_memory import LIMIT
from barnabas.fuzz.oracles.fields import changed


def alarm(observation: Observation, memory: int = LIMIT) -> tuple[str, ...] | None:
    """What kind of alarm it is, None for none: equal ones need to be confirmed only once."""
    if observation.death is not None:
        verdict = ended(observation)
        return None if verdict is None else ("died", *verdict.behaviour)
    probe = observation.probe
    if probe is not None and not probe.answered:
        return "hung", *changed(observation.case)
    before, highest = observation.rss or (0, 0)
    return ("memory", *changed(observation.case)) if highest - before >= memory else None
