from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.peers.replay.identities import Identities
from barnabas.peers.replay.offsets import Offsets
from barnabas.peers.replay.outcome import compare, expected_response
from barnabas.specs import records
from barnabas.specs.records import Record

ID, LIVE = uuid.UUID(int=1), uuid.UUID(int=2)


def fetched(first: int, count: int, *, error: int = 0, **topic: Any) -> dict[str, Any]:
    found = [Record(first + n, 1, None, b"v%d" % (first + n)) for n in range(count)]
    entry = {
        "partition_index": 0,
        "error_code": error,
        "records": records.build(found) if count else b"",
        "high_watermark": first + count,
    }
    return {"error_code": 0, "responses": [{**(topic or {"topic": "t"}), "partitions": [entry]}]}


def differ(
    key: int, recorded: dict[str, Any], live: dict[str, Any], versions: tuple[int, int] = (11, 11)
) -> list[str]:
    identities, offsets = Identities(), Offsets({ID: "t"})
    offsets.put(("t", 0), 0, 0)
    wanted = expected_response(key, versions, recorded, (identities, offsets), None)
    return [str(one) for one in compare(key, versions, wanted, live)]


@pytest.mark.parametrize("live", [fetched(0, 3), fetched(0, 9), fetched(2, 2), fetched(0, 0)])
def test_records_are_compared_as_far_as_both_have_them(live: dict[str, Any]) -> None:
    assert differ(1, fetched(0, 5), live) == []


def test_other_records_are_a_difference() -> None:
    live = fetched(0, 5)
    other = records.build([Record(n, 1, None, b"w") for n in range(2)])
    live["responses"][0]["partitions"][0]["records"] = other
    found = differ(1, fetched(0, 5), live)
    assert len(found) == 2
    assert found[0].startswith("responses[t].partitions[0].records[0].value")


EMPTY: dict[str, Any] = {"error_code": 0, "responses": []}
REFUSED = fetched(0, 2, error=6)
BY_ID = fetched(0, 2, topic_id=ID)
COUNTS = {
    "only recorded": (fetched(0, 5), EMPTY, (11, 11), 0),
    "only live": (EMPTY, fetched(0, 5), (11, 11), 0),
    "only live with an error": (EMPTY, fetched(0, 0, error=3), (11, 11), 1),
    "topics by id against topics by name": (BY_ID, fetched(0, 2), (13, 12), 0),
    "topics by id against topics by name with an error": (BY_ID, REFUSED, (13, 12), 1),
}


@pytest.mark.parametrize(("recorded", "live", "versions", "count"), COUNTS.values(), ids=COUNTS)
def test_partitions_are_compared_by_topic(
    recorded: dict[str, Any], live: dict[str, Any], versions: tuple[int, int], count: int
) -> None:
    assert len(differ(1, recorded, live, versions)) == count


def test_fields_that_one_version_lacks_are_not_compared() -> None:
    recorded = {"error_code": 0, "protocol_type": "consumer", "assignment": b""}
    assert differ(14, recorded, {"error_code": 0, "assignment": b""}, (5, 4)) == []
    live = {"error_code": 27, "assignment": b""}
    assert differ(14, recorded, live, (5, 4)) == ["error_code: 0 ≠ 27"]


def test_members_are_told_to_a_groups_leader_only() -> None:
    recorded = {"error_code": 0, "protocol_name": "range", "members": [{"member_id": "a"}]}
    assert differ(11, recorded, {**recorded, "members": []}, (5, 5)) == []
    assert len(differ(11, recorded, {**recorded, "protocol_name": "x"}, (5, 5))) == 1
