"""Where an answer has UNKNOWN_SERVER_ERROR: what a script can look at that reads no schema."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.frame_map.fields import Part, field_of, map_of
from barnabas.fuzz.observations.exchanges import exchanged
from barnabas.fuzz.report.script import Criterion
from barnabas.specs.codec.careful_decoder import FIXED


def server_error(observation: Observation, path: str) -> Criterion | None:
    """By the place in the answer that a case of this version had; None if there is no such answer. path: of
    the error code, without indices. Behind fields of any length the place is only that of an answer of the
    same size."""
    _, found = exchanged(observation)
    for number, one in enumerate(found):
        if one.reply is None or not one.known or one.cut:
            continue
        seed = Seed(one.asked.key, one.asked.version, "response", one.reply, "")
        parts = map_of(seed).parts
        for index, part in enumerate(parts):
            if part.value == -1 and field_of(part.path).replace("[]", "") == path:
                size = None if _fixed(parts[:index]) else len(one.reply)
                which = f"answer {number + 1}" if len(found) > 1 else "the answer"
                return Criterion(
                    f"{which} has error code -1, UNKNOWN_SERVER_ERROR, at byte {part.start}",
                    f"minus_one(received, {number}, {part.start}, {size})",
                )
    return None


def _fixed(before: Sequence[Part]) -> bool:
    """Whether what stands in front of a field has always the same size; the tags of a header are none."""
    return all(
        part.kind in FIXED or part.path in ("", "header") or part.path.startswith("header._tags")
        for part in before
    )
