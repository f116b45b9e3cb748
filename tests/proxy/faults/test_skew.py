from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.skew import Skew, skew
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.specs import api, records
from barnabas.specs.records import Record
from tests.proxy.faults.given import Examples, Row, message

EXAMPLES = Examples(
    {"by": "-1h"},
    rows=[Row("{by: 1s}")],
    live=["{by: 1s}"],
    subject=message("ListOffsets", "request", 1, topics=[{"partitions": [{"timestamp": 5}]}]),
    about=("Produce", "request"),
)

HOUR = 3_600_000
GIVEN = [Record(0, 10 * HOUR, b"k", b"v"), Record(1, 10 * HOUR + 7, None, b"w")]


def skewed(by: str, subject: Message) -> dict[str, Any]:
    (effect,) = skew(Skew.model_validate({"by": by}), subject, float)
    assert isinstance(effect, Become)
    return api(subject.key).message(subject.direction).codec(subject.version).decode(effect.body)


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_records_are_earlier_or_later_and_their_checksums_fit(magic: int, compression: Any) -> None:
    data = records.build(GIVEN, magic=magic, compression=compression)
    body = {"topic_data": [{"name": "t", "partition_data": [{"records": data}]}]}
    for by, ms in (("1h", HOUR), ("-1h", -HOUR)):
        found = skewed(by, message("Produce", "request", 7, **body))
        batches = list(records.read(found["topic_data"][0]["partition_data"][0]["records"]))
        assert all(batch.crc_ok for batch in batches)
        read = [record for batch in batches for record in batch]
        assert [r.timestamp for r in read] == [r.timestamp + ms for r in GIVEN]
        assert [(r.key, r.value) for r in read] == [(r.key, r.value) for r in GIVEN]
        assert batches[-1].max_timestamp == GIVEN[1].timestamp + ms


def test_what_is_no_whole_batch_stays() -> None:
    data = records.build(GIVEN)
    responses = [{"topic": "t", "partitions": [{"records": data + data[:40]}]}]
    found = skewed("1h", message("Fetch", "response", 11, responses=responses))
    assert found["responses"][0]["partitions"][0]["records"][len(data) :] == data[:40]


def test_timestamps_of_responses() -> None:
    topics = [{"name": "t", "partitions": [{"timestamp": 5 * HOUR}, {"timestamp": -1}]}]
    found = skewed("-30m", message("ListOffsets", "response", 5, topics=topics))
    assert [p["timestamp"] for p in found["topics"][0]["partitions"]] == [5 * HOUR - HOUR // 2, -1]


def test_a_message_without_timestamps_stays() -> None:
    with pytest.raises(Unable, match="no timestamps"):
        skewed("1h", message(group_id="g"))


def test_more_records_or_batches_than_a_fault_takes_apart_stay() -> None:
    many = [GIVEN[0]._replace(offset=at) for at in range(MOST_RECORDS + 1)]
    message_set = records.build(many, magic=1, compression="gzip")
    for data in (message_set, records.build(GIVEN) * (MOST_RECORDS + 1)):
        body = {"topic_data": [{"name": "t", "partition_data": [{"records": data}]}]}
        with pytest.raises(Unable, match=f"more than {MOST_RECORDS}"):
            skewed("1h", message("Produce", "request", 7, **body))
