"""A well-formed request of somebody else went unanswered."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import case_of
from barnabas.fuzz.oracles.oracle import Verdict


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a probe that was not answered."""
    probe = observation.probe
    # nobody is answered by who is dead: that is for `died`
    if probe is None or probe.answered or observation.death is not None:
        return
    yield Verdict("hung", f"a probe was not answered: {probe.problem}", (case_of(observation),))
