"""Few bytes made a process take much memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz.observation import Observation
from fuzz.oracles.oracle import Oracle, Verdict
from fuzz.oracles.wording import case_of

GROWTH: Final = 64 << 20
"""Bytes that a process may take for a case: a broker's buffers, and a heap that grows in steps."""

HEAP_GROWTH: Final = 96 << 20
"""Bytes of a JVM's heap: more than garbage that the next collection takes away (brokers have 256 MiB)."""

FACTOR: Final = 100
"""Times what was sent."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    if observation.shared:
        return
    sent = sum(map(len, observation.sent))
    for what, memory, limit in (
        ("MiB", observation.rss, GROWTH),
        ("MiB of heap", observation.heap, HEAP_GROWTH),
    ):
        grown = memory[1] - memory[0] if memory is not None else 0
        if grown > limit and grown > FACTOR * sent:
            said = f"{sent} bytes made it take {grown >> 20} {what}"
            yield Verdict("amplified", said, (case_of(observation),))
            return


AMPLIFIED: Final = Oracle(
    "amplified",
    "memory taken (RSS, a JVM's heap) against bytes sent",
    frozenset(("broker",)),
    _judge,
)
