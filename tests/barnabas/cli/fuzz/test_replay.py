"""`barnabas fuzz replay` of a finding that takes several cases, with a client of the tests' own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.cli.fuzz.database import cases_of, finding_by_name, opened
from barnabas.cli.fuzz.options import ReplayOptions
from barnabas.cli.fuzz.replay import fuzz_replay
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import EARLIER
from barnabas.trouble import FINDINGS, FINE, Trouble
from tests.barnabas.cli.fuzz.own_finding import NAME, answered, behind, kept, known

FINE_CASE, HALF, RAISE = map(answered, (b"fine", b"half", b"raise"))


@pytest.mark.parametrize(
    ("before", "last", "outcome"),
    [
        ([HALF, FINE_CASE], HALF, "same"),  # the session behind two halves dies
        ([], HALF, "nothing"),
        ([RAISE, FINE_CASE], HALF, "another"),
    ],
)
def test_all_cases_that_a_finding_takes_are_sent_in_order(
    before: list[Recipe],
    last: Recipe,
    outcome: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known(monkeypatch)
    database = kept(tmp_path, last, behind(*before))
    code = fuzz_replay(ReplayOptions(names=[NAME], db=database, attempts=2, as_json=True))
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["attempt"]) == (outcome, outcome == "same")
    assert code == (FINE if outcome == "nothing" else FINDINGS)


def test_a_finding_of_what_a_case_itself_was_answered_takes_no_others(tmp_path: Path) -> None:
    facts = {"together": [2, 3], EARLIER: [recipe_json(FINE_CASE)]}
    with opened(kept(tmp_path, HALF, facts)) as findings:
        finding = finding_by_name(findings, NAME)
    assert [case.recipe for case in cases_of(finding)] == [FINE_CASE, HALF]
    (its_own,) = cases_of(replace(finding, oracle="closing"))
    assert its_own.recipe == HALF


def test_a_broker_does_not_get_a_client_s_finding(tmp_path: Path) -> None:
    database = kept(tmp_path, HALF, {})
    with pytest.raises(Trouble, match="is about a response: librdkafka takes requests only"):
        fuzz_replay(ReplayOptions(names=[NAME], db=database, target="librdkafka"))


def test_all_findings_of_the_latest_campaign_are_replayed_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known(monkeypatch)
    database = kept(tmp_path, HALF, behind(HALF, FINE_CASE))
    codes = [
        fuzz_replay(ReplayOptions(db=database, as_json=True)),
        fuzz_replay(ReplayOptions(names=[NAME], cause=True, db=database, as_json=True)),
    ]
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["finding"], row["fired"]) for row in rows] == [(NAME, True)] * 2
    assert codes == [FINDINGS, FINDINGS]
