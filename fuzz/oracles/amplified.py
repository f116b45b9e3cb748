"""The oracle `amplified`: few bytes made a process allocate much memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.case_labels import case_of
from barnabas.fuzz.oracles.oracle import Verdict

GROWTH: Final = 64 << 20
"""Bytes that a process may grow by for a case, without a JVM's heap: a broker's buffers."""

HEAP_GROWTH: Final = 96 << 20
"""Bytes that a JVM's heap may grow by: more than the garbage of the next collection (brokers have 256
MiB)."""

FACTOR: Final = 100
"""Factor of the bytes that were sent."""

LARGEST: Final = 100 << 20
"""Bytes of the largest frame by default (a broker's socket.request.max.bytes). The buffer is allocated when
the size has come."""


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report memory out of proportion to what was sent."""
    if observation.shared:  # several cases may each have taken a justified part
        return
    sent = sum(map(len, observation.sent))
    heap = _grown(observation.heap)
    for unit, grown, limit in (
        ("MiB", _grown(observation.rss) - heap, GROWTH),  # a JVM grows its heap in steps
        ("MiB of heap", heap, HEAP_GROWTH),
    ):
        if grown - _announced(observation) > limit and grown > FACTOR * sent:
            message = f"{sent} bytes made it allocate {grown >> 20} {unit}"
            yield Verdict("amplified", message, (case_of(observation),))
            return


def _announced(observation: Observation) -> int:
    """Return the size of an incomplete frame; 0 if it is larger than allowed."""
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
