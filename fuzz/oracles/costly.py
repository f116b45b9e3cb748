"""Few bytes have a thread compute for seconds, while nobody else is under way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import COMPUTES, Observation
from barnabas.fuzz.observations.about import placeless
from barnabas.fuzz.oracles.oracle import Verdict

FEW: Final = 1 << 20
"""Bytes; more may take that long."""

FOR_SECONDS: Final = "computes for seconds"


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report few bytes on which a thread computes for long."""
    facts: dict[str, Any] = dict(observation.facts)
    sent = sum(map(len, observation.sent))
    if COMPUTES in facts and sent <= FEW:
        seconds, *frames = facts[COMPUTES]
        where = tuple(frames) or placeless(observation)
        said = f"{sent} bytes had a thread compute for {seconds:.0f} s or more"
        yield Verdict("costly", said, (FOR_SECONDS, *where))
