"""What a run came to, from made-up exchanges."""

from __future__ import annotations

import pytest

from barnabas.designs.rebalances.arms import MARK
from barnabas.designs.rebalances.broker_log import GroupEvent
from barnabas.designs.rebalances.broker_log_reader import LoggedOffset
from barnabas.designs.rebalances.figures import figures_of, gives_up
from barnabas.specs.keys import JOIN_GROUP, OFFSET_COMMIT
from tests.designs.rebalances.made import commit, fetch, offset_fetch, passed, run, served

JOIN = passed("m", "JoinGroup", 8, 2.0)
HELD = commit(7, 1.99, forwarded_at=2.0, late=True, error="REBALANCE_IN_PROGRESS")


def test_what_left_behind_the_join_was_overtaken_even_in_the_same_moment() -> None:
    result = figures_of(run([HELD, JOIN]), "m")
    assert (result["entry"], result["exit"], result["overtaken"]) == ("commit", "join", True)
    assert result["error"] == "REBALANCE_IN_PROGRESS"


def test_what_left_before_the_join_was_not() -> None:
    for early in (commit(7, 1.99), commit(7, 1.9, forwarded_at=1.95, late=True), commit(7, 2.0)):
        result = figures_of(run([early, JOIN]), "m")
        assert (result["exit"], result["overtaken"]) == ("commit", False)


def test_a_join_that_was_sent_before_the_commit_is_another_one() -> None:
    result = figures_of(run([passed("m", "JoinGroup", 3, 1.99), HELD]), "m")
    assert (result["entry"], result["exit"], result["overtaken"]) == ("", "", False)


def test_a_new_member_joins_for_good_with_its_second_request() -> None:
    first = passed("a", "JoinGroup", 2, 2.0, error="MEMBER_ID_REQUIRED")
    second = passed("a", "JoinGroup", 3, 2.2)
    between = commit(7, 1.9, forwarded_at=2.1, late=True)
    assert figures_of(run([between, first, second]), "a")["exit"] == "commit"
    assert (
        figures_of(run([between._replace(forwarded_at=2.2), first, second]), "a")["exit"] == "join"
    )


def test_a_retry_is_compared_with_the_newer_commit() -> None:
    again, newer = commit(9, 2.2, "again"), commit(8, 2.1, "newer")
    offset_log = (LoggedOffset(2.1, 0, 30, "newer"), LoggedOffset(2.2, 0, 20, "again"))
    result = figures_of(run([commit(7, 2.0), newer, again], offset_log=offset_log), "newer")
    assert (result["exit"], result["overtaken"], result["in_log"]) == ("join", True, True)
    assert result["kept"] == "0@30 newer, 0@20 again"


def test_without_a_proxy_the_broker_s_log_says_the_order() -> None:
    first, marked = served(1, 1.0, 5, OFFSET_COMMIT), served(5, 2.0, 6, OFFSET_COMMIT)
    late = served(3, 1.9, 7, JOIN_GROUP)
    assert figures_of(run([], log=(first, late, marked)), "m")["broker"] == "join"
    result = figures_of(run([], log=(first, marked, late._replace(came=2.1))), "m")
    assert (result["broker"], result["overtaken"]) == ("commit", False)
    assert (
        figures_of(run([], log=(first, marked, late._replace(came=2.0004))), "m")["broker"]
        == "same ms"
    )
    assert figures_of(run([], log=(first,)), "m")["broker"] == ""


def test_the_group_s_state_is_the_last_one_before_the_commit_was_answered() -> None:
    turns = (
        GroupEvent(2, 1.5, "g0000", "prepares"),
        GroupEvent(4, 2.0, "g0000", "stabilized"),
        GroupEvent(6, 2.1, "g0000", "assigned"),
        GroupEvent(7, 2.2, "g0000", "expired"),
    )
    log = (served(5, 2.0, 7, OFFSET_COMMIT), served(3, 1.9, 8, JOIN_GROUP))
    result = figures_of(run([HELD, JOIN], log=log, turns=turns), "m")
    assert (result["state"], result["broker"]) == ("CompletingRebalance", "join")
    assert (result["rebalances"], result["ghosts"]) == (1, 1)


def test_where_the_new_owner_starts_is_held_against_the_log() -> None:
    kept = (LoggedOffset(1.0, 0, 10, "first"), LoggedOffset(2.45, 0, 20, MARK))
    exchanges = [HELD, JOIN, offset_fetch(2.42, 10), fetch(2.43, 10), fetch(2.6, 15)]
    result = figures_of(run(exchanges, offset_log=kept), "m")
    assert (result["read_from"], result["log_had"], result["first_fetch"]) == (
        {"0": 10},
        {"0": 10},
        {"0": 10},
    )
    assert result["in_log"]
    assert figures_of(run(exchanges, offset_log=kept[:1]), "m")["in_log"] is False


def test_records_are_counted_by_their_ids() -> None:
    result = figures_of(run([HELD, JOIN], again=20), "m")
    assert (result["twice"], result["never"], result["stall_ms"]) == (20, 0, 500)


@pytest.mark.parametrize(
    ("timeout", "partitions", "so"), [(-1, [], True), (-1, None, False), (300_000, [], False)]
)
def test_which_heartbeat_gives_partitions_up(
    timeout: int, partitions: list[int] | None, so: bool
) -> None:
    request = {"rebalance_timeout_ms": timeout, "topic_partitions": partitions}
    assert gives_up(passed("m", "ConsumerGroupHeartbeat", 1, 1.0, request=request)) is so
