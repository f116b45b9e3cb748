"""Accepted without an error, and served differently, or served although the specification forbids it.

What was served is asked by the target (fuzz/targets/read_back.py) and stands in the facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.oracles.oracle import Verdict


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report batches that were accepted and are served differently."""
    served = dict(observation.facts).get("served")
    if not isinstance(served, list):
        return
    for difference in served:
        yield Verdict(
            "silent",
            f"a batch was accepted, and then: {difference}",
            ("Produce", str(difference), *changed(observation.case)),
        )
