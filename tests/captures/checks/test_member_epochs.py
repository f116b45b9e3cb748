"""Steps that the protocol of KIP-848 does not have."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, found, frames, whats

UNKNOWN_MEMBER_ID = 25
FENCED_MEMBER_EPOCH = 110
NOT_COORDINATOR = 16

NAMES = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")


def beat(
    at: float, epoch: int, given: int, *, error: int = 0, name: str = NAMES[0], **more: Any
) -> Exchange:
    asked = {"group_id": "g", "member_id": "m", "member_epoch": epoch}
    answer = {
        "member_id": "m",
        "member_epoch": given,
        "error_code": error,
        "heartbeat_interval_ms": 5000,
    }
    return exchange(name, 0, asked, answer, at=at, **more)


@pytest.mark.parametrize("name", NAMES)
def test_a_life(name: str) -> None:
    steps = ((0, 3), (3, 3), (3, 4), (4, 4), (-1, -1), (0, 6), (6, 6), (-2, -2), (0, 6))
    life = [beat(n * 3, *epochs, name=name) for n, epochs in enumerate(steps)]
    assert found("member_epochs", *life) == []


def test_an_epoch_that_nobody_gave() -> None:
    findings = found("member_epochs", beat(0, 0, 3), beat(5, 2, 3))
    assert whats(findings) == [
        ("warning", "group g: member m sent a heartbeat with epoch 2; its current epoch is 3")
    ]
    assert frames(findings) == [[(1, 2), (51, 52)]]


def test_a_heartbeat_that_was_under_way_has_the_epoch_before() -> None:
    assert found("member_epochs", beat(0, 0, 3), beat(5, 3, 4, took=9), beat(6, 3, 4)) == []


def test_a_client_that_gave_up_waiting_does_not_know_its_epoch() -> None:
    """It sends its heartbeat again on another connection; a broker takes the epoch before for that reason."""
    life = (beat(0, 0, 3), beat(5, 3, 4), beat(3005, 3, 4, connection=2))
    assert found("member_epochs", *life, beat(3010, 4, 4, connection=2)) == []
    assert len(found("member_epochs", *life, beat(3010, 3, 4, connection=2))) == 1


def test_a_client_that_gave_up_waiting_does_not_know_that_it_was_fenced() -> None:
    fenced = (beat(0, 0, 3), beat(5, 3, 0, error=FENCED_MEMBER_EPOCH))
    again = beat(3005, 3, 0, error=FENCED_MEMBER_EPOCH, connection=2)
    assert found("member_epochs", *fenced, again) == []
    more = beat(3010, 3, 0, error=FENCED_MEMBER_EPOCH, connection=2)
    (finding,) = found("member_epochs", *fenced, again, more)
    assert frames([finding]) == [[(30051, 30052), (30101, 30102)]]
    (finding,) = found("member_epochs", *fenced, beat(3005, 3, 3, connection=2))
    assert finding.severity == "error"  # whatever the client knows, the broker does


def test_an_epoch_that_goes_back() -> None:
    findings = found("member_epochs", beat(0, 0, 3), beat(5, 3, 2))
    assert whats(findings) == [
        ("error", "group g: the broker answered member m with epoch 2, lower than its 3")
    ]


@pytest.mark.parametrize("error", [UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, 69])
def test_a_client_that_goes_on_though_it_was_fenced(error: int) -> None:
    fenced = (beat(0, 0, 3), beat(5, 3, 0, error=error))
    assert found("member_epochs", *fenced, beat(10, 0, 5), beat(15, 5, 5)) == []
    (finding,) = found("member_epochs", *fenced, beat(10, 3, 0, error=error))
    assert finding.severity == "warning"
    (finding,) = found("member_epochs", *fenced, beat(10, 3, 3))
    assert finding.severity == "error"


def test_other_errors_change_nothing() -> None:
    moved = (beat(0, 0, 3), beat(5, 3, 0, error=NOT_COORDINATOR), beat(10, 3, 3))
    assert found("member_epochs", *moved) == []


def test_who_left_beats() -> None:
    assert len(found("member_epochs", beat(0, 0, 3), beat(5, -1, -1), beat(10, 3, 3))) == 1


def test_members_that_joined_before_the_capture_are_not_known() -> None:
    assert found("member_epochs", beat(0, 7, 7), beat(5, 3, 3)) == []


def test_behind_a_gap_nothing_is_known() -> None:
    assert found("member_epochs", beat(0, 0, 3), beat(5, 7, 7, losses=1)) == []


def test_a_member_that_is_given_its_id_is_known_by_it() -> None:
    """In v0 of KIP-848 a member may begin without an id."""
    asked = {"group_id": "g", "member_id": "", "member_epoch": 0}
    answer = {"member_id": "m", "member_epoch": 3, "error_code": 0, "heartbeat_interval_ms": 5000}
    given = exchange(NAMES[0], 0, asked, answer, at=0)
    assert found("member_epochs", given, beat(5, 3, 3)) == []
    assert len(found("member_epochs", given, beat(5, 2, 3))) == 1
