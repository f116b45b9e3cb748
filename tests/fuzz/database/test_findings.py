from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.database.findings import Findings, FindingsError, finding_name
from barnabas.fuzz.engine.running import run_range
from barnabas.fuzz.engine.stats import Judged, Stats
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker, FakeTarget


def stats(first: int, end: int) -> Stats:
    (batch,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], range(first, end), end)
    return batch.stats


def test_where_findings_fired_is_kept_and_adds_up(tmp_path: Path) -> None:
    first, second = stats(0, 60), stats(60, 120)
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        kept.keep(first, 60, 0)
        kept.keep(second, 120, 1)
        first.merge(second)
        for behaviour, found in first.findings.items():
            assert set(findings.triggers(finding_name(behaviour))) == set(found.triggers)
        assert findings.triggers("nobody") == []


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
    assert (row.name, row.target, row.settings, row.seconds, row.done) == (
        "c", "fake", {"seed": 1}, 1.5, 100,
    )  # fmt: skip


def test_the_same_campaign_goes_on_and_another_one_begins(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        first = findings.campaign("c", "fake", {"seed": 1}, 0.0)
        first.keep(stats(0, 10), 10, 0)
        assert findings.campaign("c", "fake", {"seed": 1}, 9.0).done == 10
        assert findings.campaign("c", "fake", {"seed": 2}, 9.0).done == 0
        assert findings.campaign("c", "fake 2", {"seed": 1}, 9.0).done == 0


def test_two_that_run_one_campaign_are_told(tmp_path: Path) -> None:
    with (
        Findings(tmp_path / "f.db", write=True) as one,
        Findings(tmp_path / "f.db", write=True) as two,
    ):
        first, second = (db.campaign("c", "fake", {}, 0.0) for db in (one, two))
        first.keep(stats(0, 10), 10, 0)
        with pytest.raises(FindingsError, match="another process runs this campaign"):
            second.keep(stats(0, 10), 10, 0)
        assert sum(two.coverage(second.id).values()) == 10


def test_a_smaller_recipe_stands_beside_the_first(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        kept.keep(stats(0, 100), 100, 0)
        one = findings.findings()[0]
        findings.smaller(one, Recipe(SEEDS[0], ()))
        again = findings.findings(prefix=one.name)[0]
    assert again.recipe == one.recipe
    assert again.best == Recipe(SEEDS[0], ())


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
    ],
)
def test_a_damaged_record_is_told_in_a_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "f.db"
    with Findings(path, write=True) as findings:
        findings.campaign("c", "fake", {}, 0.0).keep(stats(0, 100), 100, 0)
    with sqlite3.connect(path) as db:
        db.execute(damage)
    db.close()
    with (
        Findings(path, write=False) as findings,
        pytest.raises(FindingsError, match=r"f\.db has a damaged record: .") as told,
    ):
        findings.findings()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("column", ["settings", "began", "seconds", "done"])
@pytest.mark.parametrize("value", ["'{'", "x'ff00'"])
def test_a_damaged_campaign_is_told_in_a_line(tmp_path: Path, column: str, value: str) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        findings.campaign("c", "fake", {}, 0.0)
        findings._database.connection.execute(f"UPDATE campaigns SET {column} = {value}")
        with pytest.raises(FindingsError, match=r"f\.db has a damaged record: ."):
            findings.campaigns()


def test_damaged_coverage_is_told_in_a_line(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        findings._database.connection.execute("ALTER TABLE coverage RENAME COLUMN cases TO gone")
        with pytest.raises(FindingsError, match=r"f\.db has a damaged record: ."):
            findings.coverage(kept.id)


@pytest.mark.parametrize("column", ["number", "energies", "news"])
def test_a_damaged_round_is_told_in_a_line(tmp_path: Path, column: str) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        kept.keep(stats(0, 100), 100, 0)
        findings._database.connection.execute(f"UPDATE rounds SET {column} = '{{'")
        with pytest.raises(FindingsError, match=r"f\.db has a damaged record: ."):
            findings.rounds(kept.id)


def test_a_campaign_that_goes_on_in_a_damaged_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with Findings(path, write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        kept.keep(stats(0, 100), 100, 0)
        findings._database.connection.execute("UPDATE findings SET observation = 'x'")
        with pytest.raises(FindingsError, match="damaged record"):
            kept.keep(stats(0, 100), 200, 0)
        assert kept.done == 100
        findings._database.connection.execute("UPDATE rounds SET energies = ''")
        with pytest.raises(FindingsError, match="damaged record"):
            kept.energies(0)


def test_a_database_of_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with Findings(path, write=True):
        pass
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(FindingsError, match="format 99"):
        Findings(path, write=True)


def blamed(number: int, *others: int) -> Stats:
    facts = (("together", [*others, number]),) if others else ()
    seen = Observation(FakeMaker("s").case(number), raised="KeyError: x", facts=facts)
    found = Stats()
    found.add(Judged(seen, frozenset(), tuple(RAISED.judge(seen))))
    return found


def test_a_case_that_shows_it_alone_takes_the_place_of_one_that_may_be_innocent(
    tmp_path: Path,
) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        seen = []
        for end, one in enumerate((blamed(3, 2), blamed(5, 4), blamed(7), blamed(9)), 1):
            kept.keep(one, end, 0)
            (row,) = findings.findings()
            findings.smaller(row, Recipe(SEEDS[0], ()))
            seen.append((row.first_case, row.cases, row.smaller is None))
    assert seen == [(3, 1, True), (3, 2, False), (7, 3, True), (7, 4, False)]
