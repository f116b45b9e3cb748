"""The codec on its own: defaults, errors with paths, projections, odd and broken input."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.codec import Malformed, Unfit, has_path
from barnabas.specs.codec.careful_encoder import encode_carefully
from tests.places import GOLDEN


def test_missing_fields_take_their_defaults() -> None:
    codec = specs.api("Fetch").request.codec(11)
    values = codec.decode(codec.encode({"topics": [{"topic": "t", "partitions": [{}]}]}))
    assert values["max_bytes"] == 2**31 - 1
    assert values["topics"][0]["partitions"][0]["current_leader_epoch"] == -1
    assert specs.api("Fetch").request.at(11).build({}) == codec.encode({})


def test_unknown_tags_are_kept_and_written_again() -> None:
    codec = specs.api("Metadata").request.codec(12)
    body = codec.encode({"topics": None, "_tags": {9: b"abc", 3: b""}})
    assert codec.decode(body)["_tags"] == {3: b"", 9: b"abc"}
    assert codec.encode(codec.decode(body)) == body


@pytest.mark.parametrize(
    ("api", "version", "values", "path"),
    [
        ("Metadata", 0, {"topics": None}, "topics"),
        ("Metadata", 1, {"topics": [{"name": 7}]}, "topics[0].name"),
        ("Metadata", 1, {"topics": [{"name": "a" * 32768}]}, "topics[0].name"),
        ("Metadata", 1, {"topic": []}, "topic"),
        ("Metadata", 1, {"topics": "abc"}, "topics"),
        ("Metadata", 12, {"topics": [{"topic_id": "x"}]}, "topics[0].topic_id"),
        ("Fetch", 0, {"max_wait_ms": 2**31}, "max_wait_ms"),
        ("Fetch", 0, {"max_wait_ms": "soon"}, "max_wait_ms"),
        ("Fetch", 9, {"topics": [{"partitions": [3]}]}, "topics[0].partitions[0]"),
        ("SaslAuthenticate", 0, {"auth_bytes": "text"}, "auth_bytes"),
        ("ListGroups", 4, {"_tags": {"a": b""}}, "_tags"),
        ("FindCoordinator", 4, {"coordinator_keys": ["\ud800"]}, "coordinator_keys[0]"),
    ],
)
def test_a_value_that_does_not_fit_is_named(
    api: str, version: int, values: dict[str, Any], path: str
) -> None:
    with pytest.raises(Unfit) as caught:
        specs.api(api).request.codec(version).encode(values)
    assert caught.value.path == path


def test_an_unknown_version_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="versions 0 to 4, not 5"):
        specs.api("StopReplica").request.codec(5)


def test_a_nearest_name_is_offered() -> None:
    with pytest.raises(LookupError, match="did you mean 'Metadata'"):
        specs.api("Metdata")


def test_a_projection_reads_only_what_is_asked_for() -> None:
    codec = specs.api("Fetch").response.codec(12)
    partition = {"partition_index": 3, "error_code": 1, "records": b"12345"}
    body = codec.encode({"session_id": 9, "responses": [{"topic": "t", "partitions": [partition]}]})
    project = codec.project("responses.topic", "responses.partitions.error_code")
    assert project(body) == {"responses": [{"topic": "t", "partitions": [{"error_code": 1}]}]}
    assert codec.project("session_id")(body[:10]) == {"session_id": 9}  # reads no further
    assert codec.project("no_such_field")(body) == {}


def test_a_projection_goes_by_what_a_tag_holds_and_not_by_its_size() -> None:
    codec = specs.api("Fetch").request.codec(15)
    body = codec.encode({"cluster_id": "abc", "replica_state": {"replica_id": 5}})
    odd = body.replace(b"\x00\x04\x04abc", b"\x00\x03\x04abc")
    assert odd != body
    whole = codec.decode(odd)
    assert whole["replica_state"]["replica_id"] == 5
    assert codec.project("replica_state")(odd) == {"replica_state": whole["replica_state"]}


def test_a_projection_of_what_was_not_sent_has_only_what_was_asked_for() -> None:
    codec = specs.api("Fetch").request.codec(15)
    project = codec.project("replica_state.replica_epoch")
    assert project(codec.encode({})) == {"replica_state": {"replica_epoch": -1}}


def test_a_projection_of_a_whole_structure_has_its_unknown_tags() -> None:
    codec = specs.api("Metadata").request.codec(9)
    body = codec.encode({"topics": [{"name": "a", "_tags": {7: b"x"}}], "_tags": {8: b"y"}})
    assert codec.project("topics")(body) == {"topics": [{"name": "a", "_tags": {7: b"x"}}]}


def frames() -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / "golden-a.jsonl.gz", "rt") as lines:
        return [f for f in map(json.loads, lines) if f["direction"] in ("request", "response")]


FRAMES = frames()


def leaf_paths(values: Any, path: str = "") -> set[str]:
    match values:
        case dict():
            inner = {p for name in values for p in leaf_paths(values[name], f"{path}{name}.")}
            return inner or {path.rstrip(".")}
        case list() if values and isinstance(values[0], dict):
            return {p for item in values for p in leaf_paths(item, path)}
    return {path.rstrip(".")}


def picked(values: Any, path: list[str]) -> Any:
    """What a projection of one path should give."""
    if values is None or not path:
        return values
    if isinstance(values, list):
        return [picked(item, path) for item in values]
    return {path[0]: picked(values[path[0]], path[1:])}


@pytest.mark.slow("a long property")
def test_any_projection_agrees_with_the_whole() -> None:
    choose = random.Random(4)
    for frame in FRAMES:
        codec = specs.api(frame["key"]).message(frame["direction"]).codec(frame["version"])
        body = bytes.fromhex(frame["hex"])
        whole = codec.decode(body)
        leaves = (path for path in leaf_paths(whole) if "_tags" not in path)
        paths = sorted(path for path in leaves if has_path(codec.layout, path))
        if paths and frame["case"] in ("full", "random-0", "nulls-all"):
            path = choose.choice(paths)
            assert codec.project(path)(body) == picked(whole, path.split(".")), (frame["api"], path)


def test_a_lead_reads_from_the_first_bytes_what_a_projection_reads_from_all() -> None:
    choose = random.Random(5)
    read = 0
    for frame in choose.sample(FRAMES, 300):
        codec = specs.api(frame["key"]).message(frame["direction"]).codec(frame["version"])
        body = bytes.fromhex(frame["hex"])
        name = choose.choice([slot.name for slot in codec.layout.slots] or ["no_such_field"])
        found = codec.project_prefix(name)(body)
        if found is None:
            continue
        values, length = found
        assert values == codec.project(name)(body), (frame["api"], name)
        assert codec.project_prefix(name)(body[:length]) == found
        cut = choose.randrange(len(body) + 1)
        assert codec.project_prefix(name)(body[:cut]) == (found if cut >= length else None)
        read += 1
    assert read > 250


@settings(max_examples=400)
@given(st.sampled_from(FRAMES), st.data())
def test_a_mutated_body_is_read_or_refused_and_never_anything_else(
    frame: dict[str, Any], data: st.DataObject
) -> None:
    body = bytearray.fromhex(frame["hex"])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(len(body) - 1, 0)))
        match data.draw(st.sampled_from(["flip", "cut", "insert"])):
            case "flip" if body:
                body[at] = data.draw(st.integers(0, 255))
            case "cut":
                del body[at:]
            case _:
                body[at:at] = data.draw(st.binary(min_size=1, max_size=6))
    codec = specs.api(frame["key"]).message(frame["direction"]).codec(frame["version"])
    try:
        values = codec.decode(bytes(body))
    except Malformed:
        return
    assert repr(values) == repr(codec.inspect(bytes(body))[0])


def test_announced_counts_allocate_nothing() -> None:
    fetch, metadata = specs.api("Fetch").response, specs.api("Metadata").request
    hostile = [
        (fetch.codec(4), bytes(4) + b"\x7f\xff\xff\xff"),
        (metadata.codec(1), b"\x7f\xff\xff\xff" + bytes(64)),
        (metadata.codec(9), b"\xff\xff\xff\xff\x07" + bytes(64)),
        (metadata.codec(9), b"\x01\x01\x01\x01" + b"\xff\xff\xff\xff\x07" + bytes(64)),
    ]
    for codec, body in hostile:
        codec.decode(codec.encode({}))  # made before anything is measured
        tracemalloc.start()
        with pytest.raises(Malformed):
            codec.decode(body)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 64 << 10


def test_odd_bytes_are_read_and_listed() -> None:
    codec = specs.api("Metadata").request.codec(9)
    body = codec.encode({"topics": [], "allow_auto_topic_creation": True})
    assert codec.inspect(body) == (codec.decode(body), [])
    odd = body.replace(b"\x01\x01", b"\x81\x00\x05", 1) + b"more"
    values, oddities = codec.inspect(odd)
    assert values == codec.decode(odd) == codec.decode(body)
    assert [oddity.what for oddity in oddities] == [
        "overlong varint",
        "boolean 5",
        "4 trailing bytes",
    ]


def test_uuids_and_floats_keep_their_bits() -> None:
    quotas = specs.api("DescribeClientQuotas").response.codec(1)
    entry = {"entity": [], "values": [{"key": "k", "value": -0.0}]}
    again = quotas.decode(quotas.encode({"entries": [entry]}))
    assert str(again["entries"][0]["values"][0]["value"]) == "-0.0"
    fetch = specs.api("Fetch").request.codec(13)
    topic = uuid.UUID(int=77)
    body = fetch.encode({"topics": [{"topic_id": topic}]})
    assert fetch.decode(body)["topics"][0]["topic_id"] == topic


def test_null_in_a_tagged_field_is_a_zero_in_front_of_a_structure() -> None:
    message = embedded.message("ConsumerGroupMemberMetadataValue")
    codec, reference = message.codec(0), message.at(0)
    # as Kafka 4.3.1 wrote it (its generated class has an unsigned varint there)
    for member, tail in (
        (None, "01 00 01 00"),
        ({"session_timeout_ms": 9, "supported_protocols": []}, "01 00 07 01 00000009 01 00"),
    ):
        values = codec.layout.defaults() | {"classic_member_metadata": member}
        body = codec.encode(values)
        assert body.endswith(bytes.fromhex(tail))
        assert codec._decode(body) == codec.decode(body) == reference.parse(body) == values
        assert codec.inspect(body) == (values, [])
        assert encode_carefully(codec.layout, values) == body == reference.build(values)
    odd = body[:-7] + b"\x02" + body[-6:]
    found, oddities = codec.inspect(odd)
    assert (found, [oddity.what for oddity in oddities]) == (values, ["null marker 2"])
    assert codec.decode(odd) == values
