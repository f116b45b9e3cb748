"""Few bytes made a process take much memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz.observation import Observation
from fuzz.oracles.oracle import Oracle, Verdict
from fuzz.oracles.wording import case_of

GROWTH: Final = 64 << 20
"""Bytes that a process may take for a case: a broker's buffers, and a heap that grows in steps."""

FACTOR: Final = 100
"""Times what was sent."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    if observation.rss is None or dict(observation.facts).get("together"):
        return
    before, highest = observation.rss
    sent = sum(map(len, observation.sent))
    grown = highest - before
    if grown > GROWTH and grown > FACTOR * sent:
        yield Verdict(
            "amplified",
            f"{sent} bytes made it take {grown >> 20} MiB",
            (case_of(observation),),
        )


AMPLIFIED: Final = Oracle(
    "amplified", "memory taken against bytes sent", frozenset(("broker",)), _judge
)
