from __future__ import annotations

import uuid
from typing import Any

from barnabas.peers.replay.offsets import Offsets

ID, LIVE = uuid.UUID(int=1), uuid.UUID(int=2)


def produced(base: int, partition: int = 0, **topic: Any) -> dict[str, Any]:
    entry = {"index": partition, "base_offset": base}
    return {"responses": [{**(topic or {"name": "t"}), "partition_responses": [entry]}]}


def test_offsets_follow_the_batch_before_them() -> None:
    offsets = Offsets()
    for recorded, live in ((0, 100), (10, 110), (20, 130)):
        offsets.learn(produced(recorded), produced(live), {})
    found = [offsets.live(("t", 0), offset) for offset in (0, 5, 19, 20, 25, -1, -2)]
    assert found == [100, 105, 119, 130, 135, -1, -2]
    assert offsets.live(("t", 1), 5) == 5


def test_a_batch_that_came_before_others_counts_from_its_own_place() -> None:
    offsets = Offsets()
    offsets.put(("t", 0), 10, 0)
    offsets.put(("t", 0), 0, 5)
    assert [offsets.live(("t", 0), offset) for offset in (0, 9, 10)] == [5, 14, 0]


def test_a_batch_that_was_refused_teaches_nothing() -> None:
    offsets = Offsets()
    offsets.learn(produced(3), produced(-1), {})
    offsets.learn(produced(-1), produced(3), {})
    assert offsets.live(("t", 0), 3) == 3


def test_they_stand_in_requests_and_responses() -> None:
    offsets = Offsets()
    offsets.put(("t", 0), 0, 50)
    fetch = {"topics": [{"topic": "t", "partitions": [{"partition": 0, "fetch_offset": 2}]}]}
    offsets.translate(1, "request", fetch)
    assert fetch["topics"][0]["partitions"][0]["fetch_offset"] == 52  # type: ignore[index]
    entry = {"partition_index": 0, "committed_offset": 4}
    fetched = {"groups": [{"group_id": "g", "topics": [{"name": "t", "partitions": [entry]}]}]}
    offsets.translate(9, "response", fetched)
    assert entry["committed_offset"] == 54
    offsets.translate(3, "request", {"topics": [{"name": "t"}]})
