"""Accepted without an error, and served differently, or served although the specification forbids it.

What was served is asked by the target (fuzz/targets/read_back.py) and stands in the facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    served = dict(observation.facts).get("served")
    if not isinstance(served, list):
        return
    for difference in served:
        yield Verdict(
            "silent",
            f"a batch was accepted, and then: {difference}",
            ("Produce", str(difference), *changed(observation.case)),
        )


SILENT: Final = Oracle(
    "silent",
    "accepts what the specification forbids, or serves it back differently",
    frozenset(("broker",)),
    _judge,
    "what was sent is served again, or refused",
)
