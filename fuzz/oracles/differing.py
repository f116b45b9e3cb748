"""Two versions or implementations disagree on one case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz.observation import Observation
from fuzz.oracles.oracle import Oracle, Verdict
from fuzz.oracles.wording import api_of


def _judge(observation: Observation) -> Iterator[Verdict]:
    found = dict(observation.facts).get("differs")
    if not isinstance(found, list) or len(found) != 2:
        return
    one, other = map(str, found)
    yield Verdict("differing", f"one: {one}; the other: {other}", (api_of(observation), one, other))


DIFFERING: Final = Oracle(
    "differing", "two versions or implementations disagree", frozenset(("broker",)), _judge
)
