"""The errors of the default template are what brokers may report, and what is known is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from barnabas.experiments.explore.cuts import CUTS, Cut, cuts, fits, scenario_text
from barnabas.experiments.explore.errors import ERRORS, known_errors
from barnabas.experiments.explore.recording import Step
from barnabas.experiments.explore.target import Target, target
from barnabas.proxy.scenario.lint.notes import warnings
from tests.places import ROOT

EACH = [(cut, api) for cut in ERRORS for api in sorted(cut.apis)]


@pytest.mark.parametrize(("cut", "api"), EACH, ids=[f"{api} {cut.name}" for cut, api in EACH])
def test_each_error_applies_to_its_apis(cut: Cut, api: str) -> None:
    assert fits(Step(1, "c", api, 0, 0), cut)
    assert not warnings(_target(cut, api).scenario)


def test_a_program_may_end_after_errors_that_reach_it() -> None:
    final = {(api, cut.name) for cut, api in EACH if _target(cut, api).may_end_program}
    assert final == {
        ("Produce", "MESSAGE_TOO_LARGE"),
        *(("OffsetCommit", name) for name in ("REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION")),
        ("OffsetCommit", "STALE_MEMBER_EPOCH"),
    }
    for cut in cuts(CUTS, "cuts"):
        assert not _target(cut, "Produce").may_end_program


def _target(cut: Cut, api: str) -> Target:
    return target(scenario_text(Step(1, "c", api, 0, 0), cut), "001.yaml")


def test_an_api_has_few_errors_and_none_twice() -> None:
    names = {(api, cut.name) for cut, api in EACH}
    assert len(names) == len(EACH)
    assert max(sum(api == other for _, other in EACH) for _, api in EACH) <= 4


def test_known_errors_are_those_of_the_library_and_these() -> None:
    known = known_errors()
    assert {"REBALANCE_IN_PROGRESS", "OFFSET_METADATA_TOO_LARGE"} <= known["OffsetCommit"]
    assert "LEADER_NOT_AVAILABLE" in known["Metadata"]


def test_the_errors_are_documented() -> None:
    rows = re.findall(
        r"^\| `([A-Z_]+)` \| (.*) \|$",
        Path(ROOT, "docs/howto/explore.md").read_text(),
        re.MULTILINE,
    )
    documented = {(name, api) for name, apis in rows for api in re.findall(r"\b[A-Z]\w+", apis)}
    assert documented == {(cut.name, api) for cut, api in EACH}
