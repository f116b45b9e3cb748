"""Control records whose keys and values are not what they should be."""

from __future__ import annotations

import pytest

from barnabas.specs.codec import Unfit
from barnabas.specs.embedded import read_control_record
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import (
    Record,
    control_key,
    control_type,
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


@pytest.mark.parametrize("name", CONTROL_TYPES)
def test_keys_that_are_built_are_read(name: str) -> None:
    key = control_key(name)
    assert key[:2] == b"\0\0"
    assert control_type(Record(0, -1, key, None)) == name


@pytest.mark.parametrize("epoch", [-1, 0, 2**31 - 1])
def test_markers_that_are_built_are_read(epoch: int) -> None:
    kind, value = read_control_record(control_key("ABORT"), marker_value(epoch))
    assert (kind, value.values) == ("ABORT", {"coordinator_epoch": epoch})


def test_control_records_that_do_not_fit() -> None:
    with pytest.raises(LookupError, match="no control type 'PAUSE'"):
        control_key("PAUSE")
    with pytest.raises(Unfit, match="epoch: 2147483648 is not a valid int32"):
        marker_value(2**31)
