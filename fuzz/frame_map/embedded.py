"""Maps of messages inside fields of bytes: what members of groups exchange, and the user data of assignors.

The coordinator does not read most of these bytes, and the members' clients do. A map is of the field's bytes
as they are, so that a change of it is put back as that of a container without checksums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.frame_map.fields import FieldMap, Packing, field_of, parts_after
from barnabas.fuzz.frame_map.parts import Part
from barnabas.specs.embedded.bytes_fields import BYTES_FIELDS
from barnabas.specs.embedded.registry import message
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

_USER_DATA: Final = (
    ("CooperativeStickyAssignorUserData", 0),
    ("StickyAssignorUserData", 1),
    ("StickyAssignorUserData", 0),
)

_CANDIDATES: Final[dict[str, tuple[tuple[str, int | None], ...]]] = {
    "subscription": (("ConsumerProtocolSubscription", None), ("ConnectProtocolSubscription", None)),
    "assignment": (("ConsumerProtocolAssignment", None), ("ConnectProtocolAssignment", None)),
    "subscription's user data": _USER_DATA,
    "assignment's user data": _USER_DATA,
    "connect assignment": (("ConnectProtocolAssignment", None),),
}
"""Contents of a field -> the messages that it may have, with their versions; None: the version comes first.

The group's protocol says which it is, but a field may be mapped without: the first that fills the bytes.
"""

_FIELDS: Final = {
    (field.message, field.path): _CANDIDATES[field.kind]
    for field in BYTES_FIELDS
    if field.kind in _CANDIDATES
}
_VERSION: Final = 2
"""Bytes of a version."""


def embedded(chart: FieldMap) -> Iterator[FieldMap]:
    """Yield the maps of messages in a message's fields of bytes, and of messages in these."""
    seed = chart.seed
    name, prefix = f"{NAMES.get(seed.key, '')}{seed.direction.capitalize()}", ""
    if chart.packing is not None:
        prefix = f"{chart.parts[0].path}."
        name = chart.parts[0].path.rpartition(".")[2]
    for part in chart.parts:
        if part.kind == "bytes" and part.end > part.start:
            path = field_of(part.path.removeprefix(prefix)).replace("[]", "")
            inner = _opened(chart, part, _FIELDS.get((name, path), ()))
            if inner is not None:
                yield inner
                yield from embedded(inner)


def _opened(
    outer: FieldMap, field: Part, candidates: tuple[tuple[str, int | None], ...]
) -> FieldMap | None:
    """Return the map of the first message that fills a field; None if no message does."""
    data = outer.seed.frame[field.start : field.end]
    for name, version in candidates:
        try:
            parts = _parts(data, name, version, f"{field.path}.{name}")
        except Malformed:
            continue
        index = {part.path: at for at, part in enumerate(parts)}
        seed = replace(outer.seed, frame=data)
        return FieldMap(seed, tuple(parts), index, packing=Packing(outer, field, "none", 0))
    return None


def _parts(data: bytes, name: str, version: int | None, path: str) -> list[Part]:
    """Return the parts of a message; the first one is all of it. Raises Malformed."""
    parts, start = [Part(path, "container", 0, len(data))], 0
    if version is None:
        version, start = int.from_bytes(data[:_VERSION], signed=True), _VERSION
        parts.append(Part(f"{path}.version", "int16", 0, start, coding="int16", value=version))
    declared = message(name)
    oldest, newest = declared.versions
    if not oldest <= version <= newest:
        raise Malformed(path, 0, f"version {version}")
    return parts_after(parts, data, start, declared.codec(version).layout, path)
