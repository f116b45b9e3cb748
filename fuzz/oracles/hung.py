"""A well-formed request of somebody else went unanswered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import case_of
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    probe = observation.probe
    # nobody is answered by who is dead: that is for `died`
    if probe is None or probe.answered or observation.death is not None:
        return
    yield Verdict("hung", f"a probe was not answered: {probe.problem}", (case_of(observation),))


HUNG: Final = Oracle(
    "hung",
    "no response to a well-formed probe within a limit",
    frozenset(("broker",)),
    _judge,
    "others are still answered",
)
