from __future__ import annotations

from pathlib import Path

from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.database.findings import Findings, Reached
from barnabas.fuzz.engine.stats import Cell, Stats

FILE, PARSER = Unit("p", "f", False), Unit("p", "f.read", True)


def test_what_is_kept_first_is_of_valid_messages_and_what_follows_adds_up(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", {}, 0.0)
        other = findings.campaign("d", "t", {}, 0.0)
        assert findings.reached(kept.id) == {}
        assert not kept.counted()
        kept.reached({FILE: Lines(1, 15)})
        assert kept.counted()
        assert not other.counted()
        kept.reached({FILE: Lines(2, 15), PARSER: Lines(1, 3)})
        kept.reached({FILE: Lines(4, 15), PARSER: Lines(0, 3)})
    with Findings(tmp_path / "f.db", write=False) as findings:
        assert findings.reached(kept.id) == {FILE: Reached(15, 1, 7), PARSER: Reached(3, 0, 1)}
        assert findings.reached(other.id) == {}


def test_cases_that_show_nothing_add_up(tmp_path: Path) -> None:
    cell, more = Cell("Fetch", 4, "a", "null"), Cell("Fetch", 5, "a", "null")
    stats = Stats()
    stats.as_valid.update({cell: 2, more: 1})
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", {}, 0.0)
        assert findings.as_valid(kept.id) == {}
        kept.reached({FILE: Lines(1, 15)})
        kept.keep(stats, 1, 0)
        kept.keep(stats, 2, 0)
        assert findings.as_valid(kept.id) == {cell: 4, more: 2}
