"""What the proxy refuses a request with, beside what Kafka's own classes do, for every API and version."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest

from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.versions import LOGGER
from barnabas.proxy.error_responses.error_response import error_response
from barnabas.specs import NAMES, api
from tests.golden.frames import BY_API

CODE: Final = 41
"""NOT_CONTROLLER: no class treats it in a way of its own."""

JACKSON: Final = "com.fasterxml.jackson.core:jackson-databind:2.21.2"
"""Some request classes are not loaded without it."""

CASES: Final = ("full", "largest", "random-0", "random-1", "nulls-leaf", "defaults")

ON_TOP: Final = {
    "Fetch": range(13, api("Fetch").versions[1] + 1),
    "OffsetFetch": range(2, 11),
    "LeaveGroup": range(3, 6),
    "AddPartitionsToTxn": range(4, 6),
    "OffsetDelete": range(1),
    "Vote": range(3),
    "BeginQuorumEpoch": range(2),
    "EndQuorumEpoch": range(2),
    "DescribeQuorum": range(3),
    "AlterPartition": range(4),
    "UpdateFeatures": range(2),
    "FetchSnapshot": range(2),
    "AssignReplicasToDirs": range(1),
    "ShareFetch": range(3),
    "ShareAcknowledge": range(3),
    "DescribeShareGroupOffsets": range(2),
    "AlterShareGroupOffsets": range(1),
    "DeleteShareGroupOffsets": range(1),
}
"""Versions in which Java has the code on an outer level only, though inner ones have room for it: the
proxy puts it on every level, with an entry for all that was asked for."""

OTHERWISE: Final = {
    ("Metadata", 12): "for a topic that is asked for by its id Java writes an empty name, we null",
    ("Metadata", 13): "as v12",
    ("DescribeUserScramCredentials", 0): "Java leaves the users' names out",
}
"""(API, version) -> what else differs, in some requests."""

UNTRIED: Final = {"DescribeAcls": "Java refuses to read most filters with made-up elements"}
"""API -> why there may be a version of which Java reads no request that there is."""

Row = frozenset[tuple[str, str]]


def requests() -> list[dict[str, Any]]:
    return [
        frame
        for frames in BY_API.values()
        for frame in frames
        if frame["direction"] == "request" and frame["case"] in CASES
    ]


def java_refuses(version: str, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the error responses of kafka-clients of a version to each request."""
    from tests.proxy.java_process import ask_java

    jars = class_path((f"org.apache.kafka:kafka-clients:{version}", LOGGER, JACKSON))
    keys = {"key": "key", "version": "version", "body": "hex"}
    requested = [
        {name: frame[key] for name, key in keys.items()} | {"code": CODE} for frame in frames
    ]
    return ask_java("refusal", map(json.dumps, requested), jars)


def answers(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the error responses of the newest release that reads each request.

    Kafka 4.0 has removed old versions.
    """
    result = java_refuses("4.4.0", frames)
    left = [at for at, answer in enumerate(result) if "error" in answer]
    for at, older in zip(left, java_refuses("3.9.1", [frames[at] for at in left]), strict=True):
        if "error" not in older:
            result[at] = older
    return result


def rows(value: Any, path: str = "", above: Row = frozenset()) -> Iterator[Row]:
    """Yield the top level, and each entry with a code, together with the entries around it.

    Messages are left out: Java has a text in some, which its clients have too. So is whether empty records
    are null, which differs between its releases.
    """
    entries = [
        (name, item)
        for name, inner in value.items()
        if isinstance(inner, list)
        for item in inner
        if isinstance(item, dict) and "error_code" in str(item)
    ]
    left_out = {"error_message", "records", *(name for name, _ in entries)}
    own = frozenset(
        (f"{path}{name}", repr(inner))
        for name, inner in value.items()
        if name not in left_out and not hollow(inner)
    )
    if not path or any(name.endswith("error_code") for name in value):
        yield above | own
    for name, item in entries:
        yield from rows(item, f"{path}{name}.", above | own if path else frozenset())


def hollow(value: Any) -> bool:
    """Return whether a value is an empty array, or one of entries around empty ones."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and any(map(hollow, item.values())) for item in value
    )


@pytest.mark.needs_apache("3.9.1")
def test_a_refusal_says_at_least_what_javas_own_says() -> None:
    frames = requests()
    compared: set[tuple[str, int]] = set()
    wrong: dict[tuple[str, int], str] = {}
    more: defaultdict[str, set[int]] = defaultdict(set)
    otherwise: set[tuple[str, int]] = set()
    for frame, answer in zip(frames, answers(frames), strict=True):
        kind = frame["api"], frame["version"]
        result = api(frame["key"])
        request = result.request.codec(frame["version"]).decode(bytes.fromhex(frame["hex"]))
        if "error" in answer:
            continue
        if answer["body"] is None:
            assert frame["api"] == "Produce"
            assert request["acks"] == 0
            continue
        codec = result.response.codec(frame["version"])
        ours = error_response(frame["key"], frame["version"], request, CODE)
        mine = set(rows(codec.decode(codec.encode(ours))))
        theirs = set(rows(codec.decode(bytes.fromhex(answer["body"]))))
        compared.add(kind)
        if mine == theirs:
            continue
        if kind in OTHERWISE:
            otherwise.add(kind)
        elif theirs < mine:
            more[frame["api"]].add(frame["version"])
        else:
            wrong[kind] = f"{frame['case']}: {theirs - mine} is not in {mine - theirs}"
    assert wrong == {}
    assert dict(more) == {name: set(versions) for name, versions in ON_TOP.items()}
    assert otherwise == set(OTHERWISE)
    every = {(NAMES[key], v) for key in NAMES for v in versions_of(key)}
    assert {name for name, _ in every - compared} <= UNTRIED.keys()


def versions_of(key: int) -> range:
    first, last = api(key).versions
    return range(first, last + 1)


@pytest.mark.parametrize("name", NAMES.values())
def test_every_request_can_be_refused_on_every_level(name: str) -> None:
    """Each error code of the response is the one, and there is one if the API has any."""
    for frame in BY_API[name]:
        if frame["direction"] != "request":
            continue
        result = api(frame["key"])
        request = result.request.codec(frame["version"]).decode(bytes.fromhex(frame["hex"]))
        codec = result.response.codec(frame["version"])
        answer = codec.decode(
            codec.encode(error_response(frame["key"], frame["version"], request, CODE))
        )
        assert {code for _, code in codes(answer)} <= {CODE}
        if "error_code" in [slot.name for slot in codec.layout.slots]:
            assert answer["error_code"] == CODE


def codes(value: Any) -> Iterator[tuple[str, int]]:
    match value:
        case dict():
            for name, inner in value.items():
                if str(name).endswith("error_code") and name != "topic_config_error_code":
                    yield name, inner
                yield from codes(inner)
        case list():
            for item in value:
                yield from codes(item)


def refused(name: str, version: int, **request: Any) -> dict[str, Any]:
    result = api(name)
    codec = result.request.codec(version)
    whole = codec.decode(codec.encode(request))
    answer = result.response.codec(version)
    return answer.decode(answer.encode(error_response(result.key, version, whole, CODE)))


def test_entries_that_names_do_not_tell() -> None:
    creations = [{"resource_name": "a"}, {"resource_name": "b"}]
    entry = {"error_code": CODE, "error_message": None}
    assert refused("CreateAcls", 1, creations=creations)["results"] == [entry, entry]
    users = refused(
        "AlterUserScramCredentials", 0, deletions=[{"name": "a"}], upsertions=[{"name": "b"}]
    )
    assert [result["user"] for result in users["results"]] == ["a", "b"]
    states = [{"topic_name": "t", "partition_states": [{"partition_index": 4}]}]
    (partition,) = refused("LeaderAndIsr", 2, topic_states=states)["partition_errors"]
    assert partition == {"topic_name": "t", "partition_index": 4, "error_code": CODE}
