"""Two versions, implementations or clients disagree on one case."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import DIFFERS, Observation
from barnabas.fuzz.oracles.oracle import Verdict


def differs(oracle: str, observation: Observation) -> Iterator[Verdict]:
    """Report the difference that a pair of targets found, as the oracle of this name."""
    found = dict(observation.facts).get(DIFFERS)
    if isinstance(found, list) and found:
        what, *behaviour = map(str, found)
        yield Verdict(oracle, what, tuple(behaviour))
