"""Oracles of decoders: no undocumented exception, no excess of time or memory, a stable round trip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.case_labels import NO_STACK, api_and_field, last_change
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs.registry import NAMES

FRAMES: Final = 2
"""Innermost frames that tell bugs apart."""

GAVE_UP: Final = "GaveUp"
"""The class of a call that was ended: where it was by then is chance."""

MEMORY: Final = 128 << 20
"""Bytes that any input may take: packed data may be 64 MiB."""

PER_BYTE: Final = 256
"""Additional bytes for each byte of the input: a small value is an object."""

TIME_MS: Final = 2000.0
"""Milliseconds of a core that any input may take; machines differ."""

TIME_PER_BYTE_MS: Final = 0.02


def undocumented(observation: Observation) -> Iterator[Verdict]:
    """Report an exception that a decoder does not document: its callers don't expect it."""
    if observation.raised:
        first, *frames = observation.raised.split("\n")
        name = first.partition(":")[0]
        location = tuple(frame.strip() for frame in frames[:FRAMES])
        if name == GAVE_UP:
            location = (
                NO_STACK,
                api_and_field(observation.case)[0],
                *last_change(observation.case),
            )
        yield Verdict("undocumented", f"it raised {first}", (name, *location))


def greedy(observation: Observation) -> Iterator[Verdict]:
    """Report more time or memory than the input can justify."""
    size = sum(map(len, observation.sent))
    seed = observation.case.recipe.seed
    kind = (NAMES.get(seed.key, ""), seed.direction)
    if observation.rss is not None:
        before, highest = observation.rss
        if highest - before > MEMORY + PER_BYTE * size:
            yield Verdict(
                "greedy", f"{(highest - before) >> 20} MiB for {size} bytes", ("memory", *kind)
            )
    if observation.took_ms > TIME_MS + TIME_PER_BYTE_MS * size:
        yield Verdict("greedy", f"{observation.took_ms:.0f} ms for {size} bytes", ("time", *kind))


def round_trip(observation: Observation) -> Iterator[Verdict]:
    """Report a message that, encoded and decoded again, is another one."""
    for name, value in observation.facts:
        if name == "otherwise" and isinstance(value, (list, tuple)) and value:
            seed = observation.case.recipe.seed
            fields = tuple(map(str, value))
            message = (
                f"{NAMES.get(seed.key, seed.key)} {seed.direction}: {', '.join(fields)} differ"
            )
            yield Verdict("round_trip", message, (NAMES.get(seed.key, ""), seed.direction, *fields))
