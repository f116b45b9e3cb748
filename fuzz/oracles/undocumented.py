"""A decoder raised what it does not document: its callers don't expect that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import NO_STACK
from barnabas.fuzz.observations.changed_fields import about, changed
from barnabas.fuzz.oracles.oracle import Oracle, Verdict

FRAMES: Final = 2
"""Innermost frames that tell one bug from another."""

GAVE_UP: Final = "GaveUp"
"""What says that a call was given up: where it was by then is chance."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    if observation.raised:
        first, *frames = observation.raised.split("\n")
        name = first.partition(":")[0]
        where = tuple(frame.strip() for frame in frames[:FRAMES])
        if name == GAVE_UP:
            where = (NO_STACK, about(observation.case)[0], *changed(observation.case))
        yield Verdict("undocumented", f"it raised {first}", (name, *where))


UNDOCUMENTED: Final = Oracle(
    "undocumented", "a decoder raised an exception that it does not document",
    frozenset(("decoder",)), _judge, "the message, or an exception that is documented",
)  # fmt: skip
