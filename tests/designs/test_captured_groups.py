"""Groups of the designs on a virtual clock, as the page and `summary` show them."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.lag import Lag
from barnabas.captures.summary.lanes import Lanes
from barnabas.captures.summary.traffic import Traffic
from barnabas.designs.central_coordination.captured_groups import CentralGroups
from barnabas.designs.central_coordination.peers import wire
from barnabas.designs.central_coordination.states import STARTING
from barnabas.designs.consumer_rewrite.captured_groups import RewriteGroups
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.designs.protocol_guide.client_0_8 import requests
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.keys import FETCH, JOIN_GROUP
from barnabas.specs.registry import api
from tests.captures.summary.views import shown
from tests.designs.central_coordination.peers.world import World as Central
from tests.designs.consumer_rewrite.checks.test_checks import commit, heartbeat, join
from tests.designs.consumer_rewrite.peers.world import World as Rewrite
from tests.designs.messages import REGISTER
from tests.designs.wire_tap import Tapped, exchanges

CENTRAL, REWRITE = "central-coordination", "rewrite-0.8.2"


def bands(seen: list[Exchange]) -> list[dict[str, Any]]:
    context = Context()
    return shown(Bands(context), context, *seen).rows()


def lag(seen: list[Exchange]) -> dict[tuple[str, Any], tuple[Any, ...]]:
    context = Context()
    rows = shown(Lag(context), context, *seen).rows()
    return {
        (row["topic"], row["partition"]): (
            *(row["committed"][k] for k in ("offset", "api")),
            row["lag"],
        )
        for row in rows
    }


def fetched(number: int, end: int, error: int = 0) -> Exchange:
    """A Fetch of 0.8, as stands beside a draft's messages; end: of the log, of which nothing is read."""
    part = {"partition_index": number, "error_code": error, "high_watermark": end, "records": b""}
    request, response = (message.codec(0) for message in (api(FETCH).request, api(FETCH).response))
    requested = requests.fetch({("t", number): 0}, max_wait_ms=0, min_bytes=0, max_bytes=1)
    return Exchange(
        *(10_000 * MS, 99, "10.0.0.99:5000", "a", 1, FETCH, 0, 1, 10),
        latency_ms=1,
        request_body=request.encode(requested),
        response_body=response.encode({"responses": [{"topic": "t", "partitions": [part]}]}),
    )


def of_central(*names: str, **options: object) -> Central:
    world = Central(topics={"t": ("0", "1", "2", "3")})
    world.gather(names, **options)
    return world


def of_rewrite(*names: str) -> Rewrite:
    world = Rewrite()
    world.gather(names)
    return world


@pytest.mark.parametrize("design", [CENTRAL, REWRITE])
def test_each_rebalance_is_a_generation(design: str) -> None:
    world = of_central("a", "b") if design == CENTRAL else of_rewrite("a", "b")
    world.run(200)
    world.kill("b")
    world.until(world.settled)
    world.run(500)
    result = bands(exchanges(design, world.tapped))
    assert [(one["generation"], one["members"], one["why"]) for one in result] == [
        (1, 1, "a joined"),
        (2, 2, "b joined"),
        (3, 1, "b was removed"),
    ]
    assert {one["type"] for one in result} == {design}
    assert [len(one["moved"]) for one in result] == [0, 2, 2]
    if design == CENTRAL:
        assert {(one["from"], one["to"]) for one in result[2]["moved"]} == {("b", "a")}


def test_who_leaves_the_rewrite_is_said_to() -> None:
    world = of_rewrite("a", "b")
    world.run(200)
    world.leave("b")
    world.until(world.settled)
    world.run(500)
    assert bands(exchanges(REWRITE, world.tapped))[-1]["why"] == "b left"


@pytest.mark.parametrize("silent", [True, False])
def test_who_does_not_answer_is_late(silent: bool) -> None:
    world = of_central("a", "b")
    world.run(200)
    if silent:
        world.pause("a")
        world.grow("t", "4")
        world.run(2_000)
        assert world.settled()
    else:
        world.grow("t", "4")
        world.until(world.settled)
    world.run(500)
    seen = exchanges(CENTRAL, world.tapped)
    assert bands(seen)[-1]["why"] == ("a did not rejoin in time" if silent else "")
    lanes = {row["client"]: row["events"] for row in shown(Lanes(), Context(), *seen).rows()}
    unanswered = [one for one in lanes["a"] if one["api"] == "StopFetcher" and one["end"] is None]
    assert bool(unanswered) == silent


def test_a_consumer_that_is_slow_to_stop_is_the_one_that_was_waited_for() -> None:
    world = of_central("a", "b", session_timeout_ms=3_000)
    world.run(200)
    world.pause("a")
    world.grow("t", "4")
    world.run(700)
    world.resume("a")
    world.until(world.settled)
    world.run(1_500)
    *_, last = bands(exchanges(CENTRAL, world.tapped))
    assert last["late"]["kind"] == "late"
    assert last["late"]["members"] == ["a"]
    assert 600 < last["late"]["ms"] < 800
    assert 600 < last["standstill_ms"] < 900


def test_who_answers_a_start_behind_others_stops_is_still_of_that_generation() -> None:
    world = of_central("a", "b", "c")
    world.run(200)
    world.grow("t", "4")
    world.until(lambda: world.coordinator.groups["g"].state == STARTING)
    world.pause("a")
    world.run(3)
    world.kill("b")
    world.run(20)
    world.resume("a")
    world.until(world.settled)
    seen = exchanges(CENTRAL, world.tapped)
    late = [one for one in seen if (one.api, one.client_id) == ("StartFetcher", "a")][-2]
    assert (late.latency_ms or 0) >= 20
    result = bands(seen)
    assert [one["generation"] for one in result] == [1, 2, 3, 4, 5]
    assert [one["members"] for one in result] == [1, 2, 3, 3, 2]


def test_lanes_have_what_passed_and_pings_are_runs() -> None:
    world = of_central("a")
    world.run(1_000)
    (lane,) = shown(Lanes(), Context(), *exchanges(CENTRAL, world.tapped)).rows()
    assert (lane["group"], lane["member"], lane["client"]) == ("g", "a", "a")
    reported = [(one["api"], one["generation"], one["error"]) for one in lane["events"]]
    assert reported[:3] == [
        ("RegisterConsumer", -1, ""),
        ("StopFetcher", -1, ""),
        ("StartFetcher", 1, ""),
    ]
    assert [one["api"] for one in lane["events"]][3] == "Ping"
    assert lane["events"][3]["count"] > 5
    colors = ["ConsumerGroupHeartbeat", "JoinGroup", "SyncGroup", "Heartbeat"]
    assert [one["color"] for one in lane["events"]][:4] == colors


def test_lag_of_central_coordination_is_since_the_group_was_stopped() -> None:
    world = of_central("a")
    for at in world.applications["a"].owns:
        world.applications["a"].core.positions[at] = 42
    world.add("b")
    world.until(world.settled)
    world.run(100)
    seen = [*exchanges(CENTRAL, world.tapped), fetched(0, 50), fetched(1, 42)]
    result = lag(seen)
    assert result["t", 0] == (42, "StartFetcher", 8)
    assert result["t", 1] == (42, "StartFetcher", 0)
    assert result["t", 2] == (42, "StartFetcher", None)


def test_lag_of_the_rewrite_is_by_its_commits() -> None:
    world = of_rewrite("a")
    core = world.applications["a"].core
    core.positions = dict.fromkeys(core.positions, 40)
    world._of_consumer("a", core.commit(world.now))
    world.run(10)
    seen = exchanges(REWRITE, world.tapped)
    assert [one.api for one in seen][-1] == "OffsetCommit"
    (about,) = (seen[-1].request or {})["topics"]
    offsets = {row["partition"]: row["offset"] for row in about["partitions"]}
    assert len(offsets) == 4
    result = lag([*seen, fetched(3, 50)])
    assert result == {
        ("t", number): (offset, "OffsetCommit", 50 - offset if number == 3 else None)
        for number, offset in offsets.items()
    }


def test_a_commit_of_the_rewrite_that_was_refused_is_none() -> None:
    made = commit(1, generation=1, error=22)
    made.key = own_key(REWRITE_0_8_2, REWRITE_0_8_2.api("OffsetCommit"))
    assert lag([made]) == {}


def test_what_the_rewrite_does_not_answer_is_in_its_lane() -> None:
    alone = heartbeat(1)
    alone.key = own_key(REWRITE_0_8_2, REWRITE_0_8_2.api("Heartbeat"))
    alone.latency_ms = alone.response_body = None
    (lane,) = shown(Lanes(), Context(), alone).rows()
    assert (lane["group"], lane["member"]) == ("g", "c")
    assert [(one["api"], one["end"], one["error"]) for one in lane["events"]] == [
        ("Heartbeat", None, None)
    ]


def test_partitions_of_0_7_keep_their_names() -> None:
    long = "9" * 5_000
    world = Central(topics={"t": ("0-0", "0-1", "7", long)})
    world.add("a")
    world.until(world.settled)
    groups = DialectGroups()
    lines = [one for each in exchanges(CENTRAL, world.tapped) for one in groups.of(each)]
    (joined,) = [one for one in lines if one.key == JOIN_GROUP and not one.error]
    assert {number for _, number, _ in joined.partitions} == {"0-0", "0-1", 7, long}


def test_of_who_was_refused_only_its_lane_says_so() -> None:
    world = of_central("a")
    world.add("twin", consumer_id="a")
    world.run(300)
    seen = exchanges(CENTRAL, world.tapped)
    assert [one["why"] for one in bands(seen)] == ["a joined"]
    (lane,) = shown(Lanes(), Context(), *seen).rows()
    assert "DuplicateConsumerId" in {one["error"] for one in lane["events"]}


def test_who_reads_a_topic_is_of_the_group_that_it_has_registered_with() -> None:
    world = of_central("a")
    context = Context()
    seen = exchanges(CENTRAL, world.tapped)
    reader = fetched(0, -1, error=1)
    registered = next(one for one in seen if one.api == "RegisterConsumer")
    reader.client_address = registered.client_address

    (row,) = shown(Traffic(context), context, *seen, reader).rows()
    assert (row["topic"], row["group"], row["refused"]) == ("t", "g", 1)


@pytest.mark.parametrize("design", [CENTRAL, REWRITE])
def test_what_is_kept_of_a_group_has_a_bound(design: str) -> None:
    """In one generation that never goes on, of members that nobody has seen before, by names of 30 KB."""
    groups = DialectGroups()
    for number in range(200):
        name = f"{LONG}{number}"
        if design == REWRITE:
            made = [join(number, given=name)]
            made[0].key = own_key(REWRITE_0_8_2, REWRITE_0_8_2.api("JoinGroup"))
        else:
            made = exchanges(CENTRAL, registered(number, name))
            assert [one.api for one in made] == ["RegisterConsumer", "StopFetcher"]
        for one in made:
            list(groups.of(one))
    (reader,) = groups._readers.values()
    assert isinstance(reader, RewriteGroups | CentralGroups)
    (kept,) = (reader._joined if isinstance(reader, RewriteGroups) else reader._groups).values()
    assert kept.weight == 0


LONG = "x" * 30_000


def registered(number: int, name: str) -> Tapped:
    """A consumer registers, and has stopped."""
    body = REGISTER | {"consumer_id": name, "auto_commit": False}
    return [
        (number, number, "request", wire.request("RegisterConsumer", body)),
        (number, number, "response", wire.response("RegisterConsumer")),
        (number, number, "response", wire.request("StopFetcher")),
        (number, number, "request", wire.response("StopFetcher", offsets=False)),
    ]


def test_a_start_that_is_cut_short_is_a_generation_of_its_own() -> None:
    world = of_central("a", "b", "c")
    world.run(200)
    world.grow("t", "4")
    world.until(lambda: world.coordinator.groups["g"].state == STARTING)
    world.kill("b")
    world.until(world.settled)
    world.run(500)
    result = bands(exchanges(CENTRAL, world.tapped))
    assert [one["generation"] for one in result] == list(range(1, len(result) + 1))
    assert (result[-1]["members"], result[-1]["why"]) == (2, "b was removed")
