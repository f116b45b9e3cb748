from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from barnabas.cli.fuzz.shrinking import Effort, make_smaller
from barnabas.fuzz.cases.case import Case, Change, Role
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.engine.stats import Judged, Stats
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.specs.keys import METADATA
from tests.fuzz.fakes import FakeTarget
from tests.fuzz.observed import case, request

PLACE = ("java.lang.Error", "kafka.A.f")
ASK = request(METADATA, 1, {"topics": [{"name": "a"}]})
CHANGED = case(ASK).recipe._replace(changes=(Change("counts", "topics.count", 1),))


def says(name: str, behaviour: tuple[str, ...], *, changed: bool = False) -> Oracle:
    """An oracle that says the same of each case, or of those with a change."""

    def judge(observation: Observation) -> Iterator[Verdict]:
        if observation.case.recipe.changes or not changed:
            yield Verdict(name, f"of {len(observation.case.recipe.changes)} changes", behaviour)

    return Oracle(name, "", frozenset(("broker",)), judge, "")


ORACLES = (
    says("logged", PLACE),
    says("server_error", ("Metadata", "error_code", *PLACE)),
    says("closing", ("Metadata", "closed", *PLACE), changed=True),
    says("responses", ("Metadata", "topics")),
)


class Counting(FakeTarget):
    """Runs cases, and says how many."""

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        self.ran += [one.number for one in cases]
        yield from map(Observation, cases)


class Worn(Counting):
    """A broker that a campaign has fenced: all is refused until it is started anew."""

    role: Role = "broker"

    def __init__(self) -> None:
        super().__init__()
        self.starts = 0

    def reset(self) -> None:
        self.starts += 1

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        yield from super().run(cases) if self.starts else ()


class Told:
    """Progress, as far as it is told of shrinking."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.shrunk: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def shrinking(self, finding: Finding, number: int, count: int) -> None:
        self.shrunk.append(finding.oracle)


def shrunk(
    tmp_path: Path, end: float = math.inf, target: Counting | None = None
) -> tuple[Told, dict[str, Finding], int]:
    """What became of a finding of each oracle, all of one case; and how many cases that took."""
    told: Any = Told()
    target = target or Counting()
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        seen, stats = Observation(cook(CHANGED, 3)), Stats()
        stats.add(Judged(seen, frozenset(), judge(seen, ORACLES)))
        kept.keep(stats, 4, 0)
        make_smaller(findings, kept.id, target, ORACLES, told, Effort(100, end))
        return told, {one.oracle: one for one in findings.findings()}, len(target.ran)


def test_of_those_of_one_cause_one_is_shrunk_and_its_case_is_that_of_others_that_it_shows(
    tmp_path: Path,
) -> None:
    told, found, _ = shrunk(tmp_path)
    assert told.shrunk == ["responses", "server_error"]
    assert told.notes == ["shrinking 2 findings: at most 30 s each"]
    assert found["logged"].smaller is not None
    assert found["logged"].smaller.changes == ()
    assert found["logged"].smaller == found["server_error"].smaller
    assert found["closing"].smaller is None, "it is not shown any more"


def test_a_broker_on_which_nothing_fires_any_more_is_started_anew_once(tmp_path: Path) -> None:
    target = Worn()
    _, found, _ = shrunk(tmp_path, target=target)
    assert target.starts == 1
    assert found["logged"].smaller is not None
    assert found["logged"].smaller.changes == ()


def test_without_time_all_is_left_for_when_the_campaign_goes_on(tmp_path: Path) -> None:
    told, found, ran = shrunk(tmp_path, 0.0)
    assert told.notes == ["shrinking 2 findings: at most 0 s in all"]
    assert (told.shrunk, ran) == ([], 0)
    assert not any(one.smaller for one in found.values())
