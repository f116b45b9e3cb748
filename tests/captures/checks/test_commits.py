"""Test for offsets committed by members of an old generation."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import descriptions, evidence_packets, findings_of
from tests.captures.checks.groups import commit, join, transact

ILLEGAL_GENERATION = 22


def committed(*offsets: int, apart: float = 10, **more: Any) -> list[Exchange]:
    return [commit(1 + apart * n, offset=offset, **more) for n, offset in enumerate(offsets)]


def unanswered(one: Exchange) -> Exchange:
    return dataclasses.replace(one, response_body=None, latency_ms=None)


CASES = {
    "of the present generation": (0, [join(1), commit(5), join(9, generation=2), commit(15, generation=2)]),
    "other errors": (0, [commit(15, error=16), commit(16, error=28)]),
    "taken before the member could know": (0, [join(9, generation=2, took=10), commit(15)]),
    "a join that was refused": (0, [join(1), join(9, generation=2, error=25), commit(15)]),
    "a join that was never answered": (0, [join(1), unanswered(join(9, generation=2)), commit(15)]),
    "of no member": (0, [join(9, generation=2), commit(15, member="", generation=-1)]),
    "of no member and refused": (0, [commit(15, member="", generation=-1, error=25)]),
    "of a transaction without a generation": (0, [transact(20, None, error=ILLEGAL_GENERATION)]),
    "sought twice": (0, committed(100, 90, 100, 90, 100)),
    "back to the beginning": (1, committed(100, 0, 100, 0, 100, 0)),
    "back now and then": (0, committed(*(100, 90) * 20, apart=40_000)),
    "back but refused": (0, committed(*(100, 90) * 20, error=16)),
    # one may be aborted
    "back in transactions": (0, [transact(1 + 10 * n, offset=9 - n % 2) for n in range(40)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("commits", *exchanges)) == findings


TEXTS = {
    "refused": (
        [join(9, generation=2), commit(15, error=ILLEGAL_GENERATION)],
        (
            "warning",
            "a commit of generation 1 was rejected: ILLEGAL_GENERATION; the member is in generation 2",
        ),
        [(91, 92), (151, 152)],
    ),
    # as with a commitAsync: the evidence is in the order in which they were sent
    "sent before the join and overtaken by it": (
        [join(9, generation=2), commit(5, error=ILLEGAL_GENERATION, took=20)],
        (
            "warning",
            "a commit of generation 1 was rejected: ILLEGAL_GENERATION; the member is in generation 2",
        ),
        [(51, 52), (91, 92)],
    ),
    # of 0 and more; below it nobody is a member
    "generation 0": (
        [commit(15, generation=0, error=ILLEGAL_GENERATION)],
        ("warning", "a commit of generation 0 was rejected: ILLEGAL_GENERATION"),
        [(151, 152)],
    ),
    "a stale one that was taken": (
        [join(9, generation=2), commit(15)],
        ("error", "the broker accepted a commit of generation 1 from a member that had joined generation 2"),
        [(91, 92), (151, 152)],
    ),
    "a stale transaction that was taken": (
        [join(9, generation=2), transact(20)],
        ("error", "the broker accepted a commit of generation 1 from a member that had joined generation 2"),
        [(91, 92), (201, 202)],
    ),
    "positions that go back again and again": (
        committed(100, 90, 110, 105, 120, 90, 130, 90),
        (
            "warning",
            "the committed offset of orders[0] went back 3 times within 40 ms, at last from 120 to 90",
        ),
        [(411, 412), (511, 512)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "what", "packets"), TEXTS.values(), ids=TEXTS)
def test_what_is_said(
    exchanges: list[Exchange], what: tuple[str, str], packets: list[tuple[int, int]]
) -> None:
    findings = findings_of("commits", *exchanges)
    severity, text = what
    assert descriptions(findings) == [(severity, f"group g: {text}")]
    assert evidence_packets(findings) == [packets]


@pytest.mark.parametrize(
    ("error", "severity"),
    [(25, "warning"), (82, "warning"), (110, "warning"), (27, "note"), (113, "note")],
)
def test_what_else_refuses_a_commit(error: int, severity: str) -> None:
    (finding,) = findings_of("commits", commit(15, error=error))
    assert finding.severity == severity
    again = "The client commits again once it has rejoined, or with its new epoch."
    assert (finding.advice == again) == (severity == "note")


@pytest.mark.parametrize("error", [22, 25, 82, 110, 113])
def test_a_transaction_whose_offsets_are_refused_is_fenced_as_designed(error: int) -> None:
    """KIP-447: so a zombie's transaction can't commit, and nothing is read twice."""
    (finding,) = findings_of("commits", join(9, generation=2), transact(20, error=error))
    assert finding.severity == "note"
    what = "group g: a transaction's offsets of generation 1 were rejected: "
    assert finding.what.startswith(what)
    assert finding.advice.startswith("Fencing as designed (KIP-447): ")
    assert "onPartitionsRevoked" not in finding.advice
