"""The oracle `silent`: a batch was accepted without an error, and is served differently or against the rules.

The target fetches what is served (fuzz/targets/read_back.py) and adds it to the facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.case_labels import last_change
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
            ("Produce", str(difference), *last_change(observation.case)),
        )
