from __future__ import annotations

import pytest

from barnabas.peers.recorded.shape import shape
from barnabas.specs import api, records
from barnabas.specs.records import Record


def produce(value: bytes, *, timestamp: int = 1, producer_id: int = -1, topic: str = "t") -> bytes:
    data = records.build([Record(0, timestamp, None, value)], producer_id=producer_id)
    partitions = [{"index": 0, "records": data}]
    topics = [{"name": topic, "partition_data": partitions}]
    return api("Produce").request.codec(9).encode({"topic_data": topics})


@pytest.mark.parametrize(("one", "other", "same"), [
    (produce(b"v"), produce(b"v", timestamp=2), True),
    (produce(b"v"), produce(b"v", producer_id=7), True),
    (produce(b"v"), produce(b"w"), False),
    (produce(b"v"), produce(b"v", topic="u"), False),
    (b"\xff", b"\xff", True),
    (b"\xff", b"\xfe", False),
])  # fmt: skip
def test_shapes(one: bytes, other: bytes, same: bool) -> None:
    assert (shape(0, 9, one) == shape(0, 9, other)) is same
