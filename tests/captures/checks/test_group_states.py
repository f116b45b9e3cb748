"""Steps that the classic group protocol does not have."""

from __future__ import annotations

import pytest

from tests.captures.checks.given import found, frames, whats
from tests.captures.checks.groups import beat, commit, join, leave, sync

UNKNOWN_MEMBER_ID = 25
ILLEGAL_GENERATION = 22
REBALANCE_IN_PROGRESS = 27
NOT_COORDINATOR = 16


def test_a_life() -> None:
    assert (
        found(
            "group_states",
            *(join(1), sync(3, assigns=("m",)), beat(5), commit(6)),
            *(beat(7, error=REBALANCE_IN_PROGRESS), commit(8), join(9, generation=2)),
            *(sync(11, generation=2, error=REBALANCE_IN_PROGRESS), join(13, generation=3)),
            *(sync(15, generation=3), beat(17, generation=3), leave(19)),
            *(join(21, generation=4), sync(23, generation=4)),
        )
        == []
    )


def test_the_broker_takes_a_heartbeat_of_a_member_that_left() -> None:
    findings = found("group_states", join(1), sync(3), leave(5), beat(9))
    assert whats(findings) == [
        (
            "error",
            "group g: Heartbeat of member m in state UNJOINED (it has no generation, or was told "
            "that it is a member no longer) was accepted",
        )
    ]
    assert frames(findings) == [[(51, 52), (91, 92)]]


@pytest.mark.parametrize("error", [UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, 82])
def test_a_client_that_goes_on_though_it_was_thrown_out(error: int) -> None:
    life = (join(1), sync(3), beat(5, error=error))
    (finding,) = found("group_states", *life, beat(9, error=error))
    assert finding.severity == "warning"
    assert found("group_states", *life, join(9, generation=2), sync(11, generation=2)) == []


def test_a_client_that_gave_up_waiting_does_not_know_that_it_was_thrown_out() -> None:
    """It sends its heartbeat again on another connection, where it is told."""
    life = (join(1), sync(3), beat(5, error=UNKNOWN_MEMBER_ID))
    again = beat(3005, error=UNKNOWN_MEMBER_ID, connection=2)
    assert found("group_states", *life, again) == []
    rejoined = (join(3010, generation=2, connection=2), sync(3020, generation=2, connection=2))
    assert found("group_states", *life, again, *rejoined) == []
    (finding,) = found(
        "group_states", *life, again, beat(3010, error=UNKNOWN_MEMBER_ID, connection=2)
    )
    assert frames([finding]) == [[(30051, 30052), (30101, 30102)]]
    (finding,) = found("group_states", *life, beat(3005, connection=2))
    assert finding.severity == "error"  # whatever the client knows, the coordinator does


def test_what_was_under_way_when_it_was_thrown_out() -> None:
    life = (join(1), sync(3), beat(5, error=UNKNOWN_MEMBER_ID, took=9))
    assert found("group_states", *life, beat(6, error=UNKNOWN_MEMBER_ID, took=9)) == []


def test_a_coordinator_that_is_elsewhere_changes_nothing() -> None:
    life = (join(1), sync(3), beat(5, error=NOT_COORDINATOR), beat(9))
    assert found("group_states", *life) == []


def test_another_generation_is_taken() -> None:
    rejoined = (join(1), sync(3), join(5, generation=2), sync(7, generation=2))
    findings = found("group_states", *rejoined, beat(9, generation=1))
    assert whats(findings) == [
        (
            "error",
            "group g: the broker accepted Heartbeat of generation 1 from member m, which is in "
            "generation 2",
        )
    ]
    assert found("group_states", *rejoined, beat(9, generation=1, error=ILLEGAL_GENERATION)) == []
    assert found("group_states", *rejoined[:3], sync(7, generation=1)) != []


def test_a_sync_of_who_was_told_to_join_again_is_taken() -> None:
    told = (join(1), sync(3), beat(5, error=REBALANCE_IN_PROGRESS), sync(9))
    (finding,) = found("group_states", *told)
    assert "SyncGroup of member m in state PREPARING_REBALANCE" in finding.what


def test_a_follower_hands_out_assignments() -> None:
    (finding,) = found("group_states", join(1, leader="other"), sync(3, assigns=("m",)))
    assert finding.severity == "error"
    assert "is not the leader of generation 1" in finding.what
    assert found("group_states", join(1, leader="m"), sync(3, assigns=("m",))) == []


def test_another_generation_may_have_another_leader() -> None:
    first = (join(1, leader="m"), sync(3, assigns=("m",)))
    lost = (join(5, leader="other", generation=2), sync(7, assigns=("m",), generation=2))
    (finding,) = found("group_states", *first, *lost)
    assert "is not the leader of generation 2" in finding.what
    followed = (join(1, leader="other"), sync(3))
    won = (join(5, leader="m", generation=2), sync(7, assigns=("m",), generation=2))
    assert found("group_states", *followed, *won) == []


def test_an_application_may_commit_but_nobody_may_take_it() -> None:
    life = (join(1), sync(3), leave(5))
    assert found("group_states", *life, commit(9, error=UNKNOWN_MEMBER_ID)) == []
    assert len(found("group_states", *life, commit(9))) == 1


def test_members_that_joined_before_the_capture_are_not_known() -> None:
    assert found("group_states", beat(1), sync(3), leave(5), beat(9)) == []


def test_behind_a_gap_nothing_is_known() -> None:
    life = (join(1), sync(3), leave(5))
    assert found("group_states", *life, beat(9, losses=1)) == []
