"""Two versions or implementations disagree on one case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    found = dict(observation.facts).get("differs")
    if not isinstance(found, list) or len(found) != 3:
        return
    about, one, other = map(str, found)
    yield Verdict("differing", f"{about}: {one}; the other: {other}", (about, one, other))


DIFFERING: Final = Oracle(
    "differing",
    "two versions or implementations disagree",
    frozenset(("broker", "decoder")),
    _judge,
    "the same as the other does",
)
