"""Positions committed by members of a past generation."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import found, frames, whats
from tests.captures.checks.groups import commit, join, transact

ILLEGAL_GENERATION = 22


def test_commits_of_the_present_generation() -> None:
    rejoined = (join(1, generation=1), commit(5), join(9, generation=2), commit(15, generation=2))
    assert found("commits", *rejoined) == []


def test_a_refused_one() -> None:
    late = commit(15, generation=1, error=ILLEGAL_GENERATION)
    findings = found("commits", join(9, generation=2), late)
    assert whats(findings) == [
        (
            "warning",
            "group g: a commit of generation 1 was rejected: ILLEGAL_GENERATION; the member is "
            "in generation 2",
        )
    ]
    assert frames(findings) == [[(91, 92), (151, 152)]]


def test_one_that_was_sent_before_the_join_and_overtaken_by_it() -> None:
    """As with a commitAsync: the evidence is in the order in which they were sent."""
    overtaken = commit(5, generation=1, error=ILLEGAL_GENERATION, took=20)
    findings = found("commits", join(9, generation=2), overtaken)
    assert frames(findings) == [[(51, 52), (91, 92)]]


@pytest.mark.parametrize(
    ("error", "severity"),
    [(25, "warning"), (82, "warning"), (110, "warning"), (27, "note"), (113, "note")],
)
def test_what_else_refuses_a_commit(error: int, severity: str) -> None:
    (finding,) = found("commits", commit(15, error=error))
    assert finding.severity == severity


def test_other_errors_are_not_about_generations() -> None:
    assert found("commits", commit(15, error=16), commit(16, error=28)) == []


def test_a_stale_one_that_was_taken() -> None:
    findings = found("commits", join(9, generation=2), commit(15, generation=1))
    assert whats(findings) == [
        (
            "error",
            "group g: the broker accepted a commit of generation 1 from a member that had joined "
            "generation 2",
        )
    ]


def test_one_that_was_taken_before_the_member_could_know() -> None:
    assert found("commits", join(9, generation=2, took=10), commit(15, generation=1)) == []


def test_a_join_that_was_refused_or_never_answered_gives_no_generation() -> None:
    unanswered = join(9, generation=2)
    unanswered.response_body = unanswered.latency_ms = None
    for refused in (join(9, generation=2, error=25), unanswered):
        assert found("commits", join(1, generation=1), refused, commit(15, generation=1)) == []


def test_members_begin_with_epoch_0() -> None:
    """Of 0 and more; below it nobody is a member."""
    (finding,) = found("commits", commit(15, generation=0, error=ILLEGAL_GENERATION))
    assert "a commit of generation 0 was rejected" in finding.what


def test_who_is_no_member_may_commit() -> None:
    assert found("commits", join(9, generation=2), commit(15, member="", generation=-1)) == []
    assert found("commits", commit(15, member="", generation=-1, error=25)) == []


@pytest.mark.parametrize("error", [22, 25, 82, 110, 113])
def test_a_transaction_whose_offsets_are_refused_is_fenced_as_designed(error: int) -> None:
    """KIP-447: so a zombie's transaction can't commit, and nothing is read twice."""
    (finding,) = found("commits", join(9, generation=2), transact(20, error=error))
    assert finding.severity == "note"
    assert finding.what.startswith(
        "group g: a transaction's offsets of generation 1 were rejected: "
    )
    assert finding.advice.startswith("Fencing as designed (KIP-447): ")
    assert "onPartitionsRevoked" not in finding.advice


def test_who_commits_again_by_itself_is_not_told_to_commit_earlier() -> None:
    (finding,) = found("commits", commit(15, error=27))
    assert finding.advice == "The client commits again once it has rejoined, or with its new epoch."


def test_offsets_of_a_transaction() -> None:
    assert (
        found("commits", transact(20, None, error=ILLEGAL_GENERATION)) == []
    )  # v2 names no generation
    (taken,) = found("commits", join(9, generation=2), transact(20))
    assert taken.severity == "error"


def committed(*offsets: int, apart: float = 10, **more: Any) -> list[Exchange]:
    return [
        commit(1 + apart * number, offset=offset, **more) for number, offset in enumerate(offsets)
    ]


def test_positions_that_go_back_again_and_again() -> None:
    findings = found("commits", *committed(100, 90, 110, 105, 120, 90, 130, 90))
    assert whats(findings) == [
        (
            "warning",
            "group g: the committed offset of orders[0] went back 3 times within 40 ms, at last "
            "from 120 to 90",
        )
    ]
    assert frames(findings) == [[(411, 412), (511, 512)]]


def test_a_position_that_goes_back_now_and_then() -> None:
    assert found("commits", *committed(100, 90, 100, 90, 100)) == []  # sought twice
    assert found("commits", *committed(*(100, 90) * 20, apart=40_000)) == []
    assert found("commits", *committed(*(100, 90) * 20, error=16)) == []  # refused


def test_positions_of_transactions_go_back_where_one_is_aborted() -> None:
    back = [transact(1 + 10 * number, offset=offset) for number, offset in enumerate((9, 7) * 20)]
    assert found("commits", *back) == []
