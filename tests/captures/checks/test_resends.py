"""Records that are sent again have the same identity, however they are packed."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.facts import first_batch
from barnabas.captures.checks.resends import Attempt, contents, identity, knew_of_failure
from barnabas.specs.records import Record, build

RECORDS = [Record(0, 5, b"k", b"v", (("h", b"1"), ("g", None))), Record(1, 6, None, b"")]


def packed(records: list[Record] = RECORDS, stamp: int = 0, **more: Any) -> bytes:
    return build([each._replace(timestamp=each.timestamp + stamp) for each in records], **more)


def identity_of(records: bytes) -> int | None:
    batch = first_batch(records)
    return None if batch is None else identity(records, batch)


@pytest.mark.parametrize("compression", ["none", "gzip", "lz4", "snappy", "zstd"])
def test_timestamps_and_compression_change_nothing(compression: str) -> None:
    again = packed(stamp=1000, compression=compression)
    assert identity_of(again) == identity_of(packed())


@pytest.mark.parametrize(
    "other",
    [
        RECORDS[:1],
        RECORDS[::-1],
        [RECORDS[0]._replace(key=None), RECORDS[1]],
        [RECORDS[0]._replace(value=b"w"), RECORDS[1]],
        [RECORDS[0]._replace(headers=(("h", b"1"), ("g", b""))), RECORDS[1]],
        [RECORDS[0], RECORDS[1]._replace(value=None)],
        [RECORDS[0]._replace(key=b"kv", value=b""), RECORDS[1]],
    ],
)
def test_other_contents_are_others(other: list[Record]) -> None:
    assert identity_of(packed(other)) != identity_of(packed())


def test_an_idempotent_producer_sends_the_same_bytes_again() -> None:
    numbers: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 3}
    assert identity_of(packed(**numbers)) == int.from_bytes(packed(**numbers)[17:21])
    assert identity_of(packed(stamp=9, **numbers)) != identity_of(packed(**numbers))


def test_what_can_not_be_read_has_no_contents() -> None:
    assert identity_of(b"?") is None
    cut = packed()[:-1] + b"\xff"
    assert [key for key, _ in contents(cut)][:1] == [b"k"]


@pytest.mark.parametrize(
    ("answered", "sent", "connection", "patience", "known"),
    [
        (5, 5, 1, None, True),
        (5, 4, 1, None, False),
        (5, 4, 2, None, False),
        (None, 5, 2, None, True),
        (None, 5, 1, None, False),
        (None, 5, 1, 5, True),
        (None, 4, 1, 5, False),
    ],
)
def test_a_client_knows_of_a_failure_by_the_response_or_by_giving_up(
    answered: int | None, sent: int, connection: int, patience: int | None, known: bool
) -> None:
    assert knew_of_failure(Attempt(1, 0, answered), sent, connection, patience) is known
