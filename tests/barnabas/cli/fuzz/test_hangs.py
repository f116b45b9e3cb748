"""Hangs of a campaign run again after its cases: confirmed, withdrawn, or left for the next run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.fuzz.hangs import ATTEMPTS, confirm_hangs
from barnabas.fuzz.cases.case import Case, Change
from barnabas.fuzz.cases.observation import HUNG_AMONG_OTHERS, Observation, Probe
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.engine.stats import Judged, Stats
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.specs.keys import METADATA
from tests.fuzz.fakes import FakeTarget
from tests.fuzz.observed import case, request

ORACLES = (ORACLES_BY_NAME["client-hung"],)
SEED_CASE = case(request(METADATA, 1, {"topics": [{"name": "a"}]}))


def hanging(number: int, field: str) -> Observation:
    """A session that did not end, with a case that changes a field, as confirmed among other sessions."""
    mutator = "counts" if field.endswith(".count") else "emptiness"
    recipe = SEED_CASE.recipe._replace(changes=(Change(mutator, field, 1),))
    probe = Probe(False, 4000.0, "a session had not ended")
    return Observation(cook(recipe, number), probe=probe, facts=(("confirmed", True),))


class Alone(FakeTarget):
    """A client that hangs with cases that change `topics.count`, each time or at the second run."""

    def __init__(self, *, hangs_at: int) -> None:
        super().__init__()
        self.hangs_at = hangs_at

    def one_by_one(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for one in cases:
            self.ran.append(one.number)
            hung = hanging(one.number, "topics.count")
            hangs = one.recipe == hung.case.recipe and self.ran.count(one.number) >= self.hangs_at
            yield hung if hangs else Observation(one)


class Reported:
    def __init__(self) -> None:
        self.confirmations: dict[str, bool] = {}
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def confirmed(self, finding: Finding, *, hangs: bool) -> None:
        self.confirmations[finding.behaviour[-1]] = hangs


@pytest.fixture
def findings(tmp_path: Path) -> Iterator[Findings]:
    """A database with a hang of two fields, of which the second had three cases."""
    with Findings(tmp_path / "f.db", write=True) as findings:
        stored = findings.campaign("c", "fake", {}, 0.0)
        stats = Stats()
        for number, field in enumerate(("topics.count", *["topics[0].name"] * 3)):
            observation = hanging(number, field)
            stats.add(Judged(observation, frozenset(), judge(observation, ORACLES)))
        stored.keep(stats, 4, 0)
        yield findings


def confirm(findings: Findings, target: Alone, *, over: bool = False) -> Reported:
    progress: Any = Reported()
    (campaign,) = findings.campaigns()
    confirm_hangs(findings, campaign.id, target.one_by_one, ORACLES, progress, lambda: over)
    return progress  # type: ignore[no-any-return]


@pytest.mark.parametrize("hangs_at", [1, ATTEMPTS])
def test_a_hang_that_recurs_alone_is_confirmed_and_another_is_withdrawn(
    findings: Findings, hangs_at: int
) -> None:
    target = Alone(hangs_at=hangs_at)
    before = {finding.behaviour[-1]: finding for finding in findings.findings()}
    assert all(finding.to_confirm for finding in before.values())
    progress = confirm(findings, target)
    assert progress.confirmations == {"topics.count": True, "name": False}
    (finding,) = findings.findings()
    assert not finding.to_confirm
    assert finding.name == before["topics.count"].name
    (aside,) = findings.aside()
    assert (aside.reason, aside.cases, aside.first_case) == (HUNG_AMONG_OTHERS, 3, 1)
    assert findings.triggers(before["name"].name) == []
    ran = len(target.ran)
    assert confirm(findings, target).notes == [], "nothing is left to confirm"
    assert len(target.ran) == ran


def test_hangs_without_time_wait_for_the_next_run(findings: Findings) -> None:
    target = Alone(hangs_at=1)
    progress = confirm(findings, target, over=True)
    assert (progress.confirmations, target.ran) == ({}, [])
    assert all(finding.to_confirm for finding in findings.findings())
