"""The oracle `costly`: few bytes make a thread compute for seconds while no other case is in flight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import COMPUTES, Observation
from barnabas.fuzz.observations.case_labels import labels_without_stack
from barnabas.fuzz.oracles.oracle import Verdict

FEW: Final = 1 << 20
"""Bytes; more of them may take that long."""

FOR_SECONDS: Final = "computes for seconds"


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report few bytes on which a thread computes for long."""
    facts: dict[str, Any] = dict(observation.facts)
    sent = sum(map(len, observation.sent))
    if COMPUTES in facts and sent <= FEW:
        seconds, *frames = facts[COMPUTES]
        frames_or_labels = tuple(frames) or labels_without_stack(observation)
        message = f"{sent} bytes had a thread compute for {seconds:.0f} s or more"
        yield Verdict("costly", message, (FOR_SECONDS, *frames_or_labels))
