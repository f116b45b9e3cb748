"""Checks the values of records and headers before they are written, and raises Unfit with the path."""

from __future__ import annotations

from typing import Any

from barnabas.specs.codec.careful_encoder import Unfit
from barnabas.specs.records.record import Header, Record


def fit_int(path: str, value: Any, bits: int) -> int:
    """Return the value if it is a signed integer of this many bits. Raises Unfit.

    >>> fit_int("base_sequence", 5, 32)
    5
    """
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise Unfit(path, f"{value!r} is not a valid int{bits}")
    return value


def fit_record(record: Any, path: str) -> Record:
    """Return the record, of any magic, with plain bytes for all values. Raises Unfit, below `path`.

    >>> fit_record(Record(0, -1, None, bytearray(b"v")), "records[0]").value
    b'v'
    """
    if not isinstance(record, tuple) or len(record) != len(Record._fields):
        raise Unfit(path, f"a Record is expected, not {record!r}")
    offset, timestamp, key, value, headers, sequence = record
    if not isinstance(headers, tuple | list):
        raise Unfit(f"{path}.headers", f"pairs of key and value are expected, not {headers!r}")
    return Record(
        fit_int(f"{path}.offset", offset, 64),
        fit_int(f"{path}.timestamp", timestamp, 64),
        _nullable(f"{path}.key", key),
        _nullable(f"{path}.value", value),
        tuple(_header(f"{path}.headers[{index}]", pair) for index, pair in enumerate(headers)),
        sequence,
    )


def _nullable(path: str, value: Any) -> bytes | None:
    if value is not None and not isinstance(value, bytes | bytearray | memoryview):
        raise Unfit(path, f"bytes or None are expected, not {value!r}")
    return None if value is None else bytes(value)


def _header(path: str, header: Any) -> Header:
    if not isinstance(header, tuple | list) or len(header) != 2:
        raise Unfit(path, f"a pair of key and value is expected, not {header!r}")
    key, value = header
    if not isinstance(key, str):
        raise Unfit(f"{path}.key", f"a string is expected, not {key!r}")
    try:
        key.encode()
    except UnicodeEncodeError as problem:
        raise Unfit(f"{path}.key", f"{key!r} is not valid text: {problem.reason}") from None
    return key, _nullable(f"{path}.value", value)
