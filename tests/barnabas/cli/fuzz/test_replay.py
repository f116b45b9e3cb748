"""`barnabas fuzz replay` of a finding that takes several cases, with a client of the tests' own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.replay import fuzz_replay
from barnabas.fuzz.cases.case import Recipe
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
    code = fuzz_replay(NAME, database, attempts=2, as_json=True, output=Output())
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["attempt"]) == (outcome, outcome == "same")
    assert code == (FINE if outcome == "nothing" else FINDINGS)


def test_a_broker_does_not_get_a_client_s_finding(tmp_path: Path) -> None:
    database = kept(tmp_path, HALF, {})
    with pytest.raises(Trouble, match="is about a response: embedded takes requests only"):
        fuzz_replay(NAME, database, target="embedded", output=Output())
