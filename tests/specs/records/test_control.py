"""Control records whose keys and values are not what they should be."""

from __future__ import annotations

import pytest

from specs.malformed import Malformed
from specs.records import Record, control_type, coordinator_epoch


@pytest.mark.parametrize(
    ("key", "expected"),
    [("00000006", "KRAFT_VOTERS"), ("00010007", "UNKNOWN"), ("0000ffff", "UNKNOWN")],
)
def test_types(key: str, expected: str) -> None:
    assert control_type(Record(0, -1, bytes.fromhex(key), None)) == expected


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\1"])
def test_keys_that_are_no_control_keys(key: bytes | None) -> None:
    with pytest.raises(Malformed, match="key"):
        control_type(Record(0, -1, key, None))


@pytest.mark.parametrize("value", [None, b"\0\0\0\0\0", b"\xff\xff\0\0\0\1"])
def test_values_without_an_epoch(value: bytes | None) -> None:
    with pytest.raises(Malformed, match="value"):
        coordinator_epoch(Record(0, -1, b"\0\0\0\1", value))
