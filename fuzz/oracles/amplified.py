"""Few bytes made a process take much memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import case_of
from barnabas.fuzz.oracles.oracle import Verdict

GROWTH: Final = 64 << 20
"""Bytes that a process may take for a case beside a JVM's heap: a broker's buffers."""

HEAP_GROWTH: Final = 96 << 20
"""Bytes of a JVM's heap: more than garbage that the next collection takes away (brokers have 256 MiB)."""

FACTOR: Final = 100
"""Times what was sent."""

LARGEST: Final = 100 << 20
"""Bytes that a frame may say it has: socket.request.max.bytes of a broker that is told nothing else. Their
buffer is taken when the size has come."""


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report memory out of proportion to what was sent."""
    if observation.shared:  # what several took together, each may have taken its due of
        return
    sent = sum(map(len, observation.sent))
    heap = _grown(observation.heap)
    for what, grown, limit in (
        ("MiB", _grown(observation.rss) - heap, GROWTH),  # a JVM takes its heap in steps
        ("MiB of heap", heap, HEAP_GROWTH),
    ):
        if grown - _announced(observation) > limit and grown > FACTOR * sent:
            said = f"{sent} bytes made it allocate {grown >> 20} {what}"
            yield Verdict("amplified", said, (case_of(observation),))
            return


def _announced(observation: Observation) -> int:
    """Bytes of a frame of which not all came, 0 if it may not have as many."""
    data = b"".join(observation.sent)
    at = size = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], signed=True)
        if not 0 <= size <= LARGEST:
            return 0
        at += 4 + size
    return size if at > len(data) else 0


def _grown(memory: tuple[int, int] | None) -> int:
    return max(memory[1] - memory[0], 0) if memory is not None else 0
