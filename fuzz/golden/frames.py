"""Golden frames of a message: valid ones of each case, and malformed ones made of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.golden.bodies import CASES, BodyCase, body
from barnabas.fuzz.mutators.registry import MUTATORS_BY_NAME
from barnabas.specs.frames import Direction
from barnabas.specs.headers import header_codec
from barnabas.specs.kafka_json import kafka_json
from barnabas.specs.registry import api

FEWEST: Final = 5
"""Malformed frames of a message at least."""

MUTATORS: Final = (
    *("truncation", "trailing", "counts", "lengths", "nulls", "varints", "invalid_utf8"),
    *("tag_duplicate", "tag_order", "tag_size", "fields_dropped", "fields_doubled"),
)
"""The mutators of malformed frames, each used once where it applies."""
_MORE: Final = ("truncation", "bit_flips")
"""The mutators for further ones, if too few apply."""

_SIZE_IS_LEFT: Final = "; frame size unchanged"
"""The end of a change's description; frames have no size here."""
CLIENT_ID: Final = "client-ä"


class GoldenFrame(NamedTuple):
    """A frame without its size, and how it was made.

    Attributes:
        key: The API key.
        version: The version of the API.
        direction: Request or response.
        case: The case of a valid frame, the mutator of a malformed one.
        frame: Header and body.
        header_size: Bytes of the header.
        values: The body in Kafka's JSON form; None for a malformed frame.
        change: The field and the change of a malformed frame, else "".
    """

    key: int
    version: int
    direction: Direction
    case: str
    frame: bytes
    header_size: int
    values: dict[str, Any] | None
    change: str = ""

    @property
    def name(self) -> str:
        """Return a name that is unique among all frames."""
        kind = "malformed-" if self.values is None else ""
        return f"{api(self.key).name}-v{self.version}-{self.direction}-{kind}{self.case}"


def valid_frames(
    key: int, version: int, direction: Direction, seed: str, record_sets: Sequence[bytes]
) -> Iterator[GoldenFrame]:
    """Yield a frame of each case; versions that are not flexible have no unknown tags."""
    codec = api(key).message(direction).codec(version)
    for number, case in enumerate(CASES):
        if case.unknown and not codec.layout.flexible:
            continue
        dice = SeededRandom(f"{seed} {direction} {key} {version}", number)
        header = _header(key, version, direction, case, number)
        values = body(codec.layout, case, dice, record_sets)
        frame, form = header + codec.encode(values), kafka_json(values, codec.layout)
        yield GoldenFrame(key, version, direction, case.name, frame, len(header), form)


def _header(key: int, version: int, direction: Direction, case: BodyCase, number: int) -> bytes:
    codec = header_codec(direction, key, version)
    client_id = {"nulls-all": None, "nulls-leaf": None, "empties": ""}.get(case.name, CLIENT_ID)
    values: dict[str, Any] = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": number,
        "client_id": client_id,
    }
    if case.unknown:
        values["_tags"] = {100: b"header"}
    layout = codec.layout
    names = {slot.name for slot in layout.slots} | ({"_tags"} if layout.flexible else set())
    return codec.encode({name: value for name, value in values.items() if name in names})


def malformed_frames(frame: GoldenFrame, seed: str) -> Iterator[GoldenFrame]:
    """Yield FEWEST or more different frames, each a valid frame with one change in its body.

    If the body is empty, the change is in the header. A few are valid frames of other values.
    """
    fields = map_of(Seed(frame.key, frame.version, frame.direction, frame.frame, "golden"))
    parts = (frame.key, frame.version, frame.direction)
    more = (f"{name}-{number}" for number in itertools.count() for name in _MORE)
    yielded = {frame.frame}
    for number, name in enumerate(itertools.chain(MUTATORS, more)):
        if number >= len(MUTATORS) and len(yielded) > FEWEST:
            break
        dice = SeededRandom(f"{seed} malformed {parts}", number)
        changed = _changed(fields, name.partition("-")[0], frame.header_size, dice)
        if changed is not None and changed[0] not in yielded:
            yielded.add(changed[0])
            yield frame._replace(case=name, frame=changed[0], values=None, change=changed[1])


def _changed(
    fields: FieldMap, mutator: str, header_size: int, dice: SeededRandom
) -> tuple[bytes, str] | None:
    """Return a changed frame and the change; None if the mutator does not apply."""
    _, _, places, apply, *_ = MUTATORS_BY_NAME[mutator]
    in_body = header_size < len(fields.seed.frame)
    parts = [part for part in places(fields) if part.end > header_size or not in_body]
    if not parts:
        return None
    part = dice.pick(parts)
    mutated = apply(fields, part, dice)
    detail = mutated.detail.removesuffix(_SIZE_IS_LEFT)
    return b"".join(mutated.chunks)[4:], f"{part.path or 'frame'}: {detail}"
