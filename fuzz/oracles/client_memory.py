"""A client took far more memory than it was sent bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.fields import changed
from barnabas.fuzz.oracles.oracle import Oracle, Verdict

LIMIT: Final = 512 << 20
"""Bytes of resident memory that a case may cost: no answer here has a hundredth of that to say."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    if observation.rss is None:
        return
    before, highest = observation.rss
    if highest - before < LIMIT:
        return
    sent = sum(map(len, observation.case.chunks))
    what = f"{(highest - before) >> 20} MiB more memory for {sent} bytes"
    yield Verdict("client-memory", what, changed(observation.case))


CLIENT_MEMORY: Final = Oracle(
    "client-memory",
    "the client took 512 MiB or more of memory for a case",
    frozenset(("client",)),
    _judge,
)
