"""Records out of a stream, however it is cut; behind a gap, what may be one."""

from __future__ import annotations

import pytest

from barnabas.captures.tls.records import Record, Records


def record(body: bytes, kind: int = 23) -> bytes:
    return bytes([kind, 3, 3]) + len(body).to_bytes(2) + body


def drained(records: Records) -> list[Record]:
    return list(iter(records.next, None))


@pytest.mark.parametrize("wrong", [b"\0\0\0\x14\0", b"\x17\2\3\0\1", b"\x17\3\3\x48\1", b"GET /"])
def test_what_is_no_record(wrong: bytes) -> None:
    records = Records()
    records.feed(record(b"one") + wrong + bytes(20))
    assert [one.body for one in drained(records)] == [b"one"]
    assert records.broken


def test_a_gap_within_a_record_costs_only_that() -> None:
    records = Records()
    records.feed(record(bytes(100))[:50])
    assert drained(records) == []
    records.lose(30)
    records.lose(5)
    records.feed(bytes(20) + record(b"next"))
    assert not records.seeking
    assert [one.body for one in drained(records)] == [b"next"]
    assert records.missing == 1
    records.none_missing()
    assert records.missing == 0


def test_a_gap_up_to_the_end_of_a_record() -> None:
    records = Records()
    records.feed(record(bytes(100))[:50])
    assert drained(records) == []
    records.lose(55)
    records.feed(record(b"next"))
    assert not records.seeking
    assert [one.body for one in drained(records)] == [b"next"]


def test_behind_a_longer_gap_guesses_are_made() -> None:
    records = Records()
    records.feed(record(bytes(100))[:50])
    assert drained(records) == []
    records.lose(1000)
    assert records.seeking
    wrong = b"\x17\3\3\0\2"
    records.feed(b"the end of one" + wrong + record(b"right") + record(b"next")[:7])
    guess = records.next()
    assert guess is not None
    assert guess.body == b"\x17\3"
    assert records.missing == (50 + 1000 + 14) // 21
    guess = records.next()
    assert guess is not None
    assert guess.body == b"right"
    records.found(guess)
    assert (records.seeking, records.missing) == (False, 0)
    assert drained(records) == []
    records.feed(record(b"next")[7:])
    assert [one.body for one in drained(records)] == [b"next"]


def test_gap_upon_gap() -> None:
    records = Records()
    records.lose(100)
    records.feed(record(bytes(90))[:40])
    assert records.next() is None
    records.lose(200)
    assert records.missing == (100 + 40 + 200) // 21
    records.feed(record(b"right"))
    guess = records.next()
    assert guess is not None
    records.found(guess)
    assert guess.body == b"right"
