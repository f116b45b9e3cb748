from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.database.findings import Findings, FindingsError, StoredCampaign
from barnabas.fuzz.engine.energy import MOST, of_fields
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.engine.stats import Cell, Field, Judged, Stats
from barnabas.fuzz.oracles.oracle import Verdict
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker, FakeTarget


def stats(first: int, end: int) -> Stats:
    (batch,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], range(first, end))
    return batch.stats


@pytest.fixture
def findings(tmp_path: Path) -> Iterator[Findings]:
    with Findings(tmp_path / "f.db", write=True) as database:
        yield database


@pytest.fixture
def kept(findings: Findings) -> StoredCampaign:
    return findings.campaign("c", "fake", {}, 0.0)


def test_a_finding_keeps_all_that_is_known_of_it(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {"seed": 1}, 7.0)
        kept.keep(stats(0, 100), 100, 0)
        kept.spent(1.5)
    with Findings(tmp_path / "f.db", write=False) as findings:
        one, *_ = findings.findings()
        (row,) = findings.campaigns()
    case = FakeMaker("s").case(one.first_case)
    assert one.recipe == case.recipe
    assert one.observation.sent == case.chunks
    assert one.observation.raised
    assert one.capture.startswith(b"\x0a\x0d\x0d\x0a")
    assert case.chunks[0] in one.capture
    about = row.name, row.target, row.settings, row.seconds, row.done
    assert about == ("c", "fake", {"seed": 1}, 1.5, 100)


def test_two_that_run_one_campaign_are_told(
    tmp_path: Path, findings: Findings, kept: StoredCampaign
) -> None:
    with Findings(tmp_path / "f.db", write=True) as other:
        second = other.campaign("c", "fake", {}, 0.0)
        kept.keep(stats(0, 10), 10, 0)
        with pytest.raises(FindingsError, match="another process runs this campaign"):
            second.keep(stats(0, 10), 10, 0)
        assert sum(other.coverage(second.id).values()) == 10


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("no database" * 100)
    sqlite3.connect(other).execute("CREATE TABLE mine (a)").connection.close()
    for path in (text, other, tmp_path / "none", tmp_path / ("x" * 300)):
        before = path.read_bytes() if path in (text, other) else None
        for write in (False, True) if before is not None else (False,):
            with pytest.raises(FindingsError, match=path.name):
                Findings(path, write=write)
        assert (path.read_bytes() if path in (text, other) else None) == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE findings SET recipe = 'x'",
        "UPDATE findings SET observation = '[{}]'",
        "UPDATE findings SET behaviour = '['",
        "UPDATE findings SET behaviour = 7",
        "UPDATE findings SET smaller = x'ff'",
        *(
            f"UPDATE campaigns SET {column} = {value}"
            for column in ("settings", "began", "seconds", "done")
            for value in ("'{'", "x'ff00'")
        ),
        "ALTER TABLE coverage RENAME COLUMN cases TO gone",
        *(f"UPDATE rounds SET {column} = '{{'" for column in ("number", "energies", "news")),
    ],
)
def test_a_damaged_record_is_told_in_a_line(
    findings: Findings, kept: StoredCampaign, damage: str
) -> None:
    kept.keep(stats(0, 100), 100, 0)
    findings._database.connection.execute(damage)
    read: dict[str, Callable[[], object]] = {
        "findings": findings.findings,
        "campaigns": findings.campaigns,
        "coverage": lambda: findings.coverage(kept.id),
        "rounds": lambda: findings.rounds(kept.id),
    }
    (about,) = {*read} & {*damage.split()}
    with pytest.raises(FindingsError, match=r"f\.db has a damaged record: .") as told:
        read[about]()
    assert "\n" not in str(told.value)


def test_a_campaign_that_goes_on_in_a_damaged_database_says_so(
    findings: Findings, kept: StoredCampaign
) -> None:
    kept.keep(stats(0, 100), 100, 0)
    findings._database.connection.execute("UPDATE findings SET observation = 'x'")
    with pytest.raises(FindingsError, match="damaged record"):
        kept.keep(stats(0, 100), 200, 0)
    assert kept.done == 100
    findings._database.connection.execute("UPDATE rounds SET energies = ''")
    with pytest.raises(FindingsError, match="damaged record"):
        kept.energies(0)


def test_a_database_of_another_format_is_named(tmp_path: Path, findings: Findings) -> None:
    findings._database.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(FindingsError, match="format 99"):
        Findings(tmp_path / "f.db", write=True)


def blamed(number: int, *others: int) -> Stats:
    facts = (("together", [*others, number]),) if others else ()
    seen = Observation(FakeMaker("s").case(number), raised="KeyError: x", facts=facts)
    found = Stats()
    found.add(Judged(seen, frozenset(), tuple(RAISED.judge(seen))))
    return found


def test_a_case_that_shows_it_alone_takes_the_place_of_one_that_may_be_innocent(
    findings: Findings, kept: StoredCampaign
) -> None:
    seen = []
    for end, one in enumerate((blamed(3, 2), blamed(5, 4), blamed(7), blamed(9)), 1):
        kept.keep(one, end, 0)
        (row,) = findings.findings()
        findings.smaller(row, Recipe(SEEDS[0], ()))
        seen.append((row.first_case, row.cases, row.smaller is None))
    assert seen == [(3, 1, True), (3, 2, False), (7, 3, True), (7, 4, False)]


def test_cases_that_were_set_aside_have_their_reasons_if_they_were_stored(
    findings: Findings, kept: StoredCampaign
) -> None:
    case = FakeMaker("s").case(1)
    seen = [Observation(case, facts=((SET_ASIDE, reason),)) for reason in ("x", "y", "x")]
    stats = Stats()
    for observation in seen:
        stats.add(Judged(observation, frozenset(), ()))
    kept.keep(stats, 3, 0)
    assert [(row.reason, row.cases) for row in findings.aside(kept.id)] == [("x", 2), ("y", 1)]
    connection = findings._database.connection
    connection.execute(
        "INSERT INTO aside SELECT campaign, api, version, mutator, 7, 1, recipe FROM set_aside LIMIT 1"
    )
    assert [row.reason for row in findings.aside()] == ["", "x", "y"]
    connection.execute("DROP TABLE set_aside")
    assert [(row.reason, row.cases) for row in findings.aside()] == [("", 7)]


@pytest.mark.parametrize(("oracle", "kept_cases"), [("logged", 2), ("closing", 1)])
def test_one_case_is_kept_for_each_field_where_a_behaviour_is_frames(
    findings: Findings, kept: StoredCampaign, oracle: str, kept_cases: int
) -> None:
    stats, verdict = Stats(), Verdict(oracle, "no", ("java.lang.Error", "kafka.A.f"))
    for number, path in enumerate(("topics[0].name", "topics[1].name", "topics.count")):
        case = FakeMaker("s").case(number)
        recipe = Recipe(SEEDS[0], (Change("nulls", path, 1),))
        seen = Observation(case._replace(recipe=recipe))
        stats.add(Judged(seen, frozenset(), (verdict,)))
    kept.keep(stats, 3, 0)
    assert len(findings.findings()) == kept_cases
    assert sum(finding.cases for finding in findings.findings()) == 3


FILE = Unit("p", "f", False)


@pytest.mark.parametrize("settings", [{"coverage": "feedback"}, {}])
def test_fields_that_nothing_showed_get_energy_in_campaigns_with_feedback(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    silent, seen = Cell("Fetch", 4, "a", "null"), Cell("Fetch", 4, "b", "null")
    once = Stats(coverage=Counter({silent: 2, seen: 2}), as_valid=Counter({silent: 2, seen: 1}))
    often = Stats(coverage=Counter({silent: MOST}), as_valid=Counter({silent: MOST}))
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", settings, 0.0)
        kept.reached({FILE: Lines(1, 15)})
        assert of_fields(kept.energies(0)) == {}
        kept.keep(once, 10, 0)
        kept.end_round(0)
        given = {Field("Fetch", 4, "a"): MOST // 2} if settings else {}
        assert of_fields(kept.energies(1)) == given
        kept.keep(often, 20, 1)
        assert of_fields(kept.energies(1)) == given  # whoever runs the round again gets the same
        kept.end_round(1)
        assert of_fields(kept.energies(2)) == {}
