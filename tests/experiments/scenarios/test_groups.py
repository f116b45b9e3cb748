"""Scenarios that members of a classic group meet."""

from __future__ import annotations

from typing import Any, Final

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import CLASSIC, CONSUMER, group_behind, group_of
from tests.experiments.scenarios.kafka import fired, ready
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

SLOW: Final = CLASSIC | {"heartbeat.interval.ms": 3200}
"""Two of these are longer than the session of 6 s that heartbeats-during-rebalance makes."""


def test_who_commits_in_a_generation_that_is_over_begins_at_the_last_good_commit(
    cluster: ApacheCluster,
) -> None:
    with group_behind("commits-during-rebalance", cluster) as group:
        group.join(2)
        group.until_shared()
        group.work_until("a commit of a generation that is over", 2)
        group.until_shared()
        group.work()
    refused = fired(group.proxy, "a commit of a generation that is over")
    assert [one.error for one in refused] == ["ILLEGAL_GENERATION"] * 2
    assert group.told.count("ILLEGAL_GENERATION") == 2
    assert "lost" in group.told
    assert 0 < group.twice <= 24


@pytest.mark.parametrize("settings", [CLASSIC, CONSUMER], ids=["classic", "consumer"])
def test_members_find_a_coordinator_that_moved_and_stay_who_they_are(
    cluster: ApacheCluster, settings: dict[str, Any]
) -> None:
    topic = "coordinator-moves" + ("" if settings is CLASSIC else "-new")
    with group_of(Harness(cluster.bootstrap), cluster, topic) as group:
        group.join(2, settings)
        group.until_shared()
        group.proxy.replace(ready("coordinator-moves"))  # how long joining takes, nobody knows
        group.work_until("it is not the coordinator any longer")
        group.work()
        loading = group.proxy.rules.rule("the new coordinator is loading the group")
        until(lambda: loading.fired == 3, "the new coordinator has loaded the group")
        group.work()
    refused = fired(group.proxy, "it is not the coordinator any longer")
    assert {one.error for one in refused} == {"NOT_COORDINATOR"}
    asked = fired(group.proxy, "nobody knows the coordinator")
    assert [one.error for one in asked] == ["COORDINATOR_NOT_AVAILABLE"] * 2
    waited = fired(group.proxy, loading.name)
    assert [one.error for one in waited] == ["COORDINATOR_LOAD_IN_PROGRESS"] * 3
    assert group.stayed
    assert not [one for one in group.exchanges("JoinGroup") if one.ts > min(r.ts for r in refused)]
    assert group.twice == 0


def test_who_waits_for_its_join_longer_than_a_session_is_not_given_up(
    cluster: ApacheCluster,
) -> None:
    with group_behind("heartbeats-during-rebalance", cluster) as group:
        group.join(1, SLOW)
        group.until_shared()
        group.join(1, SLOW)
        group.work()
    hidden = fired(group.proxy, "nothing is said of the rebalance")
    assert [one.client_id for one in hidden] == ["member-0"] * 2
    [waiting] = [one for one in group.exchanges("JoinGroup") if (one.latency_ms or 0) > 6000]
    assert (waiting.client_id, waiting.error) == ("member-1", "")
    end = waiting.ts + (waiting.latency_ms or 0) * 1_000_000
    beats = [one.ts for one in group.exchanges("Heartbeat") if one.client_id == "member-1"]
    assert not [ts for ts in beats if waiting.ts < ts < end]
    assert group.stayed
    assert group.twice == 0


def test_a_newcomer_gets_nothing_until_who_hears_late_has_joined(cluster: ApacheCluster) -> None:
    with group_behind("late-join", cluster) as group:
        group.join()
        group.until_shared()
        group.join()
        late = group.proxy.rules.rule("one member hears late of the rebalance")
        until(lambda: late.fired, "the rebalance")
        first, newcomer = group.members
        group.send(60)
        until(lambda: first.received, "the late one reads on")
        assert newcomer.told == []
        group.until_shared()
        group.work()
    [told] = fired(group.proxy, late.name)
    assert (told.client_id, told.error) == ("member-0", "REBALANCE_IN_PROGRESS")
    waited = [one for one in group.exchanges("JoinGroup") if one.client_id == "member-1"][-1]
    assert waited.error == ""
    assert (waited.latency_ms or 0) > 3000
    assert newcomer.received
    assert group.twice == 0


def test_who_commits_in_a_rebalance_is_told_and_librdkafka_goes_on(cluster: ApacheCluster) -> None:
    with group_behind("rebalance-during-commit", cluster) as group:
        group.join(2)
        group.until_shared()
        group.work_until("a rebalance began before the commit", 2)
        group.work()
    refused = fired(group.proxy, "a rebalance began before the commit")
    assert [one.error for one in refused] == ["REBALANCE_IN_PROGRESS"] * 2
    assert group.told.count("REBALANCE_IN_PROGRESS") == 2
    assert group.stayed


def test_a_group_gets_on_between_rebalances_and_is_stable_behind_them(
    cluster: ApacheCluster,
) -> None:
    with group_behind("rebalance-storm", cluster) as group:
        group.join(2)
        group.until_shared()
        group.work_until("a rebalance, again", 8)  # four for each
        group.until_shared()
        group.until_done()
    told = fired(group.proxy, "a rebalance, again")
    assert {one.error for one in told} == {"REBALANCE_IN_PROGRESS"}
    for name in ("member-0", "member-1"):
        mine = [one.ts for one in told if one.client_id == name]
        joins = [one.ts for one in group.exchanges("JoinGroup") if one.client_id == name]
        assert len(mine) == 4
        assert all(any(join > one for join in joins) for one in mine)
    assert group.stayed
    assert group.twice == 0


def test_others_take_over_from_who_is_slow_and_it_joins_as_a_new_member(
    cluster: ApacheCluster,
) -> None:
    with group_of(Harness(cluster.bootstrap), cluster, "slow-consumer") as group:
        group.join(2, CLASSIC | {"session.timeout.ms": 6000})
        group.until_shared()
        group.proxy.replace(ready("slow-consumer"))  # the next heartbeat is late
        slow_beat = group.proxy.rules.rule("a heartbeat later than the session")
        until(lambda: slow_beat.fired, "heartbeats")
        group.send(60)
        until(lambda: max(len(one.owned) for one in group.members) == 6, "one owns all of them")
        group.until_shared()
        group.until_done()
    [late] = fired(group.proxy, slow_beat.name)
    assert late.error == "UNKNOWN_MEMBER_ID"
    [slow] = [one for one in group.members if one.name == late.client_id]
    [other] = [one for one in group.members if one is not slow]
    assert "lost" in slow.told
    assert "lost" not in other.told
    ids = {name: len(ids) for name, ids in group.member_ids.items()}
    assert ids == {slow.name: 2, other.name: 1}
    assert fired(group.proxy, "sessions are short")
    # what the slow one had read and could not commit any longer
    assert 0 < group.twice <= 30
