"""Control records, told apart by their keys (KIP-98, 595, 630, 853; Kafka's ControlRecordType)."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.records.fit import fit_int
from barnabas.specs.records.record import Record

CONTROL_TYPES: Final = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)
"""Kafka's names by type; other numbers are UNKNOWN."""


def control_type(record: Record) -> str:
    """The type of a record of a control batch: a name of `CONTROL_TYPES`, or UNKNOWN.

    Raises Malformed if the key is not a version of 0 or more and a type, two int16.

    >>> control_type(Record(0, -1, b"\\0\\0\\0\\1", None))
    'COMMIT'
    """
    _, number = _fields("key", ">hh", record.key)
    return CONTROL_TYPES[number] if 0 <= number < len(CONTROL_TYPES) else "UNKNOWN"


def coordinator_epoch(record: Record) -> int:
    """The epoch of the transaction coordinator that wrote a COMMIT or ABORT.

    Raises Malformed if the value is not a version of 0 or more, int16, and an epoch, int32.

    >>> coordinator_epoch(Record(0, -1, b"\\0\\0\\0\\1", b"\\0\\0\\0\\0\\0\\5"))
    5
    """
    _, epoch = _fields("value", ">hi", record.value)
    return epoch


def control_key(control: str, version: int = 0) -> bytes:
    """The key of a control record. Raises LookupError for a name that is none of `CONTROL_TYPES`.

    Raises Unfit for a version that is no int16.

    >>> control_key("COMMIT").hex()
    '00000001'
    """
    if control not in CONTROL_TYPES:
        raise LookupError(f"no control type {control!r}; there are {', '.join(CONTROL_TYPES)}")
    return struct.pack(">hh", fit_int("version", version, 16), CONTROL_TYPES.index(control))


def marker_value(epoch: int, version: int = 0) -> bytes:
    """The value of a COMMIT or ABORT: the epoch of the transaction coordinator that writes it.

    Raises Unfit if the epoch is no int32 or the version no int16.

    >>> marker_value(5).hex()
    '000000000005'
    """
    return struct.pack(">hi", fit_int("version", version, 16), fit_int("epoch", epoch, 32))


def _fields(path: str, layout: str, data: bytes | None) -> tuple[int, int]:
    if data is None or len(data) < struct.calcsize(layout):
        held = "null" if data is None else f"{len(data)} bytes"
        raise Malformed(path, 0, f"{struct.calcsize(layout)} bytes of a control record, not {held}")
    version, number = struct.unpack_from(layout, data)
    if version < 0:
        raise Malformed(path, 0, f"a version of 0 or more, not {version}")
    return version, number
