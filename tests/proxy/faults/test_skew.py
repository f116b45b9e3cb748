from __future__ import annotations

import sys
from typing import Any

import pytest

from barnabas.proxy.matching.message import Unable
from barnabas.specs import records
from barnabas.specs.records import Record
from tests.proxy.faults.given import Examples, Row, effect_of, fields_after, message, produced

HOUR = 3_600_000
LATER = {"by": "1h"}
GIVEN = [Record(0, 10 * HOUR, b"k", b"v"), Record(1, 10 * HOUR + 7, None, b"w")]
SPOILT = records.build(GIVEN, compression="gzip")

EXAMPLES = Examples(
    {"by": "-1h"},
    rows=[Row("{by: 1s}")],
    live=["{by: 1s}"],
    subject=message("ListOffsets", "request", 1, topics=[{"partitions": [{"timestamp": 5}]}]),
    about=("Produce", "request"),
    refused=[("{by: 25h}", "by: '25h' is longer than 24h"), ("{by: --1h}", "'-1h' is not a duration")],
    unable=[
        (LATER, message(group_id="g"), "no timestamps"),
        (LATER, message("DescribeTopicPartitions", "response", next_cursor=None), "no timestamps"),
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


@pytest.mark.parametrize("data", [
    records.build(GIVEN)[:40],
    records.build([Record(0, -1, b"k", b"v")], magic=0),
], ids=["no whole batch", "no timestamps"])  # fmt: skip
def test_what_has_no_timestamps_stays(data: bytes) -> None:
    whole = records.build(GIVEN)
    partition = {"records": whole + data, "aborted_transactions": None}
    responses = [{"topic": "t", "partitions": [partition]}]
    found = fields_after("skew", LATER, message("Fetch", "response", 11, responses=responses))
    assert found["responses"][0]["partitions"][0]["records"][len(whole) :] == data


def test_timestamps_of_responses() -> None:
    times = [5 * HOUR, 0, -1]
    topics = [{"name": "t", "partitions": [{"timestamp": time} for time in times]}]
    subject = message("ListOffsets", "response", 5, topics=topics)
    (topic,) = fields_after("skew", {"by": "-30m"}, subject)["topics"]
    assert [p["timestamp"] for p in topic["partitions"]] == [5 * HOUR - HOUR // 2, 0, -1]


@pytest.mark.parametrize(("base", "shifted"), [(0, 0), (1, 1 + HOUR)])
def test_a_batch_whose_time_is_not_said_keeps_that(base: int, shifted: int) -> None:
    data = records.build([Record(0, base, b"k", b"v")])
    found = fields_after("skew", LATER, produced(data))["topic_data"][0]["partition_data"]
    (batch,) = records.read(found[0]["records"])
    assert (batch.base_timestamp, batch.max_timestamp) == (shifted, base + HOUR)


def test_what_is_shifted_is_counted_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["barnabas.proxy.faults.skew"], "MOST_RECORDS", 2)
    wrapped = [records.build(GIVEN * n, magic=1, compression="gzip") for n in (1, 2)]
    batches = [records.build(GIVEN) * n for n in (2, 3)]
    for one in (wrapped[0], batches[0]):
        what = effect_of("skew", LATER, produced(one, None)).what
        assert what == "1 timestamps +3600000 ms"
    for many, why in (
        (wrapped[1], "more than 2 records in one message"),
        (batches[1], "more than 2 batches"),
    ):
        with pytest.raises(Unable, match=f"^{why}$"):
            fields_after("skew", LATER, produced(many))
