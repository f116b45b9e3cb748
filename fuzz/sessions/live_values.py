"""Live values: what only a session knows is put into a case's bytes, and checksums are corrected."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

import crc32c

from barnabas.fuzz.cases.case import Case

LIVE: Final = frozenset(
    (
        "base_sequence",
        "fetch_offset",
        "first_offset",
        "generation_id",
        "generation_id_or_member_epoch",
        "group_id",
        "last_offset",
        "member_epoch",
        "member_id",
        "producer_epoch",
        "producer_id",
        "resource_name",
        "session_epoch",
        "session_id",
        "share_session_epoch",
        "topic_id",
        "transactional_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_producer_id",
        "v3_and_below_transactional_id",
    )
)
"""Names of fields, in any structure, whose live values sessions know."""

TOKENS: Final = (
    ("scram_nonce", b"stand-in-of-a-nonce-of-36-letters...,x=a"),
    ("scram_proof", base64.b64encode(b"stand-in of a proof: SCRAM's 256")),
    ("scram_proof", base64.b64encode(b"stand-in of a proof: SCRAM's 512" * 2)),
)
"""Live values inside of a field, at any offset where these stand-ins are: no other bytes look like them. An
extension follows a nonce, so that all nonces have equal length."""

_ELEMENTS: Final = {
    "group_ids": "group_id",
    "groups": "group_id",
    "groups_names": "group_id",
    "transactional_ids": "transactional_id",
}
"""Arrays of strings, each of which is such a value."""


def live_name(path: str) -> str:
    """Return the name of the live value in a field; "" for none.

    >>> live_name("topics[0].topic_id"), live_name("group_ids[1]"), live_name("topics[0]")
    ('topic_id', 'group_id', '')
    """
    name = path.rpartition(".")[2]
    if name in LIVE:
        return name
    return _ELEMENTS.get(name.partition("[")[0], "") if name.endswith("]") else ""


Values = Mapping[str, int | str | bytes]
"""Live values by name."""

_BATCH_CRC: Final = 17
_BATCH_LENGTH: Final = 8
_BATCH_CHECKED: Final = 21
_BATCH_FRONT: Final = 12


def filled(case: Case, values: Values, correlation_id: int) -> tuple[bytes, ...]:
    """Return the chunks of a case with live values in their fields.

    An unknown value, or one that does not fit the field, leaves the bytes unchanged.
    """
    if not case.live:
        return case.chunks
    chunks: list[bytes | bytearray] = list(case.chunks)
    for field in case.live:
        chunk = chunks[field.chunk]
        if not isinstance(chunk, bytearray):
            chunk = chunks[field.chunk] = bytearray(chunk)
        if field.name == "crc":
            _mend(chunk, field.offset)
            continue
        value = correlation_id if field.name == "correlation_id" else values.get(field.name)
        data = _bytes(value, field.size)
        if data is not None and field.offset + field.size <= len(chunk):
            chunk[field.offset : field.offset + field.size] = data
    return tuple(bytes(chunk) for chunk in chunks)


def _bytes(value: int | str | bytes | None, size: int) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, int):
        half = 1 << (8 * size - 1)
        return value.to_bytes(size, "big", signed=True) if -half <= value < half else None
    data = value.encode() if isinstance(value, str) else value
    return data if len(data) == size else None


def _mend(chunk: bytearray, offset: int) -> None:
    """Correct the checksum of the batch of magic 2 whose crc is here; an incomplete batch keeps its own."""
    start = offset - _BATCH_CRC
    if start < 0 or start + _BATCH_CHECKED > len(chunk):
        return
    length = int.from_bytes(chunk[start + _BATCH_LENGTH : start + _BATCH_FRONT], signed=True)
    end = start + _BATCH_FRONT + length
    if start + _BATCH_CHECKED <= end <= len(chunk):
        crc = crc32c.crc32c(bytes(chunk[start + _BATCH_CHECKED : end]))
        chunk[offset : offset + 4] = crc.to_bytes(4, "big")
