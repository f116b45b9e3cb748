from __future__ import annotations

import pytest

from barnabas.fuzz.cases.case import Case, Live
from barnabas.fuzz.sessions.live_values import filled
from barnabas.specs.records import build, read
from barnabas.specs.records.record import Record
from tests.fuzz.observed import case


def with_live(case: Case, *live: Live) -> Case:
    return case._replace(live=live)


@pytest.mark.parametrize(
    ("value", "size", "bytes_"),
    [(-1, 8, b"\xff" * 8), (5, 2, b"\0\5"), ("ab", 2, b"ab"), (b"xyz", 3, b"xyz")],
)
def test_values_are_written_in_the_size_of_their_place(
    value: int | str | bytes, size: int, bytes_: bytes
) -> None:
    (sent,) = filled(with_live(case(bytes(20)), Live(0, 3, size, "it")), {"it": value}, 0)
    assert sent == bytes(3) + bytes_ + bytes(17 - size)


@pytest.mark.parametrize("value", [None, "four", 1 << 40, b""])
def test_what_is_not_known_or_does_not_fit_leaves_the_bytes_alone(
    value: int | str | bytes | None,
) -> None:
    values = {} if value is None else {"it": value}
    (sent,) = filled(with_live(case(bytes(20)), Live(0, 3, 3, "it")), values, 0)
    assert sent == bytes(20)


def test_a_producer_in_a_batch_is_replaced_and_the_checksum_fits_again() -> None:
    batch = build([Record(0, 1000, b"k", b"v")], producer_id=1, producer_epoch=0, base_sequence=0)
    chunk = b"abc" + batch + b"de"
    live = (Live(0, 3 + 43, 8, "producer_id"), Live(0, 3 + 17, 4, "crc"))
    (sent,) = filled(with_live(case(chunk), *live), {"producer_id": 4000}, 0)
    (found,) = read(sent[3:-2])
    assert (found.producer_id, found.crc_ok) == (4000, True)
    assert (sent[:3], sent[-2:]) == (b"abc", b"de")


def test_the_checksum_of_a_batch_whose_length_lies_is_left() -> None:
    batch = build([Record(0, 1000, b"k", b"v")])
    lying = batch[:8] + b"\x7f\xff\xff\xff" + batch[12:]
    (sent,) = filled(with_live(case(lying), Live(0, 17, 4, "crc")), {}, 0)
    assert sent == lying
