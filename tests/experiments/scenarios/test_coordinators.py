"""A coordinator fails in each step of a rebalance, when a newcomer joins two members at work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import Group, generation, group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")

ALL = {"member-0", "member-1", "member-2"}


def behind_work(group: Group, *apis: str) -> list[Exchange]:
    """The exchanges of some APIs since the group was at work."""
    [begun] = fired(group.proxy, "a group is at work")
    return [one for one in group.exchanges(*apis) if one.ts > begun.ts]


def another_was_found(group: Group) -> int:
    """When the last question for another coordinator was asked."""
    return fired(group.proxy, "another one is looked for")[-1].ts


def the_newcomer_joins_again_and_only_then_the_others_are_told(group: Group) -> None:
    [lost] = fired(group.proxy, "a newcomer comes and nothing is done about it")
    assert (lost.api, lost.client_id, lost.response) == ("JoinGroup", "member-2", None)
    refused = fired(group.proxy, "it is not the coordinator any longer")
    assert {one.error for one in refused} == {"NOT_COORDINATOR"}
    behind = behind_work(group, "Heartbeat", "JoinGroup")
    joined = [one.ts for one in behind if one.api == "JoinGroup" and one.error == ""]
    told = [one.ts for one in behind if one.error == "REBALANCE_IN_PROGRESS"]
    assert lost.ts < min(joined) < min(told)


def who_was_not_told_is_told_by_the_next_heartbeat(group: Group) -> None:
    [lost] = fired(group.proxy, "one is told of the rebalance and the next one is not")
    beats = [one for one in behind_work(group, "Heartbeat") if one is not lost]
    first, *others = (one for one in beats if one.error == "REBALANCE_IN_PROGRESS")
    assert {first.client_id, lost.client_id} == {"member-0", "member-1"}
    again = next(one for one in others if one.client_id == lost.client_id)
    assert again.ts > another_was_found(group)


def who_did_not_get_through_joins_again_and_all_get_their_answers(group: Group) -> None:
    [lost] = fired(group.proxy, "one joins again and the next one does not get through")
    assert (lost.api, lost.response) == ("JoinGroup", None)
    [told] = fired(group.proxy, "a rebalance begins")
    joins = [one for one in group.exchanges("JoinGroup") if one.ts > told.ts and one is not lost]
    assert joins[0].client_id != lost.client_id
    assert joins[0].ts < lost.ts
    again = next(one for one in joins if one.client_id == lost.client_id and not one.error)
    assert again.ts > another_was_found(group)


def all_join_again_before_anybody_goes_on(group: Group) -> None:
    lost = fired(group.proxy, "the new generation is decided and nobody hears of it")
    assert sorted(one.client_id or "" for one in lost) == sorted(ALL)
    [decided] = {generation(one) for one in lost}
    again = [one for one in group.exchanges("JoinGroup") if one.ts > lost[-1].ts and not one.error]
    assert {one.client_id for one in again} == ALL
    # the coordinator has kept what it decided; if its leader joins late, it decides once more
    assert min(generation(one) for one in again) >= decided
    synced = [one for one in group.exchanges("SyncGroup") if generation(one) >= decided]
    assert min(one.ts for one in synced) > min(one.ts for one in again)


def who_was_not_told_joins_again(group: Group) -> None:
    [lost] = fired(group.proxy, "some hear of the new generation and some do not")
    decided = generation(lost)
    joins = group.exchanges("JoinGroup")
    others = {one.client_id for one in joins if generation(one) == decided and one is not lost}
    assert others >= ALL - {lost.client_id}
    again = [one for one in joins if one.client_id == lost.client_id and one.ts > lost.ts]
    assert not again[-1].error
    assert generation(again[-1]) >= decided


@pytest.mark.parametrize(
    ("scenario", "check"),
    [
        (
            "coordinator-fails-1-notified",
            the_newcomer_joins_again_and_only_then_the_others_are_told,
        ),
        ("coordinator-fails-2-telling", who_was_not_told_is_told_by_the_next_heartbeat),
        (
            "coordinator-fails-3-joining",
            who_did_not_get_through_joins_again_and_all_get_their_answers,
        ),
        ("coordinator-fails-4-decided", all_join_again_before_anybody_goes_on),
        ("coordinator-fails-5-answered", who_was_not_told_joins_again),
    ],
)
def test_all_three_are_at_work_again(
    scenario: str, check: Callable[[Group], None], cluster: ApacheCluster
) -> None:
    with group_behind(scenario, cluster) as group:
        meet_newcomer(group)
    check(group)
