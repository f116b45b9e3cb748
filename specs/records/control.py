"""The types of control records, given by their keys (KIP-98, 595, 630, 853; Kafka's ControlRecordType)."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.records.record import Record
from barnabas.specs.records.validation import fit_int

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

_KEY: Final = struct.Struct(">hh")
"""A version and a type's number; `barnabas.specs.embedded` reads the values."""


def control_type(record: Record) -> str:
    r"""Return the type of a record of a control batch: a name of `CONTROL_TYPES`, or UNKNOWN.

    Raises:
        Malformed: The key is not two int16: a version of 0 or more, and a type.

    >>> control_type(Record(0, -1, b"\0\0\0\1", None))
    'COMMIT'
    """
    if record.key is None or len(record.key) < _KEY.size:
        held = "null" if record.key is None else f"{len(record.key)} bytes"
        raise Malformed("key", 0, f"{_KEY.size} bytes of a control record, not {held}")
    version, number = _KEY.unpack_from(record.key)
    if version < 0:
        raise Malformed("key", 0, f"a version of 0 or more, not {version}")
    return CONTROL_TYPES[number] if 0 <= number < len(CONTROL_TYPES) else "UNKNOWN"


def control_key(control: str) -> bytes:
    """Return the key of a control record. Raises LookupError for an unknown type.

    >>> control_key("COMMIT").hex()
    '00000001'
    """
    if control not in CONTROL_TYPES:
        raise LookupError(f"no control type {control!r}; there are {', '.join(CONTROL_TYPES)}")
    return _KEY.pack(0, CONTROL_TYPES.index(control))


def marker_value(epoch: int) -> bytes:
    """Return the value of a COMMIT or ABORT with the epoch of the transaction coordinator.

    Raises:
        Unfit: The epoch is not an int32.

    >>> marker_value(5).hex()
    '000000000005'
    """
    return struct.pack(">hi", 0, fit_int("epoch", epoch, 32))
