"""What of an observation is worth running its case again, alone: an end, a hang, memory."""

from __future__ import annotations

from typing import Any

from fuzz.observation import Observation
from fuzz.oracles.client_memory import LIMIT
from fuzz.oracles.crashes import crash
from fuzz.oracles.fields import changed


def alarm(observation: Observation, memory: int = LIMIT) -> tuple[str, ...] | None:
    """What kind of alarm it is, None for none: equal ones need to be confirmed only once."""
    facts: dict[str, Any] = dict(observation.facts)
    death, probe = observation.death, observation.probe
    if death is not None:
        said = crash(death.last_words)
        if said is not None:
            return "died", said.reason, *said.frames
        return (
            None if facts.get("each") and death.exit_code >= 0 else ("died", str(death.exit_code))
        )
    if probe is not None and not probe.answered:
        return "hung", *changed(observation.case)
    before, highest = observation.rss or (0, 0)
    return ("memory", *changed(observation.case)) if highest - before >= memory else None
