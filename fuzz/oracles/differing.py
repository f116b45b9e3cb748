"""Two versions or implementations disagree on one case."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from barnabas.fuzz.cases.observation import DIFFERS, Observation
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def differs(oracle: str, observation: Observation) -> Iterator[Verdict]:
    """What a pair of targets said, as this oracle's."""
    found = dict(observation.facts).get(DIFFERS)
    if isinstance(found, list) and found:
        what, *behaviour = map(str, found)
        yield Verdict(oracle, what, tuple(behaviour))


DIFFERING: Final = Oracle(
    "differing",
    "two versions or implementations disagree",
    frozenset(("broker", "decoder")),
    partial(differs, "differing"),
    "the same as the other does",
)
