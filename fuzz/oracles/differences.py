"""The oracles `differing` and `clients-differ`: two versions, implementations or clients disagree."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.fuzz.cases.observation import DIFFERS, Observation
from barnabas.fuzz.oracles.oracle import Verdict


def differs(oracle: str, observation: Observation) -> Iterator[Verdict]:
    """Report the difference that a pair of targets found, as the oracle of this name."""
    difference = dict(observation.facts).get(DIFFERS)
    if isinstance(difference, list) and difference:
        message, *behaviour = map(str, difference)
        yield Verdict(oracle, message, tuple(behaviour))
