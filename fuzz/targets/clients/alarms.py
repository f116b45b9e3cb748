"""What of an observation is worth running its case again, alone: an end, a hang, memory."""

from __future__ import annotations

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.observations.client_end import client_end
from barnabas.fuzz.observations.client_memory import LIMIT, grown


def alarm(observation: Observation, memory: int = LIMIT) -> tuple[str, ...] | None:
    """What kind of alarm it is, None for none: equal ones need to be confirmed only once."""
    if observation.death is not None:
        end = client_end(observation)
        return None if end is None else ("died", *end.behaviour)
    probe = observation.probe
    if probe is not None and not probe.answered:
        return "hung", *changed(observation.case)
    return ("memory", *changed(observation.case)) if grown(observation) >= memory else None
