from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.identities import Identities
from barnabas.peers.replay.offsets import Offsets
from barnabas.peers.replay.order import Index
from barnabas.peers.replay.translation import Translation
from barnabas.peers.replay.versions import NotReplayable
from barnabas.specs.frames import Direction
from tests.captures.checks.given import exchange

OFFERED = dict.fromkeys(range(100), (0, 13))
RECORDED, LIVE = (uuid.UUID(int=number) for number in (7, 8))


def recorded(name: str, version: int, request: Any, response: Any = None) -> Exchange:
    return exchange(name, version, request, response, at=0)


def asked(translation: Translation, found: Exchange) -> tuple[int, dict[str, Any]]:
    assert found.request is not None
    return translation.request(found, found.request, OFFERED)


def test_offsets_follow_from_what_was_produced() -> None:
    for version, topic, live_topic in (
        (3, {"name": "t"}, {"name": "t"}),
        (13, {"topic_id": RECORDED}, {"topic_id": LIVE}),
    ):
        translation = Translation(Index(topics={RECORDED: "t"}))
        names = {"name": "t", "topic_id": RECORDED}
        metadata = recorded("Metadata", 12, {"topics": []}, {"topics": [names]})
        live_names = {"topics": [{"name": "t", "topic_id": LIVE, "partitions": []}]}
        translation.learn(metadata, 12, {}, live_names)

        def produced(named: dict[str, Any], offset: int) -> dict[str, Any]:
            entry = {"index": 0, "base_offset": offset, "error_code": 0}
            return {"responses": [{**named, "partition_responses": [entry]}]}

        produce = recorded("Produce", version, {"topic_data": []}, produced(topic, 100))
        translation.learn(produce, version, {}, produced(live_topic, 5))
        partition = {"partition": 0, "fetch_offset": 103, "current_leader_epoch": 4}
        fetch = recorded("Fetch", 9, {"topics": [{"topic": "t", "partitions": [partition]}]})
        _, body = asked(translation, fetch)
        (entry,) = body["topics"][0]["partitions"]
        assert (entry["fetch_offset"], entry["current_leader_epoch"]) == (8, -1)


def test_a_live_cluster_that_begins_no_epoch_with_a_transaction() -> None:
    end = {"transactional_id": "x", "producer_id": 1000, "producer_epoch": 3, "committed": True}
    bumped = recorded("EndTxn", 5, end, {"producer_id": 1000, "producer_epoch": 4})
    translation = Translation(Index())
    live = {"producer_id": -1, "producer_epoch": -1}
    translation.learn(bumped, 4, {"producer_id": 7, "producer_epoch": 0}, live)
    _, body = asked(translation, recorded("EndTxn", 5, {**end, "producer_epoch": 4}))
    assert (body["producer_id"], body["producer_epoch"]) == (7, 0)


def test_the_version_is_one_that_the_cluster_takes() -> None:
    fetch = recorded("Fetch", 16, {"topics": []})
    assert asked(Translation(Index()), fetch)[0] == 13
    unnamed = recorded("Fetch", 13, {"topics": [{"topic_id": RECORDED, "partitions": []}]})
    assert unnamed.request is not None
    with pytest.raises(NotReplayable, match="names the topic"):
        Translation(Index()).request(unnamed, unnamed.request, {1: (4, 12)})


def test_a_response_in_live_terms() -> None:
    heartbeat = {"group_id": "g", "member_id": "m", "member_epoch": 1}
    said = {"member_id": "m", "member_epoch": 1}
    found = recorded("ConsumerGroupHeartbeat", 0, heartbeat, said)
    assert found.response is not None
    translation = Translation(Index())
    translation.learn(found, 0, {}, {"member_id": "M", "member_epoch": 9})
    wanted = translation.response(found, found.response, 0)
    assert (wanted["member_id"], wanted["member_epoch"]) == ("M", 9)


def test_offsets_follow_the_batch_before_them() -> None:
    offsets = Offsets()
    for then, now in ((0, 100), (10, 110), (20, 130)):
        offsets.put(("t", 0), then, now)
    found = [offsets.live(("t", 0), offset) for offset in (0, 5, 19, 20, 25, -1, -2)]
    assert found == [100, 105, 119, 130, 135, -1, -2]
    assert offsets.live(("t", 1), 5) == 5


@pytest.mark.parametrize(("key", "way", "name", "index"), [
    (1, "request", "fetch_offset", "partition"), (8, "request", "committed_offset", "partition_index"),
    (21, "request", "offset", "partition_index"), (28, "request", "committed_offset", "partition_index"),
    (0, "response", "base_offset", "index"), (2, "response", "offset", "partition_index"),
    (9, "response", "committed_offset", "partition_index"),
])  # fmt: skip
def test_where_offsets_stand(key: int, way: Direction, name: str, index: str) -> None:
    offsets = Offsets()
    offsets.put(("t", 0), 0, 100)
    partition = {index: 0, name: 5}
    offsets.translate(key, way, {"topics": [{"name": "t", "partitions": [partition]}]})
    assert partition == {index: 0, name: 105}


@pytest.mark.parametrize(("value", "here"), [(4, 9), (0, 0), (-1, -1), (-2, -2)])
def test_generations_are_a_groups_own_and_those_that_mean_none_stay(value: int, here: int) -> None:
    known = Identities()
    known.learn({"generation_id": value}, {"generation_id": 9}, "g")
    body = {"generation_id_or_member_epoch": value}
    assert known.translate(body, "g") == {"generation_id_or_member_epoch": here}
    assert known.translate(body, "h") == body
