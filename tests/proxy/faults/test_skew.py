from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.matching.message import MOST_RECORDS
from barnabas.specs import records
from barnabas.specs.records import Record
from tests.proxy.faults.given import Examples, Row, fields_after, message, produced

HOUR = 3_600_000
LATER = {"by": "1h"}
GIVEN = [Record(0, 10 * HOUR, b"k", b"v"), Record(1, 10 * HOUR + 7, None, b"w")]
MANY = [GIVEN[0]._replace(offset=at) for at in range(MOST_RECORDS + 1)]
WRAPPED = records.build(MANY, magic=1, compression="gzip")
SPOILT = records.build(GIVEN, compression="gzip")

EXAMPLES = Examples(
    {"by": "-1h"},
    rows=[Row("{by: 1s}")],
    live=["{by: 1s}"],
    subject=message("ListOffsets", "request", 1, topics=[{"partitions": [{"timestamp": 5}]}]),
    about=("Produce", "request"),
    refused=[("{by: 25h}", "by: '25h' is longer than 24h"), ("{by: --1h}", "'-1h' is no duration")],
    unable=[
        (LATER, message(group_id="g"), "no timestamps"),
        (LATER, produced(WRAPPED), f"more than {MOST_RECORDS} records"),
        (LATER, produced(records.build(GIVEN) * (MOST_RECORDS + 1)), f"more than {MOST_RECORDS} batches"),
        (LATER, produced(SPOILT[:16] + b"\x09" + SPOILT[17:]), "records: "),
    ],
    says=[("{by: 999us}", "no_op", "by in whole ms"), ("{by: 1ms}", "no_op", "")],
)  # fmt: skip


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_records_are_earlier_or_later_and_their_checksums_fit(magic: int, compression: Any) -> None:
    data = records.build(GIVEN, magic=magic, compression=compression)
    for by, ms in (("1h", HOUR), ("-1h", -HOUR)):
        found = fields_after("skew", {"by": by}, produced(data))
        batches = list(records.read(found["topic_data"][0]["partition_data"][0]["records"]))
        assert all(batch.crc_ok for batch in batches)
        shifted = [record._replace(timestamp=record.timestamp + ms) for record in GIVEN]
        assert [record for batch in batches for record in batch] == shifted
        assert batches[-1].max_timestamp == GIVEN[1].timestamp + ms


@pytest.mark.parametrize(("data", "kept"), [
    (records.build(GIVEN)[:40], 0),
    (records.build([Record(0, -1, b"k", b"v")], magic=0), 0),
], ids=["no whole batch", "no timestamps"])  # fmt: skip
def test_what_has_no_timestamps_stays(data: bytes, kept: int) -> None:
    whole = records.build(GIVEN)
    responses = [{"topic": "t", "partitions": [{"records": whole + data}]}]
    found = fields_after("skew", LATER, message("Fetch", "response", 11, responses=responses))
    assert found["responses"][0]["partitions"][0]["records"][len(whole) :] == data


def test_timestamps_of_responses() -> None:
    topics = [{"name": "t", "partitions": [{"timestamp": 5 * HOUR}, {"timestamp": -1}]}]
    subject = message("ListOffsets", "response", 5, topics=topics)
    (topic,) = fields_after("skew", {"by": "-30m"}, subject)["topics"]
    assert [p["timestamp"] for p in topic["partitions"]] == [5 * HOUR - HOUR // 2, -1]
