"""Steps, owners and commits of the consumer rewrite, as a capture shows them."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.finding import MS, Finding
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.consumer_rewrite.checks import CHECKS
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from tests.designs.messages import JOIN, committed_rows

ILLEGAL_GENERATION = 22


def exchange(name: str, at: int, request: dict[str, Any], response: dict[str, Any]) -> Exchange:
    api = REWRITE_0_8_2.api(name)
    return Exchange(
        *(at * MS, 1, "10.0.0.1:5000", "app", 1, api.key, api.version, at, 10),
        latency_ms=1,
        request_body=api.request.codec(api.version).encode(request),
        response_body=api.responses[0].codec(api.version).encode(response),
        request_packet=at,
        response_packet=at + 1,
    )


def join(
    at: int,
    *,
    given: str = "c",
    generation: int = 1,
    numbers: tuple[int, ...] = (0,),
    known: str = "",
) -> Exchange:
    asked = JOIN | {"session_timeout": 1000, "consumer_id": known}
    owns = [{"topic": "t", "partitions": list(numbers)}]
    who = {"group_generation_id": generation, "consumer_id": given}
    came = {"error_code": 0, **who, "assigned_partitions": owns}
    return exchange("JoinGroup", at, asked, came)


def heartbeat(at: int, *, error: int = 0, generation: int = 1) -> Exchange:
    asked = {"group_id": "g", "group_generation_id": generation, "consumer_id": "c"}
    return exchange("Heartbeat", at, asked, {"error_code": error})


def commit(at: int, *, generation: int = 1, error: int = 0) -> Exchange:
    who = {"group_id": "g", "group_generation_id": generation, "consumer_id": "c"}
    asked = who | {"topics": [committed_rows("t", 1)]}
    told = [{"topic": "t", "partition_responses": [{"partition": 0, "error_code": error}]}]
    return exchange("OffsetCommit", at, asked, {"responses": told})


def leave(at: int) -> Exchange:
    return exchange("LeaveGroup", at, {"group_id": "g", "consumer_id": "c"}, {"error_code": 0})


def found(*exchanges: Exchange) -> list[Finding]:
    return [finding for _, finding in run(exchanges, CHECKS)]


def test_a_life() -> None:
    assert (
        found(
            *(
                join(10),
                heartbeat(20),
                commit(30),
                heartbeat(40, error=ILLEGAL_GENERATION),
                commit(50),
            ),
            *(join(60, generation=2, known="c"), heartbeat(70, generation=2), leave(80)),
            *(join(90, given="d", generation=3), join(100, given="c", generation=4)),
        )
        == []
    )


def test_a_heartbeat_in_place_of_a_join() -> None:
    (finding,) = found(join(10), heartbeat(20, error=ILLEGAL_GENERATION), heartbeat(30))
    assert finding.severity == "error"
    assert "is not allowed in state STOPPED_CONSUMPTION" in finding.what
    assert [one.packets for one in finding.evidence] == [(20, 21), (30, 31)]


def test_a_heartbeat_that_was_under_way() -> None:
    late = heartbeat(20)
    late.ts, late.latency_ms = 19 * MS, 5
    assert found(join(10), heartbeat(20, error=ILLEGAL_GENERATION), late) == []


def test_two_owners_of_a_partition() -> None:
    (finding,) = found(join(10, numbers=(0, 1)), join(20, given="d", numbers=(1, 2)))
    assert finding.what == "group g: c and d both own t-1 in generation 1"
    assert found(join(10, numbers=(0, 1)), join(20, given="d", generation=2, numbers=(1, 2))) == []


@pytest.mark.parametrize("generation", [1, 3])
def test_a_commit_of_another_generation(generation: int) -> None:
    life = (join(10), join(20, generation=2, known="c"))
    (finding,) = found(*life, commit(30, generation=generation))
    assert f"a commit of generation {generation} was accepted" in finding.what
    assert found(*life, commit(30, generation=generation, error=ILLEGAL_GENERATION)) == []


def test_a_generation_that_goes_back() -> None:
    (finding,) = found(join(10, generation=5), join(20, given="d", generation=4, numbers=(1,)))
    assert finding.what == "group g: generation 4 came after generation 5"


def test_behind_a_gap_nothing_is_known() -> None:
    later = [heartbeat(30), join(40, given="d")]
    for one in later:
        one.losses = 1
    assert found(join(10), heartbeat(20, error=ILLEGAL_GENERATION), *later) == []


def test_what_is_no_exchange_of_the_rewrite() -> None:
    one = join(10)
    one.response_body = b"\x00"
    other = heartbeat(20)
    other.version = 1
    assert found(one, other) == []
