"""What a decoder must not do: raise what is undocumented, take much, read its own encoding differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.about import NO_STACK
from barnabas.fuzz.observations.changed_fields import about, changed
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs.registry import NAMES

FRAMES: Final = 2
"""Innermost frames that tell one bug from another."""

GAVE_UP: Final = "GaveUp"
"""What says that a call was given up: where it was by then is chance."""

MEMORY: Final = 128 << 20
"""Bytes that any input may take: what is packed may be 64 MiB."""

PER_BYTE: Final = 256
"""And so many for each of its bytes: a small value is an object of its own."""

TIME_MS: Final = 2000.0
"""ms of a core that any input may take; machines differ."""

TIME_PER_BYTE_MS: Final = 0.02


def undocumented(observation: Observation) -> Iterator[Verdict]:
    """Report an exception that a decoder does not document: its callers don't expect it."""
    if observation.raised:
        first, *frames = observation.raised.split("\n")
        name = first.partition(":")[0]
        where = tuple(frame.strip() for frame in frames[:FRAMES])
        if name == GAVE_UP:
            where = (NO_STACK, about(observation.case)[0], *changed(observation.case))
        yield Verdict("undocumented", f"it raised {first}", (name, *where))


def greedy(observation: Observation) -> Iterator[Verdict]:
    """Report more time or memory than the input can justify."""
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


def round_trip(observation: Observation) -> Iterator[Verdict]:
    """Report a message that, encoded and decoded again, is another one."""
    for name, value in observation.facts:
        if name == "otherwise" and isinstance(value, (list, tuple)) and value:
            seed = observation.case.recipe.seed
            fields = tuple(map(str, value))
            what = f"{NAMES.get(seed.key, seed.key)} {seed.direction}: {', '.join(fields)} differ"
            yield Verdict("round_trip", what, (NAMES.get(seed.key, ""), seed.direction, *fields))
