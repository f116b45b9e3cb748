"""Members of groups that are silent for too long."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, found, frames, whats

S = 1000.0
MEMBER = {"group_id": "g", "generation_id": 1, "member_id": "m"}


def join(at: float, *, session: int = 9000, took: float = 1, **more: Any) -> Exchange:
    asked = {
        "group_id": "g",
        "session_timeout_ms": session,
        "rebalance_timeout_ms": 60000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [],
    }
    answer = {
        "throttle_time_ms": 0,
        "error_code": 0,
        "generation_id": 1,
        "protocol_name": "range",
        "leader": "m",
        "member_id": "m",
        "members": [],
    }
    return exchange("JoinGroup", 2, asked, answer, at=at, took=took, **more)


def beat(at: float, *, error: int | None = 0, **more: Any) -> Exchange:
    answer = None if error is None else {"throttle_time_ms": 0, "error_code": error}
    return exchange("Heartbeat", 1, MEMBER, answer, at=at, **more)


def sync(at: float, took: float = 1) -> Exchange:
    answer = {"throttle_time_ms": 0, "error_code": 0, "assignment": b""}
    return exchange("SyncGroup", 1, {**MEMBER, "assignments": []}, answer, at=at, took=took)


def commit(at: float, *, error: int = 0, **more: Any) -> Exchange:
    asked = {
        "group_id": "g",
        "generation_id_or_member_epoch": 1,
        "member_id": "m",
        "retention_time_ms": -1,
        "topics": [],
    }
    partitions = [{"partition_index": 0, "error_code": error}]
    answer = {"topics": [{"name": "orders", "partitions": partitions}]}
    return exchange("OffsetCommit", 2, asked, answer, at=at, **more)


def leave(at: float) -> Exchange:
    answer = {"throttle_time_ms": 0, "error_code": 0}
    return exchange("LeaveGroup", 1, {"group_id": "g", "member_id": "m"}, answer, at=at)


def test_a_heartbeat_every_third_of_the_session() -> None:
    assert found("heartbeats", join(0), *(beat(n * 3 * S) for n in range(1, 9))) == []


def test_later_than_a_third_and_a_grace() -> None:
    findings = found("heartbeats", join(0), beat(3 * S), beat(7 * S))
    assert whats(findings) == [
        ("warning", "group g: member m (app) was silent for 4 s; its session timeout is 9 s")
    ]
    assert frames(findings) == [[(30001, 30002), (70001, 70002)]]


def test_later_than_the_session() -> None:
    (finding,) = found("heartbeats", join(0), beat(3 * S), beat(13 * S))
    assert finding.severity == "error"


def test_the_share_and_the_grace_can_be_set() -> None:
    late = (join(0), beat(3 * S), beat(7 * S))
    assert found("heartbeats", *late, share=0.5) == []
    assert found("heartbeats", *late, grace_ms=1000.0) == []
    assert len(found("heartbeats", *late, grace_ms=900.0)) == 1


def test_commits_are_signs_of_life() -> None:
    assert found("heartbeats", join(0), beat(3 * S), commit(6 * S), beat(9 * S)) == []


def test_who_waits_for_a_rebalance_need_not_beat() -> None:
    waiting = (join(0, took=20 * S), sync(20 * S + 1, took=20 * S), beat(43 * S))
    assert found("heartbeats", *waiting) == []
    again = (join(0), beat(3 * S, error=27), join(30 * S), beat(33 * S))
    assert found("heartbeats", *again) == []


def test_who_waits_for_the_answer_to_a_heartbeat_sends_no_other() -> None:
    late = beat(3 * S, took=4 * S)
    assert found("heartbeats", join(0), late, beat(10 * S)) == []
    (finding,) = found("heartbeats", join(0), late, beat(17 * S))
    assert "was silent for 10 s; its session timeout is 9 s" in finding.what


@pytest.mark.parametrize("error", [25, 22, 82, 16, None])
def test_who_was_thrown_out_or_has_no_coordinator_counts_from_nothing(error: int | None) -> None:
    assert found("heartbeats", join(0), beat(3 * S, error=error), beat(30 * S)) == []


def test_who_left_is_silent_with_right() -> None:
    assert found("heartbeats", join(0), leave(1 * S), beat(30 * S)) == []


def test_a_member_that_joined_before_the_capture_has_an_unknown_session() -> None:
    assert found("heartbeats", beat(3 * S), beat(30 * S)) == []


def test_where_the_capture_has_a_gap_a_heartbeat_may_be_missing() -> None:
    later = [beat(at * S, losses=1) for at in (20, 23)]
    assert found("heartbeats", join(0), *later) == []


def new_beat(
    at: float, epoch: int, *, name: str = "ConsumerGroupHeartbeat", error: int = 0, **more: Any
) -> Exchange:
    asked = {"group_id": "g", "member_id": "m", "member_epoch": epoch}
    answer = {
        "member_id": "m",
        "member_epoch": max(epoch, 1) if epoch >= 0 else epoch,
        "error_code": error,
        "heartbeat_interval_ms": 5000,
    }
    return exchange(name, 0, asked, answer, at=at, **more)


@pytest.mark.parametrize(
    "name", ["ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"]
)
def test_members_of_new_groups_keep_to_the_brokers_interval(name: str) -> None:
    def beats(*times: float) -> list[Exchange]:
        return [new_beat(at * S, n, name=name) for n, at in enumerate(times)]

    assert found("heartbeats", *beats(0, 5, 10.4, 16)) == []
    (finding,) = found("heartbeats", *beats(0, 5, 16))
    assert finding.severity == "warning"
    assert "silent for 11 s; the broker asked for a heartbeat every 5 s" in finding.what
    assert found("heartbeats", *beats(0, 5, 16), intervals=3.0) == []


def test_the_grace_goes_on_top_of_the_intervals() -> None:
    late = (new_beat(0, 0), new_beat(10.9 * S, 1))
    assert len(found("heartbeats", *late)) == 1
    assert found("heartbeats", *late, grace_ms=1000.0) == []


def test_an_epoch_of_0_joins_and_is_never_late() -> None:
    assert found("heartbeats", new_beat(0, 0), new_beat(60 * S, 0), new_beat(64 * S, 1)) == []


def test_members_of_new_groups_may_leave_and_come_again() -> None:
    back = (new_beat(0, 0), new_beat(1 * S, -1), new_beat(60 * S, 0), new_beat(65 * S, 1))
    assert found("heartbeats", *back) == []


def test_a_member_that_is_given_its_id_is_known_by_it() -> None:
    """In v0 of KIP-848 a member may begin without an id."""
    asked = {"group_id": "g", "member_id": "", "member_epoch": 0}
    answer = {"member_id": "m", "member_epoch": 1, "error_code": 0, "heartbeat_interval_ms": 5000}
    given = exchange("ConsumerGroupHeartbeat", 0, asked, answer, at=0)
    assert len(found("heartbeats", given, new_beat(20 * S, 1))) == 1


def test_commits_of_members_with_an_interval_have_no_session_to_keep() -> None:
    """Only heartbeats keep them in the group (KIP-848), however seldom they commit."""
    slow = [new_beat(0, 0), commit(3 * S), new_beat(5 * S, 1), commit(8 * S), new_beat(10 * S, 1)]
    assert found("heartbeats", *slow) == []
    assert found("heartbeats", new_beat(0, 0), commit(9.9 * S), new_beat(10 * S, 1)) == []


def test_commits_do_not_hide_that_heartbeats_stay_away() -> None:
    silent = (new_beat(0, 0), *(commit(at * S) for at in (4, 8, 12, 16, 20)))
    (finding,) = found("heartbeats", *silent)
    assert finding.severity == "warning"
    assert finding.what == (
        "group g: member m (app) commits, but has sent no heartbeat for 20 s; the broker asked for a "
        "heartbeat every 5 s"
    )
    assert frames([finding]) == [[(1, 2), (200001, 200002)]]
    refused = commit(9 * S, error=113)  # STALE_MEMBER_EPOCH
    assert len(found("heartbeats", new_beat(0, 0), refused, commit(12 * S))) == 1


def test_a_silence_is_told_once_and_a_new_one_again() -> None:
    silent = [new_beat(0, 0), commit(12 * S), commit(16 * S), new_beat(22 * S, 1)]
    (first,) = found("heartbeats", *silent)
    assert "commits, but has sent no heartbeat for 22 s" in first.what
    heard = [new_beat(27 * S, 1)]
    assert found("heartbeats", *silent, *heard) == [first]
    again = found("heartbeats", *silent, *heard, commit(40 * S), new_beat(42 * S, 1))
    assert [one.what.split("; the broker")[0] for one in again[1:]] == [
        "group g: member m (app) commits, but has sent no heartbeat for 15 s"
    ]
    (both,) = found("heartbeats", *silent, new_beat(40 * S, 1))
    assert "was silent for too long 2 times in a row, at most for 22 s" in both.what
    assert frames([both]) == [[(1, 2), (220001, 220002)]]


@pytest.mark.parametrize(
    "end",
    [
        (),  # the capture ends
        (beat(30 * S),),
        (leave(30 * S),),
        (beat(30 * S, error=25),),
        (beat(30 * S, losses=1),),
        (join(28 * S), beat(29 * S)),
    ],
)
def test_silences_in_a_row_are_one_finding(end: tuple[Exchange, ...]) -> None:
    late = [beat(at * S) for at in (3, 7, 11.5, 15.5, 20, 24, 28)]
    (finding,) = found("heartbeats", join(0), *late, *end)
    assert (finding.severity, finding.what) == (
        "warning",
        "group g: member m (app) was silent for too long 6 times in a row, at most for 4.5 s; its session "
        "timeout is 9 s",
    )
    assert frames([finding]) == [[(70001, 70002), (115001, 115002)]]
    assert "at most a third of session.timeout.ms" in finding.advice


def test_each_member_has_silences_of_its_own() -> None:
    other = {**MEMBER, "member_id": "n"}
    answer = {"throttle_time_ms": 0, "error_code": 0}
    others = [exchange("Heartbeat", 1, other, answer, at=at * S + 1) for at in (3, 6, 9, 12)]
    late = [beat(at * S) for at in (4, 8, 12)]
    mixed = sorted((*late, *others), key=lambda one: one.ts)
    (finding,) = found("heartbeats", join(0), *mixed)
    assert (
        "member m (app) was silent for too long 3 times in a row, at most for 4 s" in finding.what
    )


def test_a_heartbeat_in_time_ends_a_row_and_a_commit_does_not() -> None:
    first, second = found("heartbeats", join(0), *(beat(at * S) for at in (4, 8, 10, 14)))
    assert "too long 2 times in a row" in first.what
    assert "was silent for 4 s" in second.what
    (both,) = found("heartbeats", join(0), beat(4 * S), commit(6 * S), beat(10 * S))
    assert "too long 2 times in a row" in both.what


def test_a_row_does_not_go_over_a_gap_or_an_absence() -> None:
    torn = (commit(5 * S, losses=1), beat(9 * S, losses=1))
    assert len(found("heartbeats", join(0), beat(4 * S), *torn)) == 2
    before, after = found(
        "heartbeats", join(0), beat(4 * S), beat(8 * S, error=25), join(9 * S), beat(13 * S)
    )
    assert "too long 2 times in a row" in before.what
    assert "was silent for 4 s" in after.what


def test_a_session_that_is_over_is_told_after_what_led_to_it() -> None:
    late, over = found("heartbeats", join(0), beat(4 * S), beat(8 * S), beat(18 * S))
    assert (late.severity, over.severity) == ("warning", "error")
    assert "too long 2 times in a row" in late.what
    assert "was silent for 10 s" in over.what


def test_that_a_silence_had_the_member_removed_is_told_though_the_silence_was() -> None:
    late, out = found("heartbeats", new_beat(0, 0), commit(12 * S), new_beat(60 * S, 1, error=25))
    assert (late.severity, out.severity) == ("warning", "error")
    assert "was silent for 60 s" in out.what
    assert "now answers UNKNOWN_MEMBER_ID" in out.what


def test_a_heartbeat_may_be_under_way_on_another_connection() -> None:
    assert found("heartbeats", new_beat(0, 0), commit(12 * S, connection=2)) == []
    assert found("heartbeats", join(0), commit(12 * S, connection=2)) == []
    assert len(found("heartbeats", join(0), commit(12 * S))) == 1


def test_a_member_that_was_removed_for_its_silence() -> None:
    (finding,) = found("heartbeats", new_beat(0, 0), new_beat(60 * S, 1, error=25))
    assert finding.severity == "error"
    assert finding.what == (
        "group g: member m (app) was silent for 60 s; the broker asked for a heartbeat every 5 s and "
        "now answers UNKNOWN_MEMBER_ID"
    )
