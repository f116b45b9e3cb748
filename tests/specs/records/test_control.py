"""Control records whose keys and values are not what they should be."""

from __future__ import annotations

import pytest

from barnabas.specs.codec import Unfit
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import (
    Record,
    control_key,
    control_type,
    coordinator_epoch,
    marker_value,
)
from barnabas.specs.records.control import CONTROL_TYPES


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


@pytest.mark.parametrize("name", CONTROL_TYPES)
@pytest.mark.parametrize("version", [0, 2**15 - 1])
def test_keys_that_are_built_are_read(name: str, version: int) -> None:
    key = control_key(name, version)
    assert key[:2] == version.to_bytes(2)
    assert control_type(Record(0, -1, key, None)) == name


@pytest.mark.parametrize("epoch", [-1, 0, 2**31 - 1])
def test_markers_that_are_built_are_read(epoch: int) -> None:
    assert coordinator_epoch(Record(0, -1, control_key("ABORT"), marker_value(epoch))) == epoch


def test_control_records_that_do_not_fit() -> None:
    with pytest.raises(LookupError, match="no control type 'PAUSE'"):
        control_key("PAUSE")
    with pytest.raises(Unfit, match="version: 32768 is no int16"):
        control_key("COMMIT", 2**15)
    with pytest.raises(Unfit, match="epoch: 2147483648 is no int32"):
        marker_value(2**31)
    with pytest.raises(Unfit, match="version: 32768 is no int16"):
        marker_value(0, 2**15)
