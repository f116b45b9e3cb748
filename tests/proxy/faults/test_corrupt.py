from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.corrupt import Corrupt, corrupt
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import seeded_roll
from barnabas.specs import api, records
from barnabas.specs.records import Record
from tests.proxy.faults.given import Examples, Row, ask, message, produce, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[Row("{path: 'PATH'}")],
)

RECORDS = records.build([Record(0, 1000, b"key", b"value")])


def become(settings: dict[str, Any], subject: Message, seed: int = 7) -> Become:
    roll = seeded_roll(seed, "r", ())
    (effect,) = corrupt(Corrupt.model_validate(settings), subject, roll)
    assert isinstance(effect, Become)
    return effect


def bits(one: bytes, two: bytes) -> int:
    assert len(one) == len(two)
    return (int.from_bytes(one) ^ int.from_bytes(two)).bit_count()


@given(st.integers(), st.sampled_from(["bit", "byte"]))
def test_one_bit_or_byte_is_another(seed: int, what: str) -> None:
    subject = message(group_id="group", member_id="member")
    effect = become({"what": what}, subject, seed)
    before, after = subject.head + (subject.body or b""), (effect.head or b"") + effect.body
    changed = [at for at, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert len(changed) == 1
    assert bits(before, after) == 1 if what == "bit" else bits(before, after) <= 8


def test_the_byte_may_be_given() -> None:
    subject = message()
    effect = become({"at": 4, "what": "byte"}, subject)
    assert effect.head is not None
    assert effect.head[4] != subject.head[4]
    assert effect.head[:4] == subject.head[:4]
    with pytest.raises(Unable, match="byte 99: the frame has"):
        become({"at": 99}, subject)


@given(st.integers(), st.sampled_from(["bit", "byte"]))
def test_a_field_of_the_record_set_with_a_checksum_that_fits_or_not(seed: int, what: str) -> None:
    body = {"topic_data": [{"name": "t", "partition_data": [{"records": RECORDS}]}]}
    subject = message("Produce", "request", 7, **body)
    for crc in ("right", "wrong"):
        path = "topic_data[0].partition_data[0].records"
        effect = become({"path": path, "crc": crc, "what": what}, subject, seed)
        values = api("Produce").request.codec(7).decode(effect.body)
        (batch,) = records.read(values["topic_data"][0]["partition_data"][0]["records"])
        assert batch.crc_ok is (crc == "right")
        assert bytes(batch.data)[61:] != RECORDS[61:]


@pytest.mark.parametrize("path", ["group_id", "generation_id"])
def test_a_field_of_another_kind(path: str) -> None:
    subject = message(group_id="g", generation_id=7)
    values = api("Heartbeat").request.codec(0).decode(become({"path": path}, subject).body)
    assert values[path] != subject.values()[path]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"path": "member_id"}, "member_id: '' has no bytes"),
        ({"path": "topics"}, "topics: no such field in this message"),
        ({"path": "group_id", "crc": "right"}, "group_id: no record set"),
    ],
)
def test_what_can_not_be_corrupt_is_said(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unable, match=reason):
        become(settings, message(group_id="g"))


@slicings
def test_the_frame_keeps_its_size(chunks: Chunks) -> None:
    actor = stage("{corrupt: {what: byte}}", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=1, records=RECORDS) + ask(2), chunks)
    found = bytes(actor.sent["request"])
    expected = produce(1, acks=1, records=RECORDS) + ask(2)
    assert len(found) == len(expected)
    assert sum(a != b for a, b in zip(found, expected, strict=True)) == 1


def test_more_batches_than_a_fault_takes_apart_stay() -> None:
    data = RECORDS * (MOST_RECORDS + 1)
    topics = [{"name": "t", "partition_data": [{"records": data}]}]
    with pytest.raises(Unable, match=f"more than {MOST_RECORDS} batches"):
        become(
            {"path": "topic_data[0].partition_data[0].records"},
            message("Produce", "request", 7, topic_data=topics),
        )
