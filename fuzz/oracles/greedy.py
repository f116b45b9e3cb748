"""A decoder took more time or memory than its input can justify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.specs.registry import NAMES

MEMORY: Final = 128 << 20
"""Bytes that any input may take: what is packed may be 64 MiB."""

PER_BYTE: Final = 256
"""And so many for each of its bytes: a small value is an object of its own."""

TIME_MS: Final = 2000.0
"""ms of a core that any input may take; machines differ."""

TIME_PER_BYTE_MS: Final = 0.02


def _judge(observation: Observation) -> Iterator[Verdict]:
    size = sum(map(len, observation.sent))
    seed = observation.case.recipe.seed
    about = (NAMES.get(seed.key, ""), seed.direction)
    if observation.rss is not None:
        before, highest = observation.rss
        if highest - before > MEMORY + PER_BYTE * size:
            yield Verdict(
                "greedy", f"{(highest - before) >> 20} MiB for {size} bytes", ("memory", *about)
            )
    if observation.took_ms > TIME_MS + TIME_PER_BYTE_MS * size:
        yield Verdict("greedy", f"{observation.took_ms:.0f} ms for {size} bytes", ("time", *about))


GREEDY: Final = Oracle(
    "greedy", "a decoder takes more time or memory than its input justifies",
    frozenset(("decoder",)), _judge, "time and memory in proportion to the input",
)  # fmt: skip
