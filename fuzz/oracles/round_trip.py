"""What a decoder makes of bytes, written and decoded again, is something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.specs.registry import NAMES


def _judge(observation: Observation) -> Iterator[Verdict]:
    for name, value in observation.facts:
        if name == "otherwise" and isinstance(value, (list, tuple)) and value:
            seed = observation.case.recipe.seed
            fields = tuple(map(str, value))
            what = f"{NAMES.get(seed.key, seed.key)} {seed.direction}: {', '.join(fields)} differ"
            yield Verdict("round_trip", what, (NAMES.get(seed.key, ""), seed.direction, *fields))


ROUND_TRIP: Final = Oracle(
    "round_trip", "decoding, encoding and decoding again gives another message",
    frozenset(("decoder",)), _judge, "the same message again",
)  # fmt: skip
