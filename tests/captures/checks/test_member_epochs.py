"""Test for steps that the protocol of KIP-848 does not allow."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import descriptions, evidence_packets, findings_of
from tests.captures.checks.groups import GROUP_HEARTBEATS
from tests.captures.checks.groups import group_heartbeat as beats

REMOVED = {"unknown": 25, "fenced": 110, "group not found": 69}
NOT_COORDINATOR = 16
LIFE = ((0, 3), (3, 3), (3, 4), (4, 4), (-1, -1), (0, 6), (6, 6), (-2, -2), (0, 6))

JOINED = beats(0, 0, 3)
# it sends its heartbeat again on another connection; a broker takes the epoch before for that reason
GAVE_UP = (JOINED, beats(5, 3, 4), beats(3005, 3, 4, connection=2))
FENCED = (JOINED, beats(5, 3, 0, error=110))
FENCED_AGAIN = (*FENCED, beats(3005, 3, 0, error=110, connection=2))
# in v0 of KIP-848 a member may begin without an id
GIVEN_ID = beats(0, 0, 3, asked="")

CASES = {
    **{
        name: (0, [beats(n * 3, *one, name=name) for n, one in enumerate(LIFE)])
        for name in GROUP_HEARTBEATS
    },
    "under way with the epoch before": (0, [JOINED, beats(5, 3, 4, took=9), beats(6, 3, 4)]),
    "gave up waiting": (0, [*GAVE_UP, beats(3010, 4, 4, connection=2)]),
    "goes on with the epoch before": (1, [*GAVE_UP, beats(3010, 3, 4, connection=2)]),
    "gave up waiting and was fenced": (0, FENCED_AGAIN),
    **{
        f"{name} and joins anew": (
            0,
            [JOINED, beats(5, 3, 0, error=error), beats(10, 0, 5), beats(15, 5, 5)],
        )
        for name, error in REMOVED.items()
    },
    "other errors": (0, [JOINED, beats(5, 3, 0, error=NOT_COORDINATOR), beats(10, 3, 3)]),
    "who left goes on": (1, [JOINED, beats(5, -1, -1), beats(10, 3, 3)]),
    "joined before the capture": (0, [beats(0, 7, 7), beats(5, 3, 3)]),
    "is given an earlier epoch": (1, [JOINED, beats(5, 3, 1)]),
    "behind a gap": (0, [JOINED, beats(5, 7, 7, losses=1)]),
    "was given its id": (0, [GIVEN_ID, beats(5, 3, 3)]),
    "was given its id and another epoch": (1, [GIVEN_ID, beats(5, 2, 3)]),
}


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("member_epochs", *exchanges)) == findings


def test_an_epoch_that_nobody_gave() -> None:
    findings = findings_of("member_epochs", JOINED, beats(5, 2, 3))
    what = "group g: member m sent a heartbeat with epoch 2; its current epoch is 3"
    assert (descriptions(findings), evidence_packets(findings)) == (
        [("warning", what)],
        [[(1, 2), (51, 52)]],
    )


def test_an_epoch_that_goes_back() -> None:
    what = "group g: the broker answered member m with epoch 2, lower than its 3"
    assert descriptions(findings_of("member_epochs", JOINED, beats(5, 3, 2))) == [("error", what)]


def test_the_evidence_is_where_the_client_heard_that_it_was_fenced() -> None:
    again = [beats(at, 3, 0, error=110) for at in (10, 15)]
    packets = evidence_packets(findings_of("member_epochs", *FENCED, *again))
    assert packets == [[(51, 52), (101, 102)], [(51, 52), (151, 152)]]
    findings = findings_of(
        "member_epochs", *FENCED_AGAIN, beats(3010, 3, 0, error=110, connection=2)
    )
    assert evidence_packets(findings) == [[(30051, 30052), (30101, 30102)]]


@pytest.mark.parametrize("error", REMOVED.values(), ids=REMOVED)
def test_a_client_that_goes_on_though_it_was_fenced(error: int) -> None:
    """Whatever the client knows, the broker does know."""
    fenced = (JOINED, beats(5, 3, 0, error=error))
    for again, severity in (
        (beats(10, 3, 0, error=error), "warning"),
        (beats(10, 3, 3), "error"),
        (beats(3005, 3, 3, connection=2), "error"),
    ):
        (finding,) = findings_of("member_epochs", *fenced, again)
        assert finding.severity == severity
