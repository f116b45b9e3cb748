from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.effects import Become
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import seeded_roll
from barnabas.specs import records
from barnabas.specs.records import Record
from tests.proxy.faults.given import Examples, Row, effect_of, fields_after, message, produced

RECORDS = records.build([Record(0, 1000, b"key", b"value")])
PATH = "topic_data[0].partition_data[0].records"
IN_RECORDS = {"path": PATH}
NAMED = message(group_id="g")

EXAMPLES = Examples(
    {},
    rows=[Row("{path: 'PATH'}")],
    refused=[
        ({"at": 1, "path": "group_id"}, "give at or path, not both"),
        ({"crc": "right"}, "crc: right needs the path of a record set"),
    ],
    unable=[
        ({"path": "member_id"}, NAMED, "member_id: '' has no bytes"),
        ({"path": "topics"}, NAMED, "topics: no such field in this message"),
        ({"path": "topic_data[5].name"}, produced(None), "topic_data[5].name: no such element"),
        ({"path": "group_id", "crc": "right"}, NAMED, "group_id: not a record set"),
        ({"path": "group_id"}, message(group_id="é"), "group_id: 'é' has no bytes"),
        ({"at": 99}, NAMED, "byte 99: the frame has"),
        ({"at": NAMED.size}, NAMED, f"byte {NAMED.size}: the frame has {NAMED.size}"),
        (IN_RECORDS, produced(RECORDS[:20]), "no complete record batch"),
        (IN_RECORDS, produced(records.build([])), "an empty batch"),
        (IN_RECORDS, produced(RECORDS[:16] + b"\x09" + RECORDS[17:]), "magic"),
    ],
    says=[({}, "paths", ()), ({"path": "group_id"}, "paths", ("group_id",))],
)  # fmt: skip


def become(settings: dict[str, Any], subject: Message, roll: Any = float) -> tuple[bytes, bytes]:
    """Return a frame before and after the fault, of the same size."""
    effect = effect_of("corrupt", settings, subject, roll)
    assert isinstance(effect, Become)
    before, after = subject.head + (subject.body or b""), (effect.head or b"") + effect.body
    assert len(before) == len(after)
    return before, after


@given(st.integers(), st.sampled_from(["bit", "byte"]))
def test_one_bit_or_byte_is_another(seed: int, what: str) -> None:
    subject = message(group_id="group", member_id="member")
    before, after = become({"what": what}, subject, seeded_roll(seed, "r", ()))
    changed = [a ^ b for a, b in zip(before, after, strict=True) if a != b]
    assert len(changed) == 1
    assert changed[0].bit_count() == 1 or what == "byte"


def test_the_byte_may_be_given_and_becomes_each_other_one() -> None:
    found = set()
    for n in range(255):
        before, after = become({"at": 4, "what": "byte"}, message(), lambda n=n: (n + 0.5) / 255)
        assert after[:4] + after[5:] == before[:4] + before[5:]
        found.add(after[4])
    assert found == set(range(256)) - {before[4]}


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("what", ["bit", "byte"])
def test_a_field_of_the_record_set_with_a_checksum_that_fits_or_not(what: str, magic: Any) -> None:
    data = records.build([Record(0, 1000, b"key", b"value")], magic=magic)
    header = 61 if magic == 2 else 17
    for seed in range(40):
        for crc in ("right", "wrong"):
            settings = {"path": PATH, "crc": crc, "what": what}
            roll = seeded_roll(seed, "r", ()) if seed else float
            fields = fields_after("corrupt", settings, produced(data), roll)
            (partition,) = fields["topic_data"][0]["partition_data"]
            found = partition["records"]
            assert (found[:header] == data[:header]) or crc == "right"
            assert found[header:] != data[header:]
            assert seed or found[header] != data[header], "from the first byte behind the header"
            (batch,) = records.read(found)
            assert batch.crc_ok is (crc == "right")


@pytest.mark.parametrize(("path", "subject"), [
    ("group_id", message(group_id="g", generation_id=7)),
    ("generation_id", message(group_id="g", generation_id=7)),
    ("assignment", message("SyncGroup", "response", assignment=b"\xff\x01")),
    ("allow_auto_topic_creation", message("Metadata", version=4)),
])  # fmt: skip
def test_a_field_of_another_kind_and_no_other(path: str, subject: Message) -> None:
    before, after = subject.values(), fields_after("corrupt", {"path": path}, subject)
    assert [name for name in before if before[name] != after[name]] == [path]
    assert type(before[path]) is type(after[path])


def test_more_batches_than_a_fault_takes_apart_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["barnabas.proxy.faults.corrupt"], "MOST_RECORDS", 2)
    assert fields_after("corrupt", IN_RECORDS, produced(RECORDS * 2))
    with pytest.raises(Unable, match=r"^more than 2 batches$"):
        fields_after("corrupt", IN_RECORDS, produced(RECORDS * 3))
