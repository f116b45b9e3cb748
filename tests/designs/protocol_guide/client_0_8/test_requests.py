from __future__ import annotations

from barnabas.designs.protocol_guide.client_0_8 import requests
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message
from barnabas.designs.protocol_guide.client_0_8.requests import Fetched, Offsets, Produced
from barnabas.specs import api

PLACES = {("a", 0): 5, ("b", 1): 6, ("a", 2): 7}


def through(name: str, direction: str, body: dict[str, object]) -> dict[str, object]:
    codec = api(name).message(direction).codec(0)
    return codec.decode(codec.encode(body))


def test_a_request_names_each_topic_once() -> None:
    body = requests.fetch(PLACES, max_wait_ms=100, min_bytes=64, max_bytes=1000)
    assert through("Fetch", "request", body) == body
    assert [topic["topic"] for topic in body["topics"]] == ["a", "b"]
    assert [part["fetch_offset"] for part in body["topics"][0]["partitions"]] == [5, 7]
    assert (body["replica_id"], body["max_wait_ms"], body["min_bytes"]) == (-1, 100, 64)


def test_produce_and_offsets_are_what_v0_takes() -> None:
    sets = {place: [Message(None, b"v")] for place in PLACES}
    body = requests.produce(sets, -1, 1500, "none")
    assert through("Produce", "request", body) == body
    assert (body["acks"], body["timeout_ms"]) == (-1, 1500)
    asked = requests.offsets({("a", 0): requests.LATEST}, 3)
    assert through("ListOffsets", "request", asked) == asked


def test_answers_by_place() -> None:
    part = {"index": 3, "error_code": 6, "base_offset": -1}
    body = {"responses": [{"name": "a", "partition_responses": [part]}]}
    assert requests.produced(body) == {("a", 3): Produced(6, -1)}
    listed = {"partition_index": 0, "error_code": 0, "old_style_offsets": [9, 0]}
    assert requests.offsets_found({"topics": [{"name": "a", "partitions": [listed]}]}) == {
        ("a", 0): Offsets(0, (9, 0))
    }
    empty = {"partition_index": 0, "error_code": 1, "high_watermark": -1, "records": b""}
    assert requests.fetched({"responses": [{"topic": "a", "partitions": [empty]}]}, {}) == {
        ("a", 0): Fetched(1, -1, (), too_small=False)
    }
